//! `make` and others that do what a file of the project says.

use super::super::call::Call;
use super::super::options::{Options, split};
use super::super::shells;
use super::project;
use crate::effects::act::{Act, Change, Code, Effort};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `make`, `cmake`, `ninja`, `just` and their kin.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    match call.name {
        "make" | "gmake" | "bmake" => make(call),
        "cmake" => cmake(call),
        "pre-commit" => project(call),
        "tox" if call.says(&["exec"]) => {
            let rest = call.args.iter().skip_while(|arg| arg.text() != Some("--")).skip(1);
            let rest: Vec<Value> = rest.cloned().collect();
            if rest.is_empty() { project(call) } else { project(call).then(call.next(rest)) }
        }
        "just" if call.says(&["--command", "-c"]) => {
            let words =
                call.args.iter().skip_while(|arg| !matches!(arg.text(), Some("--command" | "-c"))).skip(1);
            project(call).then(call.next(words.cloned().collect()))
        }
        "just" => {
            let read = call.read(&JUST);
            let mut outcome = project(call);
            outcome.acts.extend(read.values("f justfile").map(|file| {
                let code = Code::File(call.path(file));
                (Act::Run { code, with: call.name.to_owned() }, Effort::Done)
            }));
            outcome
        }
        _ => project(call),
    }
}

const JUST: Options =
    Options::new("f:d:", "justfile= working-directory= set= shell= color= dump list summary");

const MAKE: Options = Options::new(
    "C:f:I:j?l?o:W:O?E:",
    "directory= file= makefile= include-dir= jobs? load-average? old-file= what-if= new-file= eval= output-sync? \
     dry-run just-print recon question touch silent keep-going",
);

fn make(call: &Call<'_>) -> Outcome {
    let read = call.read(&MAKE);
    let mut outcome = project(call);
    let installs = read.operands.iter().any(|target| {
        target.text().is_some_and(|target| target.starts_with("install") || target.starts_with("uninstall"))
    });
    for (name, value) in read.operands.iter().filter_map(|operand| split(operand, b'=')) {
        let name = name.trim_end_matches([':', '?', '+']);
        match name {
            // What reads every line of every rule.
            "SHELL" if !is_shell(&value) => outcome.next.push(call.shell(value)),
            "DESTDIR" | "prefix" | "PREFIX" if installs && is_system(call, &value) => {
                outcome.push(call.fills(&value));
            }
            "DESTDIR" | "prefix" | "PREFIX" => outcome.push(Act::Look { path: call.path(&value) }),
            _ => {}
        }
    }
    for directory in read.values("C directory") {
        let makefile = Value::known("Makefile");
        outcome.push(Act::Run {
            code: Code::File(call.inside(directory, &makefile)),
            with: call.name.to_owned(),
        });
    }
    for text in read.values("E eval") {
        rules(call, text, &mut outcome);
    }
    let is_staged = read
        .operands
        .iter()
        .filter_map(|operand| split(operand, b'='))
        .any(|(name, _)| matches!(name.as_str(), "DESTDIR" | "prefix" | "PREFIX"));
    if installs && !is_staged && read.operands.iter().any(|target| target.text() == Some("uninstall")) {
        outcome.push(Act::Package {
            manager: "make".to_owned(),
            operation: "remove".to_owned(),
            names: Vec::new(),
            global: true,
            from: None,
        });
    }
    for file in read.values("f file makefile") {
        match file.text() {
            Some("-" | "/dev/stdin") => {
                if let Some(text) = call.invocation.input.text.clone() {
                    rules(call, &text, &mut outcome);
                } else {
                    outcome.acts.extend(
                        shells::code(call, &call.invocation.input).into_iter().map(|act| (act, Effort::Done)),
                    );
                }
            }
            _ => outcome.push(Act::Run { code: Code::File(call.path(file)), with: call.name.to_owned() }),
        }
    }
    outcome.rehearsed_if(read.has("n dry-run just-print recon q question"))
}

/// Whether a prefix is where the system keeps its programs.
fn is_system(call: &Call<'_>, prefix: &Value) -> bool {
    let path = call.path(prefix);
    let is_below = |place: &[u8]| path.prefix().starts_with(place);
    path.bytes() == Some(b"/") || is_below(b"/usr") || is_below(b"/opt") || is_below(b"/etc")
}

fn is_shell(value: &Value) -> bool {
    value.text().is_some_and(|text| {
        let base = text.rsplit('/').next().unwrap_or(text);
        matches!(base, "sh" | "bash" | "dash" | "zsh" | "ksh")
    })
}

/// Rules in a makefile that is known: every line behind a tab, and what `$(shell …)` says.
fn rules(call: &Call<'_>, text: &Value, outcome: &mut Outcome) {
    let Some(text) = text.text() else {
        outcome.push(call.unknown("a makefile that is not known"));
        return;
    };
    for line in text.lines() {
        let recipe = line
            .strip_prefix('\t')
            .or_else(|| line.split_once(':').and_then(|(_, rest)| Some(rest.split_once(';')?.1)));
        if let Some(recipe) = recipe {
            let recipe = recipe.trim_start_matches(['@', '-', '+', ' ']).replace("$$", "$");
            outcome.next.push(call.shell(Value::known(recipe)));
        }
        if let Some((_, rest)) = line.split_once("$(shell ") {
            outcome.next.push(call.shell(Value::known(rest.trim_end_matches(')'))));
        }
    }
}

fn cmake(call: &Call<'_>) -> Outcome {
    let at = call.words().position(|word| word == "-E");
    let Some(at) = at else {
        if let Some(script) = Options::new("P:S:B:D:G:", "prefix= build= install=").read(call.args).value("P")
        {
            return Outcome::of([Act::Run { code: Code::File(call.path(script)), with: "cmake".to_owned() }]);
        }
        let read = Options::new("", "install= prefix= config= component= strip").read(call.args);
        let mut outcome = project(call);
        let prefix = read.value("prefix").filter(|prefix| read.has("install") && is_system(call, prefix));
        if let Some(prefix) = prefix {
            outcome.push(call.fills(prefix));
        }
        return outcome;
    };
    // `cmake -E` is a set of small programs.
    let rest = call.args.get(at + 1..).unwrap_or_default();
    let Some((verb, paths)) = rest.split_first() else { return Outcome::harmless() };
    let plain: Vec<Value> = paths.iter().filter(|arg| !arg.prefix().starts_with(b"-")).cloned().collect();
    match verb.text().unwrap_or_default() {
        "rm" | "remove" | "remove_directory" => {
            Outcome::of(plain.iter().map(|path| call.deletes(path, true)))
        }
        "copy" | "copy_directory" | "rename" | "copy_if_different" => {
            let argv = [Value::known(if verb.text() == Some("rename") { "mv" } else { "cp" })];
            Outcome::default().then(call.next(argv.into_iter().chain(plain).collect()))
        }
        "touch" | "make_directory" => Outcome::of(plain.iter().map(|path| call.writes(path, Change::Make))),
        "cat" => Outcome::of(plain.iter().map(|path| call.reads(path))),
        "env" | "time" | "chdir" => {
            let words = paths
                .iter()
                .skip(usize::from(verb.text() == Some("chdir")))
                .filter(|arg| !arg.prefix().contains(&b'='))
                .cloned();
            Outcome::default().then(call.next(words.collect()))
        }
        _ => Outcome::harmless(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{check, given, shown};
    use super::*;
    use crate::effects::invocation::Stream;

    #[test]
    fn builds_do_what_the_project_says() {
        check(&[
            ("make -j8 test", "project make"),
            ("make -C / clean", "project make; run make /Makefile"),
            ("make SHELL='rm -rf /' all", "project make; $ rm -rf /"),
            ("make install DESTDIR=./stage", "project make; look /home/dev/project/stage"),
            ("cmake -S . -B build", "project cmake"),
            ("cmake -E rm -rf /etc", "delete/ /etc"),
            ("just test", "project just"),
        ]);
        let text = Stream::text(Value::known("all:\n\t@rm -rf /\n"));
        assert_eq!(shown(&given("make -f -", text)), "project make; $ rm -rf /");
    }
}
