//! What removes: `rm` and its kin.

use super::call::{Call, is_device};
use super::options::Options;
use crate::effects::act::{Act, Change};
use crate::effects::invocation::Outcome;
use crate::shell::value::{Piece, Value};

const RM: Options = Options::new(
    "",
    "force interactive? recursive dir verbose one-file-system no-preserve-root preserve-root? help version",
);
const SHRED: Options =
    Options::new("n:s:", "force iterations= random-source= size= remove? verbose exact zero help version");
const PLAIN: Options = Options::new("", "parents ignore-fail-on-non-empty verbose help version");

/// `rm`, `rmdir`, `unlink`, `shred`, and the trash.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    match call.name {
        "rm" | "srm" | "grm" => rm(call),
        "shred" | "wipe" => shred(call),
        // What is in the trash can be had back, but it is gone from where it was.
        _ => {
            let deep = !matches!(call.name, "rmdir" | "unlink");
            let read = call.read(&PLAIN);
            if read.has("help version") {
                return Outcome::harmless();
            }
            // Before the directories these want to know how old what they delete must be.
            let skip = usize::from(call.name.starts_with("tmp"));
            Outcome::of(call.targets(&read).iter().skip(skip).map(|path| call.deletes(path, deep)))
        }
    }
}

/// `scrub`, `bcwipe`, `sfill`: what is there is written over, or all that is free is filled.
pub(super) fn wiped(call: &Call<'_>) -> Outcome {
    let read = call
        .read(&Options::new("p:b:s:D:m:d:", "pattern= blocksize= device-size= dirent= method= version help"));
    if read.has("version help v h V") && read.operands.is_empty() {
        return Outcome::harmless();
    }
    Outcome::of(call.targets(&read).iter().map(|path| {
        let found = call.path(path);
        if is_device(&found) { Act::Disk { device: found } } else { call.deletes(path, true) }
    }))
}

fn rm(call: &Call<'_>) -> Outcome {
    let read = call.read(&RM);
    if read.has("help version") {
        return Outcome::harmless();
    }
    let targets = call.targets(&read);
    // Something unknown beside a target may be `-r`.
    let deep = read.has("r R recursive")
        || (read.vague.is_some() || call.invocation.more.is_some()) && targets.len() > 1;
    let mut outcome = Outcome::of(targets.iter().map(|path| call.deletes(path, deep)));
    // With a slash behind it a link is what it leads to.
    let is_followed = |path: &&Value| {
        deep && matches!(path.pieces.last(), Some(Piece::Known(bytes)) if bytes.len() > 1 && bytes.ends_with(b"/"))
    };
    for path in targets.iter().filter(is_followed) {
        let mut inside = path.clone();
        inside.push(Piece::Glob(b"*".to_vec()));
        outcome.push(call.deletes(&inside, true));
    }
    outcome
}

fn shred(call: &Call<'_>) -> Outcome {
    let read = call.read(&SHRED);
    if read.has("help version") {
        return Outcome::harmless();
    }
    Outcome::of(call.targets(&read).iter().map(|path| {
        let found = call.path(path);
        if is_device(&found) {
            Act::Disk { device: found }
        } else if read.has("u remove") || call.name == "wipe" {
            call.deletes(path, call.name == "wipe")
        } else {
            call.writes(path, Change::Empty)
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn removals_name_what_is_gone() {
        check(&[
            ("rm -rf /", "delete/ /"),
            ("rm -fr ./target ../x", "delete/ /home/dev/project/target; delete/ /home/dev/x"),
            ("/bin/rm --rec -- -r", "delete/ /home/dev/project/-r"),
            ("rm a.txt", "delete /home/dev/project/a.txt"),
            ("rm a ?x", "delete/ /home/dev/project/a; delete/ ?"),
            ("rm ?x", "delete ?"),
            ("rm --help", "compute"),
            ("rmdir a", "delete /home/dev/project/a"),
            ("shred -u a", "delete /home/dev/project/a"),
            ("shred -n 3 a", "write:Empty /home/dev/project/a"),
            ("shred /dev/sda", "disk /dev/sda"),
            ("scrub -p dod a.txt", "delete/ /home/dev/project/a.txt"),
            ("sfill -f /home", "delete/ /home"),
            ("trash-put a", "delete/ /home/dev/project/a"),
        ]);
    }
}
