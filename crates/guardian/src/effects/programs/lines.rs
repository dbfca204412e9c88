//! Programs that hand lines to a shell: again and again, under a lock, to measure them, or to write down what they say.

use super::call::{Call, joined};
use super::options::Options;
use crate::effects::act::{Act, Change};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `watch`, `script -c`, `flock`, `hyperfine`: a line for a shell, or words.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    match call.name {
        "watch" | "viddy" | "hwatch" => {
            let read = call.read(
                &Options::new(
                    "n:d?q:",
                    "interval= differences? equexit= exec no-title beep errexit chgexit precise color",
                )
                .stops(),
            );
            let exec = read.has("x exec");
            let next =
                if exec { call.next(read.operands.clone()) } else { call.shell(joined(&read.operands)) };
            Outcome::default().then(next)
        }
        "script" => {
            let read = call.read(&Options::new(
                "c:E:I:O:B:m:o:T:",
                "command= log-in= log-out= log-io= echo= output-limit= timing? log-timing=",
            ));
            let file = read.operands.first().cloned().unwrap_or_else(|| Value::known("typescript"));
            let mut outcome = Outcome::of([call.writes(&file, Change::Replace)]);
            if let Some(line) = read.value("c command") {
                outcome.next.push(call.shell(line.clone()));
            }
            outcome
        }
        "flock" => {
            let read = call.read(
                &Options::new(
                    "c:w:E:",
                    "command= wait= timeout= conflict-exit-code= nonblock exclusive shared",
                )
                .stops(),
            );
            let mut outcome = Outcome::of(read.operands.first().map(|path| call.writes(path, Change::Make)));
            match read.operands.get(1..).unwrap_or_default() {
                [flag, line, ..] if matches!(flag.text(), Some("-c" | "--command")) => {
                    outcome.next.push(call.shell(line.clone()));
                }
                [] => {}
                rest => outcome.next.push(call.next(rest.to_vec())),
            }
            outcome
        }
        "nodemon" | "watchexec" | "reflex" => restarted(call),
        "start-stop-daemon" => daemon(call),
        // Every operand is a line of its own.
        _ => {
            let read = call.read(&Options::new(
                if call.name == "concurrently" { "n:c:l:p:m:" } else { "w:m:M:r:s:p:c:N:u:L:P:D:n:S:" },
                "warmup= min-runs= max-runs= runs= setup= prepare= cleanup= conclude= command-name= export-json= \
                 export-markdown= export-csv= shell= style= parameter-list= parameter-scan= command= ignore-failure \
                 names= prefix-colors= prefix= max-processes= restart-tries= success= default-input-target= timings",
            ));
            let lines = read.operands.iter().chain(read.values("p prepare s setup c cleanup"));
            let mut outcome = Outcome::default();
            outcome
                .next
                .extend(lines.filter(|line| line.text() != Some("rec")).map(|line| call.shell(line.clone())));
            for file in read.values("export-json export-markdown export-csv") {
                outcome.push(call.writes(file, Change::Replace));
            }
            outcome
        }
    }
}

/// A program that goes on in the background, with what stands behind `--`.
fn daemon(call: &Call<'_>) -> Outcome {
    let at = call.args.iter().position(|arg| arg.text() == Some("--")).unwrap_or(call.args.len());
    let (front, rest) = call.args.split_at_checked(at).unwrap_or((call.args, &[]));
    let read = Options::new(
        "x:p:u:c:n:g:r:d:N:P:I:k:a:s:R:",
        "exec= pidfile= user= chuid= name= group= chroot= chdir= nicelevel= startas= signal= retry= umask= \
         start stop background make-pidfile quiet oknodo test status",
    )
    .read(front);
    if read.has("K stop") {
        let who = read.value("n name x exec p pidfile").cloned().unwrap_or_default();
        return Outcome::of([Act::Signal { target: who, own: false }]);
    }
    let Some(program) = read.value("a startas x exec").filter(|_| !read.has("T status")) else {
        return Outcome::harmless();
    };
    let argv = [program.clone()].into_iter().chain(rest.iter().skip(1).cloned()).collect();
    Outcome::default().then(call.next(argv)).rehearsed_if(read.has("t test"))
}

/// Started again at every change; a shell reads the line.
fn restarted(call: &Call<'_>) -> Outcome {
    let read = call.read(
        &Options::new(
            "x:e:w:i:f:s:r:",
            "exec= ext= exts= watch= ignore= filter= shell= signal= regex= delay=",
        )
        .stops(),
    );
    let mut outcome = Outcome::default();
    outcome.next.extend(read.values("x exec").map(|line| call.shell(line.clone())));
    match (call.name, read.operands.as_slice()) {
        ("watchexec" | "reflex", operands @ [_, ..]) => {
            outcome.next.push(call.shell(joined(operands)));
        }
        ("nodemon", [script, ..]) if outcome.next.is_empty() => {
            outcome.next.push(call.next(vec![Value::known("node"), script.clone()]));
        }
        _ => {}
    }
    if outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn what_is_started_again_is_a_line() {
        check(&[
            ("nodemon --exec 'rm -rf /'", "$ rm -rf /"),
            ("watchexec -e rs cargo test", "$ cargo test"),
            ("nodemon src/server.js", "> node src/server.js"),
            ("concurrently -n a,b 'npm run dev' 'rm -rf /'", "$ npm run dev; $ rm -rf /"),
            ("pee 'rm -rf /' cat", "$ rm -rf /; $ cat"),
            ("start-stop-daemon --start --exec /bin/rm -- -rf /", "> /bin/rm -rf /"),
        ]);
    }
}
