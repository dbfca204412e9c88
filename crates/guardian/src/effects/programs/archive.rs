//! Archives: what goes in, what comes out, and what is removed on the way.

use super::call::Call;
use super::options::{Options, after};
use crate::effects::act::{Act, Change, Datum};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::{Piece, Value};

const TAR: Options = Options::new(
    "f:C:T:X:I:b:g:H:K:L:N:V:F:",
    "file= directory= files-from= exclude= exclude-from= use-compress-program= to-command= checkpoint-action= checkpoint? \
     transform= xform= strip-components= strip= owner= group= mode= mtime= rsh-command= rmt-command= info-script= \
     new-volume-script= newer= format= listed-incremental= remove-files create extract get list append update diff compare delete \
     to-stdout absolute-names gzip bzip2 xz zstd overwrite unlink-first recursive-unlink",
);

/// `tar`, `bsdtar`.
pub(super) fn tar(call: &Call<'_>) -> Outcome {
    // The first word may be options without their dash: `tar czf a.tgz x`.
    let mut args = call.args.to_vec();
    let bundled = args.first().and_then(Value::text).is_some_and(|first| {
        !first.starts_with('-')
            && first.chars().any(|letter| "cxtruA".contains(letter))
            && first.chars().all(|letter| letter.is_ascii_alphabetic())
    });
    if bundled {
        args = unbundled(&args);
    }
    let read = TAR.read(&args);
    if call.is_asked() {
        return Outcome::harmless();
    }
    let mut outcome = Outcome::default();
    for line in read
        .values("I use-compress-program to-command F info-script new-volume-script rsh-command rmt-command")
    {
        outcome.next.push(call.shell(line.clone()));
    }
    for action in read.values("checkpoint-action") {
        if action.prefix().starts_with(b"exec=") {
            outcome.next.push(call.shell(after(action, 5)));
        }
    }
    for list in read.values("T files-from X exclude-from") {
        outcome.push(call.reads(list));
    }
    let file = read.value("f file").filter(|file| file.text() != Some("-"));
    let directory = read.value("C directory").cloned().unwrap_or_else(|| Value::known("."));
    if read.has("c r u create append update A") {
        let mut from = call.invocation.clone();
        from.cwd = call.path(&directory);
        let inside = Call { invocation: &from, ..*call };
        for path in call.targets(&read) {
            let path = inside.path(&path);
            outcome.push(Act::Read { path: path.clone(), deep: true });
            if file.is_none() {
                outcome.output.data.push(Datum::File(path.clone()));
            }
            if read.has("remove-files") {
                outcome.push(Act::Delete { path, deep: true, filtered: false });
            }
        }
        if let Some(file) = file {
            outcome.push(call.writes(file, Change::Replace));
        }
    } else if read.has("x extract get") {
        if let Some(file) = file {
            outcome.push(call.reads(file));
        }
        if read.has("O to-stdout") {
            outcome.output.data.extend(file.map(|file| Datum::File(call.path(file))));
        } else if outcome.next.is_empty() || !read.has("to-command") {
            outcome.push(call.fills(&directory));
        }
    } else if let Some(file) = file {
        outcome.push(if read.has("delete") { call.writes(file, Change::Edit) } else { call.reads(file) });
    }
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// The letters of an old-style bundle as options, each with the value that belongs to it.
fn unbundled(args: &[Value]) -> Vec<Value> {
    let letters = args.first().and_then(Value::text).unwrap_or_default().to_owned();
    let mut rest = args.iter().skip(1).cloned();
    let mut found = Vec::new();
    for letter in letters.chars() {
        found.push(Value::known(format!("-{letter}")));
        if "fCTXIbgHKLNVF".contains(letter) {
            found.extend(rest.next());
        }
    }
    found.extend(rest);
    found
}

/// `zip`, `7z`, `unzip`, `unrar`, `cpio`, `ar` and compressors.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    match call.name {
        "zip" => zip(call),
        "7z" | "7za" | "7zr" | "7zz" | "rar" => seven(call),
        "unzip" | "unrar" | "unar" | "bsdunzip" => unpacked(call),
        "cpio" | "pax" | "ar" => streams(call),
        _ => compressed(call),
    }
}

fn zip(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new(
        "b:i:n:P:s:t:tt:x:TT:",
        "temp-path= include= exclude= password= unzip-command= move recurse-paths test delete",
    ));
    let mut outcome = Outcome::default();
    if let Some(line) = read.value("unzip-command").or_else(|| behind(call, "-TT")) {
        outcome.next.push(call.shell(line.clone()));
    }
    let Some((archive, paths)) = read.operands.split_first() else { return Outcome::harmless() };
    let moves = read.has("m move");
    for path in paths {
        outcome.push(Act::Read { path: call.path(path), deep: read.has("r recurse-paths") });
        if moves {
            outcome.push(call.deletes(path, true));
        }
        if archive.text() == Some("-") {
            outcome.output.data.push(Datum::File(call.path(path)));
        }
    }
    if archive.text() != Some("-") {
        // A name without an ending gets one.
        let is_bare =
            archive.text().is_some_and(|name| !name.rsplit('/').next().unwrap_or_default().contains('.'));
        let mut archive = archive.clone();
        if is_bare {
            archive.push(Piece::Known(b".zip".to_vec()));
        }
        outcome.push(call.writes(&archive, Change::Replace));
    }
    outcome
}

/// The word behind another.
fn behind<'a>(call: &Call<'a>, word: &str) -> Option<&'a Value> {
    let at = call.args.iter().position(|arg| arg.text() == Some(word))?;
    call.args.get(at + 1)
}

fn seven(call: &Call<'_>) -> Outcome {
    let words: Vec<&Value> = call.args.iter().filter(|arg| !arg.prefix().starts_with(b"-")).collect();
    let Some((verb, rest)) = words.split_first() else { return Outcome::harmless() };
    let mut outcome = Outcome::default();
    let into = call.words().find_map(|word| word.strip_prefix("-o")).unwrap_or(".");
    match (verb.text().unwrap_or_default(), rest) {
        ("a" | "u" | "m", [archive, paths @ ..]) => {
            for path in paths {
                outcome.push(Act::Read { path: call.path(path), deep: true });
                if call.says(&["-sdel", "-df", "-dw"]) || verb.text() == Some("m") {
                    outcome.push(call.deletes(path, true));
                }
            }
            outcome.push(call.writes(archive, Change::Replace));
        }
        ("x" | "e", [archive, ..]) => {
            outcome.push(call.reads(archive));
            outcome.push(call.fills(&Value::known(into)));
        }
        ("d", [archive, ..]) => outcome.push(call.writes(archive, Change::Edit)),
        (_, [archive, ..]) => outcome.push(call.reads(archive)),
        _ => outcome.push(Act::Compute),
    }
    outcome
}

fn unpacked(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("d:x:P:o?", "output-directory= password="));
    let Some(archive) = read.operands.first() else { return Outcome::harmless() };
    let mut outcome = Outcome::of([call.reads(archive)]);
    if read.has("p c") {
        outcome.output = Stream::data([Datum::File(call.path(archive)), unpacked_text(call)]);
    } else if !read.has("l t v Z") {
        let directory = read.value("d output-directory").cloned().unwrap_or_else(|| Value::known("."));
        outcome.push(call.fills(&directory));
    }
    outcome
}

fn streams(call: &Call<'_>) -> Outcome {
    let read = call
        .read(&Options::new("D:F:I:O:H:E:R:M:f:s:", "directory= file= format= rsh-command= pattern-file="));
    let mut outcome = Outcome::default();
    for line in read.values("rsh-command") {
        outcome.next.push(call.shell(line.clone()));
    }
    let extracts = read.has("i extract r");
    match call.name {
        "ar" => {
            for file in read.operands.iter().skip(1).take(1) {
                outcome.push(call.writes(file, Change::Edit));
            }
        }
        "cpio" if read.has("p pass-through") => {
            if let Some(to) = read.operands.first() {
                outcome.push(call.fills(to));
            }
        }
        _ if extracts => {
            let directory = read.value("D directory").cloned().unwrap_or_else(|| Value::known("."));
            outcome.push(call.fills(&directory));
        }
        // It packs the files whose names it reads.
        _ => {
            if let Some(names) = &call.invocation.input.text {
                outcome.push(Act::Read { path: call.path(names), deep: false });
                outcome.output.data.push(Datum::File(call.path(names)));
            }
            for file in read.values("F O file") {
                outcome.push(call.writes(file, Change::Replace));
            }
        }
    }
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// What comes out of an archive is not what one sees in the file.
fn unpacked_text(call: &Call<'_>) -> Datum {
    Datum::Unknown(call.why("what an archive holds"))
}

/// `gzip` and the like: a file becomes another beside it.
fn compressed(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new(
        "S:b:o:T:M:D:B:",
        "suffix= threads= memlimit= stdout to-stdout keep decompress list test rm output=",
    ));
    if read.operands.is_empty() {
        let output = super::decode::changed(call, &call.invocation.input, None);
        return Outcome::harmless().saying(output);
    }
    let keeps = read.has("c stdout to-stdout k keep l list t test")
        || matches!(call.name, "zstd" | "unzstd" | "lz4" | "brotli") && !read.has("rm");
    let mut outcome = Outcome::default();
    for file in &read.operands {
        outcome.push(call.reads(file));
        if read.has("c stdout to-stdout") {
            outcome.output.data.push(Datum::File(call.path(file)));
            outcome.output.data.push(unpacked_text(call));
        } else if !read.has("l list t test") {
            if !keeps {
                outcome.push(call.deletes(file, false));
            }
            let unpacks = read.has("d decompress uncompress") || call.name.contains("un");
            outcome.push(super::call::write(beside(call.path(file), unpacks), Change::Replace, None));
        }
    }
    outcome
}

/// What a compressor makes of a file: its name with an ending, or without the one it has.
fn beside(mut path: Value, unpacks: bool) -> Value {
    if let (true, Some(Piece::Known(bytes))) = (unpacks, path.pieces.last_mut()) {
        let name = bytes.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let dot = bytes.iter().rposition(|byte| *byte == b'.').filter(|dot| *dot > name);
        bytes.truncate(dot.unwrap_or(bytes.len()));
    }
    path.push(Piece::Glob(b"*".to_vec()));
    path
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn what_goes_in_and_out_is_seen() {
        check(&[
            ("tar czf /tmp/a.tgz src", "read/ /home/dev/project/src; write:Replace /tmp/a.tgz"),
            ("tar -cf /tmp/a.tar --remove-files /etc", "read/ /etc; delete/ /etc; write:Replace /tmp/a.tar"),
            (
                "tar xzf a.tgz -C vendor",
                "read /home/dev/project/a.tgz; write:Replace /home/dev/project/vendor/[**]",
            ),
            ("tar tf a.tgz", "read /home/dev/project/a.tgz"),
            ("tar xf a.tar --to-command='rm -rf /'", "read /home/dev/project/a.tar; $ rm -rf /"),
            (
                "tar cf x --checkpoint=1 --checkpoint-action=exec=sh a",
                "read/ /home/dev/project/a; write:Replace /home/dev/project/x; $ sh",
            ),
            (
                "zip -rm /tmp/a.zip ~/Docs",
                "read/ /home/dev/Docs; delete/ /home/dev/Docs; write:Replace /tmp/a.zip",
            ),
            ("7z a -sdel /tmp/a.7z ~/D", "read/ /home/dev/D; delete/ /home/dev/D; write:Replace /tmp/a.7z"),
            ("unzip -d out a.zip", "read /home/dev/project/a.zip; write:Replace /home/dev/project/out/[**]"),
            ("unzip -l a.zip", "read /home/dev/project/a.zip"),
            ("gzip -k a", "read /home/dev/project/a; write:Replace /home/dev/project/a[*]"),
        ]);
    }
}
