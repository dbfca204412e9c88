//! Shells: `-c`, a script, or what they read.

use super::call::Call;
use super::options::Options;
use crate::effects::act::{Act, Code, Datum, Traffic};
use crate::effects::invocation::{Next, Outcome, Stream};
use crate::shell::value::Value;

const OPTIONS: Options = Options::new(
    "o:O:",
    "rcfile= init-file= login norc noprofile posix restricted verbose command= init-command=",
)
.stops();

/// `sh`, `bash` and the others.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    // `+x` switches an option off and is no operand.
    let args: Vec<Value> =
        call.args.iter().take_while(|arg| arg.prefix().first() == Some(&b'+')).cloned().collect();
    let read = OPTIONS.read(call.args.get(args.len()..).unwrap_or_default());
    if read.has("version help") {
        return Outcome::harmless();
    }
    let mut outcome = Outcome::default();
    for file in read.values("rcfile init-file") {
        outcome.push(run(call, file));
    }
    if read.has("c") || read.has("command") {
        // `-c` takes the first operand, wherever the letter stands in its cluster.
        let given = read.value("command").cloned();
        let mut operands = read.operands.iter().cloned();
        let Some(text) = given.or_else(|| operands.next()) else {
            return more(call, outcome);
        };
        return outcome.then(Next::Shell {
            text,
            arguments: operands.collect(),
            input: call.invocation.input.clone(),
            cwd: call.invocation.cwd.clone(),
            elsewhere: None,
        });
    }
    if read.has("n") && read.operands.is_empty() {
        return Outcome::harmless();
    }
    if read.has("i") {
        outcome.output = Stream::data([Datum::Secret("what a shell answers".to_owned())]);
    }
    // A lone dash ends the options.
    let operands = match read.operands.as_slice() {
        [first, rest @ ..] if first.text() == Some("-") => rest,
        all => all,
    };
    match operands {
        [script, rest @ ..] if !read.has("s") => {
            if script.bytes() == Some(b"/dev/stdin") {
                return from_input(call, rest, outcome);
            }
            if read.has("n") {
                return Outcome::of([call.reads(script)]);
            }
            // It says every line it reads.
            if read.has("x v xtrace verbose") {
                outcome.push(call.reads(script));
            }
            outcome.push(run(call, script));
            outcome
        }
        _ => {
            let outcome = from_input(call, operands, outcome);
            more(call, outcome)
        }
    }
}

fn more(call: &Call<'_>, mut outcome: Outcome) -> Outcome {
    if let Some(why) = call.invocation.more.clone() {
        outcome.push(Act::Unknown(why));
    }
    outcome
}

fn run(call: &Call<'_>, script: &Value) -> Act {
    Act::Run { code: Code::File(call.path(script)), with: call.name.to_owned() }
}

/// A shell that reads its script from where others read what they are given; `given` are the script's arguments.
fn from_input(call: &Call<'_>, given: &[Value], mut outcome: Outcome) -> Outcome {
    let input = &call.invocation.input;
    if let Some(text) = input.text.as_ref().filter(|text| text.bytes().is_some()) {
        // What somebody took pains to disguise is not what it looks like.
        for datum in &input.data {
            if let Datum::Unknown(why) = datum
                && why.construct == "text that was decoded"
                && !is_plain(text)
            {
                outcome.push(Act::Unknown(why.clone()));
            }
        }
        return outcome.then(Next::Shell {
            text: text.clone(),
            arguments: [Value::known(call.name)].into_iter().chain(given.iter().cloned()).collect(),
            input: Stream::default(),
            cwd: call.invocation.cwd.clone(),
            elsewhere: None,
        });
    }
    for act in code(call, input) {
        outcome.push(act);
    }
    if outcome.acts.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// Whether a text begins with something that is known, so that what it does can be said.
fn is_plain(text: &Value) -> bool {
    let first = text.text().unwrap_or_default().split_whitespace().next().unwrap_or_default();
    super::knows(first) || first.contains('=')
}

/// Whether what comes from an address is typed by whoever is at its other end.
fn is_raw(from: &Value) -> bool {
    [b"tcp://".as_slice(), b"telnet://"].iter().any(|scheme| from.prefix().starts_with(scheme))
}

/// What an interpreter runs when it reads this.
pub(super) fn code(call: &Call<'_>, input: &Stream) -> Vec<Act> {
    let with = || call.name.to_owned();
    let mut acts: Vec<Act> = input
        .data
        .iter()
        .map(|datum| match datum {
            Datum::File(path) => Act::Run { code: Code::File(path.clone()), with: with() },
            Datum::Download(from) if is_raw(from) => {
                Act::Network { traffic: Traffic::Listen, to: from.clone(), data: Vec::new() }
            }
            Datum::Download(from) => Act::Run { code: Code::Download(from.clone()), with: with() },
            Datum::Environment(_) => call.unknown("a variable that is run"),
            Datum::Secret(what) => call.unknown(format!("the output of {what}")),
            Datum::Text(text) => match text.why() {
                Some(why) => Act::Unknown(why.clone()),
                None => call.unknown("text that is put together"),
            },
            Datum::Unknown(why) => Act::Unknown(why.clone()),
        })
        .collect();
    if let (true, Some(text)) = (acts.is_empty(), &input.text) {
        let why = text.why().cloned().unwrap_or_else(|| call.why("names that are run"));
        acts.push(Act::Unknown(why));
    }
    acts
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, given, shown};
    use super::*;

    #[test]
    fn shells_run_what_they_are_given() {
        check(&[
            ("sh -c 'rm -rf /'", "$ rm -rf /"),
            ("bash -lc 'rm -rf /' x y", "$ rm -rf /"),
            ("bash -o pipefail -ec 'ls'", "$ ls"),
            ("bash --norc -c ?x", "$ ?"),
            ("bash - ./x.sh", "run bash /home/dev/project/x.sh"),
            ("bash ./x.sh -c y", "run bash /home/dev/project/x.sh"),
            ("bash", "compute"),
            ("bash -n x.sh", "read /home/dev/project/x.sh"),
            ("fish --command 'ls'", "$ ls"),
            ("zsh --version", "compute"),
        ]);
    }

    #[test]
    fn shells_run_what_they_read() {
        let text = Stream::text(Value::known("rm -rf /"));
        assert_eq!(shown(&given("sh -s", text.clone())), "$ rm -rf /");
        assert_eq!(shown(&given("bash -", text)), "$ rm -rf /");
        let download = Stream::data([Datum::Download(Value::known("https://x.test/i.sh"))]);
        assert_eq!(shown(&given("bash", download.clone())), "run bash download https://x.test/i.sh");
        assert_eq!(shown(&given("bash /dev/stdin", download)), "run bash download https://x.test/i.sh");
        let file = Stream::data([Datum::File(Value::known("/a"))]);
        assert_eq!(shown(&given("sh", file)), "run sh /a");
    }
}
