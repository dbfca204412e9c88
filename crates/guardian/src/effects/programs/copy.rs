//! What copies, moves and links: `cp`, `mv`, `install`, `ln`, `dd`, `tee`, and what makes files and directories.

use super::call::{Call, is_device, write};
use super::options::{Options, Read, split};
use crate::effects::act::{Act, Change, Datum, Power};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::{Piece, Value};

const COPY: Options = Options::new(
    "t:S:m:o:g:",
    "target-directory= suffix= mode= owner= group= archive recursive backup? preserve? no-preserve= reflink? \
     sparse= no-target-directory directory parents force no-clobber update? verbose symbolic link help version",
);
const MAKE: Options = Options::new(
    "m:d:t:r:",
    "mode= date= reference= time= parents verbose context? no-create no-dereference help version",
);

/// `cp`, `mv`, `install`, `ln`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&COPY);
    if read.has("help version") {
        return Outcome::harmless();
    }
    let mut targets = call.targets(&read);
    if call.name == "install" && read.has("d directory") {
        return Outcome::of(targets.iter().map(|path| call.writes(path, Change::Make)));
    }
    let given = read.value("t target-directory").cloned();
    let into = given.is_some();
    let Some(last) = given.or_else(|| if targets.len() > 1 { targets.pop() } else { None }) else {
        // `ln -s target` makes a link here.
        let here = Value::known(".");
        return Outcome::of(targets.iter().flat_map(|source| place(call, &read, source, &here, true)));
    };
    let into = into || targets.len() > 1 || !read.has("T no-target-directory") && call.is_directory(&last);
    let mut outcome = Outcome::of(targets.iter().flat_map(|source| place(call, &read, source, &last, into)));
    let mode = read.value("m mode").filter(|_| call.name == "install");
    if let Some(to) = mode.or_else(|| read.value("o owner").filter(|_| call.name == "install")) {
        outcome.push(Act::Permit { path: call.path(&last), deep: false, to: to.clone() });
    }
    outcome
}

fn place(call: &Call<'_>, read: &Read, source: &Value, last: &Value, into: bool) -> Vec<Act> {
    let to = match read.has("parents") {
        true => call.path(&below(last, source)),
        false if into => call.inside(last, source),
        false => call.path(last),
    };
    let change = match (call.name, source.text()) {
        ("cp", Some("/dev/null")) => Change::Empty,
        ("ln", _) if !read.has("f force") => Change::Make,
        ("cp", _) if is_template(source, last) => Change::Make,
        _ => Change::Replace,
    };
    let first = match call.name {
        "mv" => call.deletes(source, true),
        // A link can be read in place of what it leads to.
        "ln" => Act::Read { path: call.context.resolve(source, &parent(&to)), deep: false },
        _ => Act::Read { path: call.path(source), deep: read.has("r R a recursive archive") },
    };
    // Directories are made on the way, and what was there is kept under a name beside it.
    let makes = read.has("parents") || call.name == "install" && read.has("D");
    let keeps = read.has("b backup S suffix");
    // What is moved can be read where it is then.
    let read = (call.name == "mv").then(|| Act::Read { path: call.path(source), deep: false });
    let mut acts = vec![first, write(to.clone(), change, None)];
    if makes {
        acts.push(write(call.path(&parent(&to)), Change::Make, None));
    }
    if keeps {
        let mut backup = to;
        backup.push(Piece::Glob(b"*".to_vec()));
        acts.push(write(backup, Change::Replace, None));
    }
    acts.into_iter().chain(read).collect()
}

/// Whether a file is made of the example that lies beside it: `cp .env.example .env`.
fn is_template(source: &Value, target: &Value) -> bool {
    let (Some(source), Some(target)) = (source.text(), target.text()) else { return false };
    let ending = source.strip_prefix(target).and_then(|rest| rest.strip_prefix(['.', '-', '_']));
    ending.is_some_and(|ending| {
        matches!(ending, "example" | "sample" | "template" | "dist" | "default" | "defaults")
    })
}

/// A path with all its directories under another.
fn below(directory: &Value, source: &Value) -> Value {
    let mut path = directory.clone();
    path.push(Piece::Known(b"/".to_vec()));
    path.append(source.clone());
    path
}

fn parent(path: &Value) -> Value {
    let mut up = path.clone();
    up.push(Piece::Known(b"/..".to_vec()));
    up
}

/// `dd`.
pub(super) fn dd(call: &Call<'_>) -> Outcome {
    let mut outcome = Outcome::default();
    let mut data = call.invocation.input.clone();
    let mut writes = false;
    for arg in call.args {
        match split(arg, b'=') {
            Some((name, path)) if name == "if" => {
                outcome.push(call.reads(&path));
                data = Stream::data([Datum::File(call.path(&path))]);
            }
            Some((name, path)) if name == "of" => {
                outcome.push(call.writes(&path, Change::Replace));
                writes = true;
            }
            Some(_) => {}
            // `ddrescue from to map`.
            None if call.name == "ddrescue" && is_device(&call.path(arg)) => {
                outcome.push(Act::Disk { device: call.path(arg) });
                writes = true;
            }
            None if arg.why().is_some() => outcome.push(call.unknown("an operand of dd")),
            None => {}
        }
    }
    // Zeroes without an end into a file end with the disk.
    let says = |name: &str| call.words().any(|word| word.starts_with(name));
    let endless = says("if=/dev/zero") || says("if=/dev/urandom") || says("if=/dev/random");
    let is_file = |act: &Act| matches!(act, Act::Write { path, .. } if !path.prefix().starts_with(b"/dev/"));
    let is_counted = says("count=") || call.args.iter().any(|arg| arg.why().is_some());
    if endless && !is_counted && call.name == "dd" && outcome.acts.iter().any(|(act, _)| is_file(act)) {
        outcome.push(Act::Power(Power::Exhaust));
    }
    if outcome.acts.is_empty() {
        outcome.push(Act::Compute);
    }
    if writes { outcome } else { outcome.saying(data) }
}

/// `tee` and `sponge`.
pub(super) fn tee(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("", "append ignore-interrupts output-error? help version"));
    let change = if read.has("a append") { Change::Append } else { Change::Replace };
    let content = call.invocation.input.text.clone();
    let targets = call.targets(&read);
    let mut outcome = Outcome::of(targets.iter().map(|path| write(call.path(path), change, content.clone())));
    if outcome.acts.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome.saying(call.invocation.input.clone())
}

/// `touch`, `mkdir`, `mkfifo`.
pub(super) fn make(call: &Call<'_>) -> Outcome {
    let read = call.read(&MAKE);
    if read.has("help version") {
        return Outcome::harmless();
    }
    let mut outcome = Outcome::of(call.targets(&read).iter().map(|path| call.writes(path, Change::Make)));
    if call.name == "mkdir"
        && let (Some(to), Some(path)) = (read.value("m mode"), read.operands.first())
    {
        outcome.push(Act::Permit { path: call.path(path), deep: false, to: to.clone() });
    }
    outcome
}

/// `mktemp`: what it says is a path in the temporary directory, and that much is known.
pub(super) fn mktemp(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("p:", "tmpdir? suffix= directory dry-run quiet"));
    let template = read.operands.first().cloned().unwrap_or_else(|| Value::known("tmp.XXXXXXXXXX"));
    let given = read.value("p tmpdir").cloned();
    let in_temporary = read.operands.is_empty() || read.has("t tmpdir p");
    let mut name = given.or_else(|| in_temporary.then(|| Value::known("/tmp"))).unwrap_or_default();
    if template.prefix().starts_with(b"/") {
        name = Value::default();
    } else if !name.pieces.is_empty() {
        name.push(Piece::Known(b"/".to_vec()));
    }
    let Some(template) = drawn(template) else { return Outcome::harmless() };
    name.append(template);
    let act = Act::Write { path: call.path(&name), change: Change::Make, content: None };
    Outcome::of([act]).saying(Stream::text(name))
}

/// A template with whatever will stand for its last run of `X`; none where that is too short, for then nothing is made.
fn drawn(template: Value) -> Option<Value> {
    let mut drawn = Value::default();
    let last = template
        .pieces
        .iter()
        .rposition(|piece| matches!(piece, Piece::Known(bytes) if bytes.contains(&b'X')));
    for (place, piece) in template.pieces.into_iter().enumerate() {
        match piece {
            Piece::Known(bytes) if Some(place) == last => {
                let end = bytes.iter().rposition(|byte| *byte == b'X').map_or(0, |at| at + 1);
                let (head, tail) = bytes.split_at(end);
                let start = head.iter().rposition(|byte| *byte != b'X').map_or(0, |at| at + 1);
                if end - start < 3 {
                    return None;
                }
                drawn.push(Piece::Known(head.get(..start).unwrap_or_default().to_vec()));
                drawn.push(Piece::Glob(vec![b'?'; end - start]));
                drawn.push(Piece::Known(tail.to_vec()));
            }
            other => drawn.push(other),
        }
    }
    let is_known = drawn.why().is_none() && !drawn.has_glob();
    (!is_known).then_some(drawn)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, run};

    #[test]
    fn copies_and_moves_name_both_ends() {
        check(&[
            ("cp a b", "read /home/dev/project/a; write:Replace /home/dev/project/b"),
            ("cp -r a ~/", "read/ /home/dev/project/a; write:Replace /home/dev/a"),
            (
                "cp -t /etc a b",
                "read /home/dev/project/a; write:Replace /etc/a; read /home/dev/project/b; write:Replace /etc/b",
            ),
            ("cp /dev/null log", "read /dev/null; write:Empty /home/dev/project/log"),
            ("mv / /dev/null", "delete/ /; write:Replace /dev/null; read /"),
            ("ln -s /etc/passwd x", "read /etc/passwd; write:Make /home/dev/project/x"),
            ("ln -s ../.env sub/", "read /home/dev/project/.env; write:Make /home/dev/project/sub/.env"),
            ("install -d /opt/x", "write:Make /opt/x"),
            (
                "install -m 4755 a /usr/bin/b",
                "read /home/dev/project/a; write:Replace /usr/bin/b; permit /usr/bin/b 4755",
            ),
            ("dd if=/dev/zero of=/dev/sda bs=1M", "read /dev/zero; disk /dev/sda"),
            ("tee -a x", "write:Append /home/dev/project/x"),
            ("mkdir -p a/b", "write:Make /home/dev/project/a/b"),
            ("touch a", "write:Make /home/dev/project/a"),
        ]);
    }

    #[test]
    fn a_temporary_name_is_known_by_its_place() {
        let said = |line: &str| format!("{:?}", run(line).output.text.unwrap());
        assert!(said("mktemp -d").contains("Glob"), "{}", said("mktemp -d"));
        check(&[
            ("mktemp -d", "write:Make /tmp/tmp.[??????????]"),
            ("mktemp /tmp/x.XXXX.txt", "write:Make /tmp/x.[????].txt"),
            ("mktemp -p /var/tmp aXXX", "write:Make /var/tmp/a[???]"),
            ("mktemp .", "compute"),
        ]);
    }
}
