//! `find` and `fd`: what they name, what they remove, what they start.

use super::call::{Call, joined};
use super::options::Options;
use crate::effects::act::{Act, Change, Effort};
use crate::effects::invocation::{Next, Outcome, Stream};
use crate::shell::value::{Piece, Value};

/// Tests that let only some through, and how many values they take.
const TESTS: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
    "-lname",
    "-ilname",
    "-mtime",
    "-ctime",
    "-atime",
    "-mmin",
    "-cmin",
    "-amin",
    "-newer",
    "-anewer",
    "-cnewer",
    "-size",
    "-user",
    "-group",
    "-uid",
    "-gid",
    "-perm",
    "-links",
    "-inum",
    "-samefile",
    "-fstype",
    "-newermt",
    "-newerct",
    "-newerat",
    "-used",
    "-xtype",
    "-context",
];
/// Others that take one value.
const VALUES: &[&str] = &["-type", "-maxdepth", "-mindepth", "-regextype", "-files0-from"];

/// What an expression comes to.
#[derive(Default)]
struct Expression {
    filtered: bool,
    /// Of each alternative the name that is looked for; a star where it may be any.
    names: Vec<Value>,
    deletes: bool,
    commands: Vec<(Vec<Value>, bool)>,
    writes: Vec<Value>,
    reads: Vec<Value>,
    /// `-print`: names are said although something else is done.
    prints: bool,
    /// `-print0`: what ends each of them.
    zeros: bool,
}

/// What stands between two `-o`.
#[derive(Default)]
struct Alternative {
    name: Option<Value>,
    tests: bool,
    prunes: bool,
    acts: bool,
}

impl Alternative {
    /// Puts what it looks for beside what the others do; what it cuts off is not looked for.
    fn end(self, names: &mut Vec<Value>) {
        match self.name {
            _ if self.prunes && !self.acts => {}
            Some(name) => names.push(name),
            None if self.tests => names.push(Value::known("*")),
            None => {}
        }
    }
}

/// `find`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let mut args = call.args;
    while let [first, rest @ ..] = args {
        match first.text() {
            Some("-H" | "-L" | "-P") => args = rest,
            Some("-D") => args = rest.get(1..).unwrap_or_default(),
            Some(option) if option.starts_with("-O") => args = rest,
            _ => break,
        }
    }
    let count = args
        .iter()
        .take_while(|arg| {
            !arg.prefix().starts_with(b"-") && !matches!(arg.text(), Some("(" | ")" | "!" | ","))
        })
        .count();
    let mut starts: Vec<Value> = args.iter().take(count).map(|path| call.path(path)).collect();
    let expression = expression(args.get(count..).unwrap_or_default());
    if let Some(why) = &call.invocation.more {
        starts.push(Value::unknown(why.clone()));
    }
    if starts.is_empty() {
        starts.push(call.path(&Value::known(".")));
    }
    act(call, &starts, &expression)
}

fn expression(args: &[Value]) -> Expression {
    let mut found = Expression::default();
    let mut one = Alternative::default();
    let mut not = false;
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.text().unwrap_or_default() {
            "-delete" => (found.deletes, one.acts) = (true, true),
            test @ ("-exec" | "-execdir" | "-ok" | "-okdir") => {
                let mut words = Vec::new();
                one.acts = true;
                for word in args.by_ref() {
                    let ends = word.text() == Some(";")
                        || word.text() == Some("+")
                            && words.last().is_some_and(|last: &Value| last.text() == Some("{}"));
                    if ends {
                        break;
                    }
                    words.push(word.clone());
                }
                // What is asked of each before anything is done to it: `! -exec test -e {} ;`.
                let asks = matches!(words.first().and_then(Value::text), Some("test" | "[" | "grep" | "cmp"));
                found.filtered |= asks;
                one.tests |= asks;
                found.commands.push((words, test.ends_with("dir")));
            }
            "-fprint" | "-fprint0" | "-fls" => found.writes.extend(args.next().cloned()),
            "-fprintf" => {
                found.writes.extend(args.next().cloned());
                args.next();
            }
            "-empty" => found.filtered = true,
            "-print" | "-print0" | "-ls" | "-printf" => {
                (found.prints, one.acts) = (true, true);
                found.zeros |= arg.text() == Some("-print0");
                if arg.text() == Some("-printf") {
                    args.next();
                }
            }
            "!" | "-not" => not = true,
            "-o" | "-or" | "," => std::mem::take(&mut one).end(&mut found.names),
            "-prune" => one.prunes = true,
            test @ ("-name" | "-iname" | "-path" | "-ipath" | "-wholename") => {
                let pattern = args.next().cloned().unwrap_or_default();
                let all = matches!(pattern.text(), Some("*" | "*.*" | ".*"));
                // All but some of it is nearly all of it.
                let but = std::mem::take(&mut not);
                found.filtered |= !all && !but;
                one.tests |= !but;
                if !but && !all && test.ends_with("name") && !test.contains("whole") {
                    one.name.get_or_insert(pattern);
                }
            }
            test if TESTS.contains(&test) => {
                found.filtered = true;
                one.tests = true;
                if test == "-newer" || test == "-samefile" {
                    found.reads.extend(args.next().cloned());
                } else {
                    args.next();
                }
            }
            test if VALUES.contains(&test) => {
                let value = args.next().and_then(Value::text).unwrap_or_default();
                // Files and directories are nearly all there is.
                if test == "-type" && !value.contains(['f', 'd']) {
                    found.filtered = true;
                    one.tests = true;
                }
            }
            _ => {}
        }
    }
    one.end(&mut found.names);
    found
}

/// What stands for every path found below a start.
fn below(start: &Value, expression: &Expression) -> Vec<Value> {
    if !expression.filtered {
        return vec![start.clone()];
    }
    let star = [Value::known("*")];
    let names = if expression.names.is_empty() { star.as_slice() } else { &expression.names };
    names.iter().map(|name| named(start, name)).collect()
}

fn named(start: &Value, name: &Value) -> Value {
    let mut path = start.clone();
    path.push(Piece::Known(b"/".to_vec()));
    match name.bytes() {
        Some(bytes) if !bytes.iter().any(|byte| b"*?[\\".contains(byte)) => {
            path.push(Piece::Known(bytes.to_vec()));
        }
        Some(bytes) => path.push(Piece::Glob(bytes.to_vec())),
        None => path.push(Piece::Glob(b"*".to_vec())),
    }
    path
}

/// All that lies below a start.
fn inside(start: &Value) -> Value {
    let mut path = start.clone();
    path.push(Piece::Known(b"/".to_vec()));
    path.push(Piece::Glob(b"**".to_vec()));
    path
}

fn act(call: &Call<'_>, starts: &[Value], expression: &Expression) -> Outcome {
    let mut outcome = Outcome::default();
    for start in starts {
        if expression.deletes {
            let (deep, filtered) = (true, expression.filtered);
            // Among temporary files of everybody, those of a name are one's own.
            let is_named = filtered
                && !expression.names.is_empty()
                && expression
                    .names
                    .iter()
                    .all(|name| name.prefix().len() > 2 && !name.prefix().starts_with(b"*"));
            if is_named && matches!(start.bytes(), Some(b"/tmp" | b"/var/tmp" | b"/dev/shm")) {
                let found = expression.names.iter().map(|name| named(start, name));
                outcome.acts.extend(found.map(|path| (Act::Delete { path, deep, filtered }, Effort::Done)));
                continue;
            }
            outcome.push(Act::Delete { path: start.clone(), deep, filtered });
        } else {
            outcome.push(Act::Look { path: start.clone() });
        }
    }
    for path in &expression.writes {
        outcome.push(call.writes(path, Change::Replace));
    }
    for (words, in_directory) in &expression.commands {
        // File by file, all of it.
        let removes = words.first().and_then(Value::text).is_some_and(|program| {
            matches!(program.rsplit('/').next(), Some("rm" | "unlink" | "shred" | "srm"))
        });
        if removes && !expression.filtered {
            let whole = |path: &Value| Act::Delete { path: path.clone(), deep: true, filtered: false };
            outcome.acts.extend(starts.iter().map(|path| (whole(path), Effort::Done)));
        }
        for start in starts {
            let inside = inside(start);
            let mut all: Vec<Value> = below(start, expression).iter().map(|path| call.path(path)).collect();
            if !expression.filtered {
                all.push(inside.clone());
            }
            for path in all {
                let argv: Vec<Value> = words.iter().map(|word| replaced(word, b"{}", &path)).collect();
                let places = if *in_directory { vec![Some(start), Some(&inside)] } else { vec![None] };
                for place in places {
                    let mut next = call.next(argv.clone());
                    if let (Some(place), Next::Program { invocation, .. }) = (place, &mut next) {
                        invocation.cwd.clone_from(place);
                    }
                    outcome.next.push(next);
                }
            }
        }
    }
    // Whoever is told to do something else says no names.
    let is_quiet = expression.deletes || !expression.commands.is_empty() || !expression.writes.is_empty();
    if is_quiet && !expression.prints {
        return outcome;
    }
    let mut lines: Vec<Value> = starts.iter().flat_map(|start| below(start, expression)).collect();
    if !expression.filtered {
        lines.extend(starts.iter().map(inside));
    }
    let mut text = Value::default();
    for (place, line) in lines.iter().enumerate() {
        if place > 0 {
            text.push(Piece::Known(if expression.zeros { b"\0" } else { b"\n" }.to_vec()));
        }
        text.pieces.extend(line.pieces.iter().cloned());
    }
    outcome.saying(Stream::text(text))
}

/// A word with every place holder replaced.
pub(super) fn replaced(word: &Value, holder: &[u8], with: &Value) -> Value {
    let mut whole = Value::default();
    for piece in &word.pieces {
        let Piece::Known(bytes) = piece else {
            whole.push(piece.clone());
            continue;
        };
        let mut rest = bytes.as_slice();
        while let Some(place) = rest.windows(holder.len()).position(|window| window == holder) {
            whole.push(Piece::Known(rest.get(..place).unwrap_or_default().to_vec()));
            for piece in &with.pieces {
                whole.push(piece.clone());
            }
            rest = rest.get(place + holder.len()..).unwrap_or_default();
        }
        whole.push(Piece::Known(rest.to_vec()));
    }
    whole
}

/// `fd`.
pub(super) fn fd(call: &Call<'_>) -> Outcome {
    let at =
        call.args.iter().position(|arg| matches!(arg.text(), Some("-x" | "-X" | "--exec" | "--exec-batch")));
    let before = call.args.get(..at.unwrap_or(call.args.len())).unwrap_or_default();
    let read = Options::new(
        "d:t:e:E:c:S:j:g:o:",
        "max-depth= min-depth= type= extension= exclude= color= size= threads= changed-within= changed-before= owner= \
         base-directory= search-path= exact-depth=",
    )
    .read(before);
    let mut starts: Vec<Value> = read.operands.iter().skip(1).map(|path| call.path(path)).collect();
    starts.extend(read.values("search-path base-directory").map(|path| call.path(path)));
    if starts.is_empty() {
        starts.push(call.path(&Value::known(".")));
    }
    let pattern = read.verb();
    let filtered = !matches!(pattern, "" | "." | ".*") || read.has("e extension E S g");
    let words = at.and_then(|at| call.args.get(at + 1..)).unwrap_or_default();
    let words: Vec<Value> = words.iter().take_while(|word| word.text() != Some(";")).cloned().collect();
    let mut commands = Vec::new();
    if !words.is_empty() {
        let line = joined(&words);
        let held = line
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Known(bytes) if bytes.windows(2).any(|pair| pair == b"{}")));
        let holder = (!held).then(|| Value::known("{}"));
        commands.push((words.into_iter().chain(holder).collect(), false));
    }
    let names = fd_names(pattern, &read);
    act(call, &starts, &Expression { filtered, names, commands, ..Expression::default() })
}

/// What `fd` looks for, as names: a piece of one, a glob, an ending.
fn fd_names(pattern: &str, read: &super::options::Read) -> Vec<Value> {
    let endings = read.values("e extension").filter_map(Value::text);
    let mut names: Vec<String> = endings.map(|end| format!("*.{}", end.trim_start_matches('.'))).collect();
    let (begins, rest) = pattern.strip_prefix('^').map_or((false, pattern), |rest| (true, rest));
    let (ends, rest) = rest.strip_suffix('$').map_or((false, rest), |rest| (true, rest));
    let plain = rest.replace("\\.", ".");
    let is_plain = plain.chars().all(|letter| letter.is_alphanumeric() || "_.-".contains(letter));
    if read.has("g glob") {
        names.push(pattern.to_owned());
    } else if names.is_empty() && is_plain && !matches!(plain.as_str(), "" | ".") {
        let star = |open: bool| if open { "*" } else { "" };
        names.push(format!("{}{plain}{}", star(!begins), star(!ends)));
    }
    names.into_iter().map(Value::known).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn what_is_found_is_what_is_acted_on() {
        check(&[
            ("find . -maxdepth 2 -name '*.toml'", "look /home/dev/project"),
            ("find / -delete", "delete/ /"),
            ("find . -name '*.pyc' -delete", "delete/% /home/dev/project"),
            (
                "find /var -type d -exec rm -r {} +",
                "look /var; delete/ /var; > rm -r /var; > rm -r /var/[**]",
            ),
            ("find . -name '*.o' -exec rm {} ;", "look /home/dev/project; > rm /home/dev/project/[*.o]"),
            ("find ~/x -name id_rsa -exec cat {} ;", "look /home/dev/x; > cat /home/dev/x/id_rsa"),
            (
                "find . -exec sh -c 'rm -rf $1' _ {} ;",
                "look /home/dev/project; > sh -c rm -rf $1 _ /home/dev/project; > sh -c rm -rf $1 _ /home/dev/project/[**]",
            ),
            ("find -L / -fprint /etc/x", "look /; write:Replace /etc/x"),
            ("find ?d -delete", "delete/ ?"),
            ("fd -e log . /var -x rm", "look /var; > rm /var/[*.log]"),
            ("fd foo", "look /home/dev/project"),
        ]);
    }
}
