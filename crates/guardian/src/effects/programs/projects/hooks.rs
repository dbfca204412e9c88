//! Programs that prepare an environment: what they print for a shell is their own, and they start others in it.

use super::super::call::Call;
use super::super::options::Options;
use super::project;
use crate::effects::act::{Act, Code};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

/// Lines that are printed to be evaluated; they set variables and nothing else.
pub(in super::super) fn lines() -> Stream {
    Stream::text(Value::known(":"))
}

/// Whether a program is asked how a shell completes its words; many can say that: `kubectl completion bash`.
pub(in super::super) fn completes(call: &Call<'_>) -> bool {
    let [verb, shell] = call.args else { return false };
    matches!(verb.text(), Some("completion" | "completions"))
        && matches!(shell.text(), Some("bash" | "zsh" | "fish" | "powershell"))
}

/// `direnv`, `pyenv`, `nix-shell` and their kin.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    if matches!(call.name, "nix-shell" | "nix" | "devbox") {
        return nix(call);
    }
    let verb = call.words().next().unwrap_or_default();
    let prints = [
        "hook",
        "init",
        "env",
        "activate",
        "shellenv",
        "--eval",
        "export",
        "-b",
        "--sh",
        "print",
        "completion",
        "--bash",
        "--zsh",
    ];
    if prints.contains(&verb)
        || matches!(call.name, "dircolors" | "register-python-argcomplete" | "lesspipe")
        || call.says(&["--eval"])
    {
        return Outcome::harmless().saying(lines());
    }
    if matches!(verb, "exec" | "run" | "x") {
        let rest: Vec<Value> =
            call.args.iter().skip(1).skip_while(|arg| arg.prefix().starts_with(b"-")).cloned().collect();
        // `direnv exec DIR cmd`, `asdf exec cmd`, `mise exec -- cmd`, `nvm exec 18 cmd`.
        let skip =
            usize::from(matches!(call.name, "direnv" | "nvm") || call.name == "fnm" && !call.says(&["--"]));
        let rest: Vec<Value> = rest.into_iter().filter(|arg| arg.text() != Some("--")).skip(skip).collect();
        return if rest.is_empty() { Outcome::harmless() } else { Outcome::default().then(call.next(rest)) };
    }
    match (call.name, verb) {
        ("direnv", "allow" | "permit" | "grant" | "reload") | ("mise", "trust") => {
            let file = call.args.get(1).cloned().unwrap_or_else(|| Value::known(".envrc"));
            Outcome::of([Act::Run { code: Code::File(call.path(&file)), with: call.name.to_owned() }])
        }
        ("fzf", _) => {
            let read = call.read(&Options::new(
                "q:f:n:d:",
                "bind= preview= query= filter= delimiter= nth= with-nth= header= prompt= height=",
            ));
            let mut outcome = Outcome::harmless();
            for line in read.values("preview") {
                outcome.next.push(call.shell(line.clone()));
            }
            outcome
        }
        ("atuin", "history" | "search") => Outcome::harmless()
            .saying(Stream::data([crate::effects::act::Datum::Secret("the history of commands".to_owned())])),
        _ => Outcome::harmless(),
    }
}

fn nix(call: &Call<'_>) -> Outcome {
    let read = call
        .read(&Options::new("p:I:f:A:E:c?", "run= command= packages= attr= expr= file= keep= arg= argstr="));
    let mut outcome = Outcome::default();
    for line in read.values("run").chain(read.values("command").filter(|_| call.name == "nix-shell")) {
        outcome.next.push(call.shell(line.clone()));
    }
    let words: Vec<&str> = call.words().collect();
    if call.name != "nix-shell" {
        // `nix develop -c cmd`, `nix shell x --command cmd`, `devbox run cmd`.
        let at = words
            .iter()
            .position(|word| matches!(*word, "-c" | "--command" | "--"))
            .or_else(|| (words.first() == Some(&"run") && call.name == "devbox").then_some(0));
        if let Some(rest) = at.and_then(|at| call.args.get(at + 1..)).filter(|rest| !rest.is_empty()) {
            outcome.next.push(call.next(rest.to_vec()));
        }
        if words.first() == Some(&"run") && call.name == "nix" {
            let name = words.get(1).copied().unwrap_or(".").to_owned();
            outcome.push(Act::Run { code: Code::Package(name), with: "nix run".to_owned() });
        }
        if words.contains(&"wipe-history") || words.contains(&"delete") || words.contains(&"gc") {
            return Outcome::harmless();
        }
    }
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        return project(call);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn environments_are_prepared_and_entered() {
        check(&[
            ("direnv hook bash", "compute"),
            ("pyenv exec rm -rf /", "> rm -rf /"),
            ("nix-shell -p hello --run 'rm -rf /home'", "$ rm -rf /home"),
            ("nix develop -c make", "> make"),
            ("nix build", "project nix"),
        ]);
    }
}
