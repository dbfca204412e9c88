//! What a call means on this machine: where its paths lead, and what the scripts it starts say.
//!
//! Owns: looking, within bounds of number, size and time, and that the stricter of both counts: a call by its letters, and
//! by what was found. Refuses: to judge; a path that cannot be looked at in time makes a person look.

use std::{
    fs::{File, OpenOptions},
    io::Read as _,
    os::unix::{ffi::OsStrExt as _, fs::OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use belljar_domain::{Risk, Ruling, Verdict};
use belljar_guardian::{
    effects::{Fact, Facts, FileKind, Question, questions},
    policy::{Call, Explanation, Policy, Scene},
};

/// The most paths of one call that are looked at; more are taken by their letters.
const MOST: usize = 64;
/// The most scripts of one call that are read, and how long one may be.
const MOST_TEXTS: usize = 8;
const LONGEST: u64 = 64 << 10;
/// How long looking may take. A disk that is there answers in a thousandth of it.
const PATIENCE: Duration = Duration::from_millis(250);
/// How many may hang on a disk that does not answer.
const MOST_HANGING: usize = 16;

static LOOKING: AtomicUsize = AtomicUsize::new(0);

/// The ruling on a call of this machine, and how it came about.
#[must_use]
pub fn explain_here(policy: &Policy, call: &Call<'_>, scene: &Scene) -> Explanation {
    let by_letters = policy.explain(call, scene);
    let asked = questions(&by_letters.effects, &scene.context, MOST);
    if asked.is_empty() || verdict(&by_letters) == Verdict::Deny {
        return by_letters;
    }
    let Some(facts) = look(asked) else { return unseen(by_letters) };
    if facts.is_empty() {
        return by_letters;
    }
    let mut found = scene.clone();
    found.context.facts = facts;
    let by_facts = policy.explain(call, &found);
    if verdict(&by_facts) >= verdict(&by_letters) { by_facts } else { by_letters }
}

fn verdict(said: &Explanation) -> Verdict {
    said.ruling.as_ref().map_or(Verdict::Allow, |ruling| ruling.verdict)
}

/// Nobody can say where it leads, so a person says whether it may.
fn unseen(mut said: Explanation) -> Explanation {
    if verdict(&said) < Verdict::Ask {
        said.ruling = Some(Ruling {
            verdict: Verdict::Ask,
            risk: Risk::Medium,
            rule: "out-of-sight".to_owned(),
            reason: "The disk did not say in time where the paths of this call lead.".to_owned(),
        });
    }
    said
}

/// Looks at paths; empty if each is what it says, none if the disk does not answer.
fn look(asked: Vec<Question>) -> Option<Facts> {
    if LOOKING.fetch_add(1, Ordering::Relaxed) >= MOST_HANGING {
        LOOKING.fetch_sub(1, Ordering::Relaxed);
        return None;
    }
    let (tell, told) = mpsc::sync_channel(1);
    let looking = move || {
        let facts = looked_at(&asked);
        LOOKING.fetch_sub(1, Ordering::Relaxed);
        // Whoever asked may have gone on.
        let _unheard = tell.send(facts);
    };
    if thread::Builder::new().name("facts".to_owned()).spawn(looking).is_err() {
        LOOKING.fetch_sub(1, Ordering::Relaxed);
        return None;
    }
    told.recv_timeout(PATIENCE).ok()
}

fn looked_at(asked: &[Question]) -> Facts {
    let (mut facts, mut texts, mut tells) = (Facts::default(), 0, false);
    for question in asked {
        let path = Path::new(std::ffi::OsStr::from_bytes(&question.path));
        let real = real(path);
        let kind = kind(&real);
        let text = (question.wants_text && kind == FileKind::File && texts < MOST_TEXTS)
            .then(|| text(&real))
            .flatten();
        texts += usize::from(text.is_some());
        tells |= text.is_some() || real != path;
        facts.insert(
            question.path.clone(),
            Fact { real: real.into_os_string().into_encoded_bytes(), kind, text },
        );
    }
    if tells { facts } else { Facts::default() }
}

/// Where a path leads. What is not there would be made where its directory is.
pub(super) fn real(path: &Path) -> PathBuf {
    let there = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    match there.and_then(|(part, led)| Some((path.strip_prefix(part).ok()?, led))) {
        Some((rest, led)) if rest.as_os_str().is_empty() => led,
        Some((rest, led)) => led.join(rest),
        None => path.to_owned(),
    }
}

fn kind(path: &Path) -> FileKind {
    match path.metadata() {
        Err(_) => FileKind::Missing,
        Ok(found) if found.is_dir() => FileKind::Directory,
        Ok(found) if found.is_file() => FileKind::File,
        Ok(_) => FileKind::Other,
    }
}

/// What a script says; none of what is long, binary or no file any more.
fn text(path: &Path) -> Option<Vec<u8>> {
    let nonblocking = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).ok()?;
    let file: File = OpenOptions::new().read(true).custom_flags(nonblocking).open(path).ok()?;
    let found = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
    if found.len() > LONGEST {
        return None;
    }
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text).ok()?;
    (!text.contains(&0)).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use serde_json::json;

    use super::*;

    fn ruled(root: &Path, tool: &str, input: &serde_json::Value) -> Option<(Verdict, String)> {
        let cwd = root.to_str().unwrap();
        let scene = Scene::on_host(Some(cwd), Some("/home/me"), Some(cwd));
        let call = Call { tool, input, cwd: Some(cwd), home: Some("/home/me") };
        let ruling = explain_here(&Policy::default(), &call, &scene).ruling?;
        Some((ruling.verdict, ruling.reason))
    }

    fn shell(root: &Path, command: &str) -> Option<Verdict> {
        ruled(root, "Bash", &json!({ "command": command })).map(|(verdict, _)| verdict)
    }

    #[test]
    fn a_link_is_judged_by_where_it_leads() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        symlink("/etc/shadow", root.join("notes")).unwrap();
        symlink("/etc", root.join("out")).unwrap();
        fs::write(root.join("plain"), "x").unwrap();
        assert_eq!(shell(&root, "cat plain"), None);
        assert_eq!(shell(&root, "cat notes"), Some(Verdict::Deny));
        assert_eq!(shell(&root, "rm -rf out/*"), Some(Verdict::Deny));
        assert_eq!(shell(&root, "rm out notes"), None);
        let write = json!({ "file_path": root.join("out/passwd"), "content": "x" });
        let (verdict, reason) = ruled(&root, "Write", &write).unwrap();
        assert!(verdict == Verdict::Deny && reason.contains("/etc/passwd"), "{reason}");
    }

    #[test]
    fn a_workspace_that_is_reached_by_a_link_is_the_workspace() {
        let dir = tempfile::Builder::new().prefix("bj-").tempdir_in("/var/tmp").unwrap();
        fs::create_dir_all(dir.path().join("real/src")).unwrap();
        let root = dir.path().join("link");
        symlink("real", &root).unwrap();
        assert_eq!(shell(&root, "rm -rf src; echo x > src/new; cat src/*"), None);
    }

    #[test]
    fn a_script_is_judged_by_what_it_says() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let write = |name: &str, text: &str| fs::write(root.join(name), text).unwrap();
        write("bad.sh", "#!/bin/bash\ncd /\nrm -rf etc \"$1\"\n");
        write("bad.py", "import shutil\nshutil.rmtree('/etc')\n");
        write("good.sh", "set -e\nfor f in src/*; do wc -l \"$f\"; done\n. ./.env\n\"$TOOL\" build\n");
        write("long.sh", &format!("rm -rf /etc\n{}", "# x\n".repeat(20_000)));
        for bad in
            ["./bad.sh", "bash bad.sh x", "source bad.sh", ". ./bad.sh", "sh < bad.sh", "cat bad.sh | sh"]
        {
            assert_eq!(shell(&root, bad), Some(Verdict::Deny), "{bad}");
        }
        assert_eq!(shell(&root, "python3 bad.py"), Some(Verdict::Deny));
        assert_eq!(shell(&root, "./good.sh && bash good.sh"), None);
        assert_eq!(shell(&root, "./long.sh"), None, "what is too long is run unread, as a program is");
    }
}
