//! Files that go from one machine to another: `scp`, `rsync`, `rclone`.

use super::super::call::Call;
use super::super::options::{Options, after};
use crate::effects::act::{Act, Change, Datum, Power, Traffic};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// Where a copy begins or ends: `host:path` or a path here.
enum End {
    There(Value),
    Here(Value),
}

fn end(place: &Value) -> End {
    let prefix = place.prefix();
    let colon = prefix.iter().position(|byte| *byte == b':');
    let slash = prefix.iter().position(|byte| *byte == b'/').unwrap_or(usize::MAX);
    let is_url = [b"rsync://".as_slice(), b"scp://", b"sftp://", b"s3://", b"gs://"]
        .iter()
        .any(|scheme| prefix.starts_with(scheme));
    match colon {
        Some(colon) if colon < slash || is_url => End::There(place.clone()),
        _ => End::Here(place.clone()),
    }
}

/// A copy from some places to one.
fn copied(call: &Call<'_>, operands: &[Value], deep: bool, outcome: &mut Outcome) {
    let Some((to, from)) = operands.split_last() else { return };
    let mut sent: Vec<Datum> = Vec::new();
    let mut fetched = Vec::new();
    for place in from {
        match end(place) {
            End::There(place) => fetched.push(place),
            End::Here(path) => {
                outcome.push(Act::Read { path: call.path(&path), deep });
                sent.push(Datum::File(call.path(&path)));
            }
        }
    }
    for place in &fetched {
        outcome.push(call.network(Traffic::Fetch, place, Vec::new()));
    }
    match end(to) {
        End::There(place) => outcome.push(call.network(Traffic::Send, &place, sent)),
        End::Here(path) => {
            for place in fetched.iter().chain(from.iter().filter(|place| matches!(end(place), End::Here(_))))
            {
                let whole = place.prefix().ends_with(b"/") && place.why().is_none();
                let landed = if whole || !(call.is_directory(&path) || from.len() > 1) {
                    call.path(&path)
                } else {
                    call.inside(&path, &last(place))
                };
                outcome.push(super::super::call::write(landed, Change::Replace, None));
            }
        }
    }
}

/// The path of `host:path`.
fn last(place: &Value) -> Value {
    match place.prefix().iter().position(|byte| *byte == b':') {
        Some(colon) => after(place, colon + 1),
        None => place.clone(),
    }
}

/// A line that is run to connect. A file of one's own in the place of `ssh` is no way to copy anything.
fn connects(call: &Call<'_>, line: &Value, outcome: &mut Outcome) {
    let program = line.prefix().split(|byte| *byte == b' ').next().unwrap_or_default();
    let is_installed =
        [b"/usr/".as_slice(), b"/bin/", b"/opt/"].iter().any(|place| program.starts_with(place));
    if program.contains(&b'/') && !is_installed {
        outcome.push(call.unknown(format!("the program {} is told to connect with", call.name)));
    }
    outcome.next.push(call.shell(line.clone()));
}

/// `scp`.
pub(in super::super) fn scp(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("c:D:F:i:J:l:o:P:S:X:", ""));
    let mut outcome = Outcome::default();
    for program in read.values("S") {
        connects(call, program, &mut outcome);
    }
    for line in read.values("o") {
        if let Some((name, value)) = super::super::options::split(line, b'=')
            && name.eq_ignore_ascii_case("proxycommand")
        {
            outcome.next.push(call.shell(value));
        }
    }
    copied(call, &call.targets(&read), read.has("r"), &mut outcome);
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// `rsync`.
pub(in super::super) fn rsync(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new(
        "e:f:B:T:M:@:",
        "rsh= rsync-path= exclude= include= exclude-from= include-from= files-from= filter= chmod= chown= backup-dir= \
         suffix= temp-dir= compare-dest= copy-dest= link-dest= log-file= log-file-format= out-format= password-file= \
         port= bwlimit= timeout= max-size= min-size= max-delete= block-size= partial-dir= info= debug= iconv= \
         usermap= groupmap= compress-level= early-input= remote-option= stop-after= delete delete-before \
         delete-during delete-delay delete-after delete-excluded del remove-source-files dry-run archive recursive",
    ));
    if call.is_asked() || call.args.is_empty() {
        return Outcome::harmless();
    }
    let mut outcome = Outcome::default();
    for line in read.values("e rsh") {
        connects(call, line, &mut outcome);
    }
    for file in read.values("password-file files-from exclude-from include-from") {
        outcome.push(call.reads(file));
    }
    for file in read.values("log-file") {
        outcome.push(call.writes(file, Change::Append));
    }
    let targets = call.targets(&read);
    let deletes = read.options.iter().any(|(name, _)| name.starts_with("del"));
    let filtered = read.has("exclude filter f");
    if let (true, Some(to)) = (deletes, targets.last()) {
        match end(to) {
            End::Here(path) => {
                let path = call.path(&path);
                outcome.push(Act::Delete { path, deep: true, filtered });
            }
            End::There(place) => {
                let operation = format!("rsync --delete {}", place.text().unwrap_or_default());
                outcome.push(Act::Infrastructure { operation, destroys: true });
            }
        }
    }
    if read.has("remove-source-files") {
        for path in targets.iter().rev().skip(1) {
            if let End::Here(path) = end(path) {
                outcome.push(Act::Delete { path: call.path(&path), deep: true, filtered: false });
            }
        }
    }
    copied(call, &targets, read.has("r a recursive archive"), &mut outcome);
    outcome.rehearsed_if(read.has("n dry-run"))
}

/// `rclone`, `s3cmd`, `mc`: a verb, then places.
pub(in super::super) fn store(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let read = call.read(&Options::new(
        "c:P?",
        "config= exclude= include= filter= transfers= checkers= bwlimit= log-file= max-age= min-age= recursive force \
         dry-run dryrun rc-addr= addr=",
    ));
    let verb = read.verb();
    let places = read.operands.get(1..).unwrap_or_default();
    let destroys = |place: &Value| match end(place) {
        End::Here(path) if call.name == "rclone" => Act::Delete {
            path: call.path(&path),
            deep: true,
            filtered: read.has("include exclude filter min-age"),
        },
        _ => Act::Infrastructure {
            operation: format!("{} {verb} {}", call.name, place.text().unwrap_or_default()),
            destroys: true,
        },
    };
    let mut outcome = Outcome::default();
    match verb {
        "delete" | "purge" | "deletefile" | "rmdir" | "rmdirs" | "rm" | "del" | "rb" | "cleanup"
        | "dedupe" => {
            for place in places {
                outcome.push(destroys(place));
            }
        }
        "copy" | "copyto" | "move" | "moveto" | "sync" | "put" | "get" | "cp" | "mv" | "mirror"
        | "bisync" => {
            if let (true, Some(to)) = (matches!(verb, "sync" | "mirror"), places.last()) {
                outcome.push(destroys(to));
            }
            if matches!(verb, "move" | "moveto" | "mv") {
                outcome.acts.extend(
                    places
                        .iter()
                        .rev()
                        .skip(1)
                        .map(|place| (destroys(place), crate::effects::act::Effort::Done)),
                );
            }
            copied(call, places, true, &mut outcome);
        }
        "serve" => outcome.push(call.network(Traffic::Listen, &Value::known("rclone serve"), Vec::new())),
        "mount" => outcome.push(Act::Power(Power::Kernel("rclone mount".to_owned()))),
        "config" if matches!(read.word(1), "show" | "dump") => {
            outcome.push(Act::Read { path: call.at_home(".config/rclone/rclone.conf"), deep: false });
        }
        "cat" => outcome.acts.extend(places.iter().map(|place| {
            (call.network(Traffic::Fetch, place, Vec::new()), crate::effects::act::Effort::Done)
        })),
        _ => outcome.push(Act::Compute),
    }
    outcome.rehearsed_if(read.has("n dry-run dryrun"))
}

/// `sshfs`: another machine's files at a place of this one.
pub(in super::super) fn mounted(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let read = call.read(&Options::new("p:o:F:", ""));
    let to = read.operands.first().cloned().unwrap_or_default();
    Outcome::of([call.network(Traffic::Fetch, &to, Vec::new())])
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn copies_know_which_end_is_here() {
        check(&[
            ("scp host:app.log .", "fetch host:app.log; write:Replace /home/dev/project/app.log"),
            (
                "scp .env x.org:/tmp/",
                "read /home/dev/project/.env; send x.org:/tmp/ </home/dev/project/.env>",
            ),
            (
                "rsync -a --delete empty/ ~/",
                "delete/ /home/dev; read/ /home/dev/project/empty; write:Replace /home/dev",
            ),
            (
                "rsync -an --delete empty/ ~/",
                "~delete/ /home/dev; ~read/ /home/dev/project/empty; ~write:Replace /home/dev",
            ),
            (
                "rsync -e 'sh -c x' a b",
                "read /home/dev/project/a; write:Replace /home/dev/project/b; $ sh -c x",
            ),
            ("rclone purge ~/Pictures", "delete/ /home/dev/Pictures"),
            ("rclone delete r:bucket", "infra! rclone delete r:bucket"),
            ("rclone ls r:bucket", "compute"),
        ]);
    }
}
