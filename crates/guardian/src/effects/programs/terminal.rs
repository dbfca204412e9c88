//! Terminals and pagers: what is typed into them is run.

use super::call::{Call, joined};
use super::options::Options;
use crate::effects::act::{Act, Change};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `tmux`, `screen`, `expect`, `man`, and others that start what they are told.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    match call.name {
        "tmux" => tmux(call),
        "screen" => screen(call),
        "zellij" | "wezterm" | "kitty" | "alacritty" | "xterm" | "gnome-terminal" | "konsole" | "foot"
        | "st" => emulator(call),
        "expect" => expect(call),
        "man" | "info" | "whatis" => man(call),
        "gio" | "kioclient" | "kioclient5" | "trash-rm" | "trash-empty" => trash(call),
        "xdotool" | "ydotool" | "wtype" => typed(call),
        "apt-ftparchive" => Outcome::harmless(),
        _ => Outcome::harmless(),
    }
}

fn tmux(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("c:f:L:S:T:", "").stops());
    let Some((verb, rest)) = read.operands.split_first() else { return Outcome::harmless() };
    let inner = Options::new("c:e:F:n:s:t:x:y:l:b:p?", "").stops().read(rest);
    match verb.text().unwrap_or_default() {
        "new-session" | "new" | "new-window" | "neww" | "split-window" | "splitw" | "respawn-pane"
        | "respawn-window" | "run-shell" | "run" | "if-shell" | "if" | "pipe-pane" | "display-popup"
        | "popup" => {
            if inner.operands.is_empty() {
                return Outcome::harmless();
            }
            let line = if inner.operands.len() == 1 || verb.text() == Some("if-shell") {
                inner.operands.first().cloned().unwrap_or_default()
            } else {
                joined(&inner.operands)
            };
            let mut outcome = Outcome::default().then(call.shell(line));
            if matches!(verb.text(), Some("if-shell" | "if")) {
                for then in inner.operands.iter().skip(1) {
                    outcome.next.push(
                        call.next(vec![Value::known("tmux")].into_iter().chain([then.clone()]).collect()),
                    );
                }
            }
            outcome
        }
        "send-keys" | "send" => {
            let keys: Vec<Value> = inner
                .operands
                .iter()
                .filter(|key| {
                    !matches!(key.text(), Some("Enter" | "C-m" | "C-c" | "C-d" | "Space" | "Escape"))
                })
                .cloned()
                .collect();
            if keys.is_empty() {
                Outcome::harmless()
            } else {
                Outcome::default().then(call.shell(joined(&keys)))
            }
        }
        "source-file" | "source" => Outcome::of(inner.operands.iter().map(|file| Act::Run {
            code: crate::effects::act::Code::File(call.path(file)),
            with: "tmux".to_owned(),
        })),
        "set-hook" => inner
            .operands
            .get(1)
            .map_or_else(Outcome::harmless, |line| Outcome::default().then(call.shell(line.clone()))),
        _ => Outcome::harmless(),
    }
}

fn screen(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("c:e:h:p:s:S:t:T:X?", "").stops());
    if call.says(&["-X"]) {
        let at = call.words().position(|word| word == "stuff");
        let text = at.and_then(|at| call.args.get(at + 1)).cloned();
        return text.map_or_else(Outcome::harmless, |text| Outcome::default().then(call.shell(text)));
    }
    if read.operands.is_empty() || call.says(&["-ls", "-list", "-r", "-wipe"]) {
        return Outcome::harmless();
    }
    Outcome::default().then(call.next(read.operands))
}

/// A window with a program in it.
fn emulator(call: &Call<'_>) -> Outcome {
    let at = call.words().position(|word| matches!(word, "-e" | "--" | "-x" | "start" | "run" | "--command"));
    let rest: Vec<Value> = at.and_then(|at| call.args.get(at + 1..)).unwrap_or_default().to_vec();
    match rest.as_slice() {
        [] => Outcome::harmless(),
        [line] => Outcome::default().then(call.shell(line.clone())),
        _ => {
            let words: Vec<Value> = rest.iter().filter(|arg| arg.text() != Some("--")).cloned().collect();
            Outcome::default().then(call.next(words))
        }
    }
}

/// `expect`: programs it starts and lines it types.
fn expect(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("c:f:", ""));
    let mut outcome = Outcome::default();
    let mut texts: Vec<Value> = read.values("c").cloned().collect();
    texts.extend(call.invocation.input.text.clone());
    for text in &texts {
        let Some(text) = text.text() else {
            outcome.push(call.unknown("a script for expect"));
            continue;
        };
        for part in text.split([';', '\n']) {
            let part = part.trim();
            let line = ["spawn ", "exec ", "system "].iter().find_map(|word| part.strip_prefix(word));
            if let Some(line) = line {
                outcome.next.push(call.shell(Value::known(line)));
            }
        }
    }
    for file in read.values("f").chain(read.operands.first().filter(|_| texts.is_empty())) {
        outcome.push(Act::Run {
            code: crate::effects::act::Code::File(call.path(file)),
            with: "expect".to_owned(),
        });
    }
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// `man`: the pager it starts.
fn man(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("P:H?M:S:s:L:m:e:C:", "pager= html? manpath= config-file="));
    let mut outcome = Outcome::harmless();
    for line in read.values("P pager H html") {
        outcome.next.push(call.shell(line.clone()));
    }
    for (name, value) in &call.invocation.environment {
        if matches!(name.as_slice(), b"PAGER" | b"MANPAGER" | b"BROWSER" | b"LESSOPEN") {
            outcome.next.push(call.shell(value.clone()));
        }
    }
    outcome
}

fn trash(call: &Call<'_>) -> Outcome {
    let words: Vec<Value> = call.args.iter().filter(|arg| !arg.prefix().starts_with(b"-")).cloned().collect();
    // What was thrown away until now could still be had back.
    let empties = matches!(call.name, "trash-empty" | "trash-rm")
        || call.says(&["--empty", "empty-trash", "emptyTrash"]) && !call.says(&["--dry-run"]);
    if empties {
        let filtered = !matches!(call.args, []) && call.name != "gio";
        let path = call.at_home(".local/share/Trash");
        return Outcome::of([Act::Delete { path, deep: true, filtered }])
            .rehearsed_if(call.says(&["--dry-run"]));
    }
    let Some((verb, paths)) = words.split_first() else { return Outcome::harmless() };
    match verb.text().unwrap_or_default() {
        "trash" | "remove" | "rm" => Outcome::of(paths.iter().map(|path| call.deletes(path, true))),
        "move" | "copy" => {
            Outcome::of(paths.iter().rev().take(1).map(|path| call.writes(path, Change::Replace)))
        }
        "cat" => Outcome::of(paths.iter().map(|path| call.reads(path))),
        _ => Outcome::harmless(),
    }
}

/// Keys pressed for the user, wherever the cursor is.
fn typed(call: &Call<'_>) -> Outcome {
    if call.says(&["type", "key"]) || call.name == "wtype" {
        return Outcome::of([call.unknown("keys typed into another window")]);
    }
    Outcome::harmless()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn what_is_typed_is_run() {
        check(&[
            ("tmux new-session -d 'rm -rf ~'", "$ rm -rf ~"),
            ("tmux new -d -s dev 'npm run dev'", "$ npm run dev"),
            ("tmux send-keys -t 0 'rm -rf /' Enter", "$ rm -rf /"),
            ("tmux ls", "compute"),
            ("screen -dmS x rm -rf /", "> rm -rf /"),
            ("screen -ls", "compute"),
            ("expect -c 'spawn rm -rf /'", "$ rm -rf /"),
            ("man ls", "compute"),
            ("man -P 'rm -rf /' ls", "compute; $ rm -rf /"),
            ("gio trash ~/Documents", "delete/ /home/dev/Documents"),
            ("gio trash --empty", "delete/ /home/dev/.local/share/Trash"),
            ("trash-empty 30", "delete/% /home/dev/.local/share/Trash"),
            ("gio list", "compute"),
        ]);
    }
}
