//! The policy's files: `guardian.toml`, which a person writes, and `policy.json`, the last one that was good.
//!
//! Owns: reading the one, keeping the other, and noticing changes. The second is what a hook goes by when no server
//! answers. Refuses: to make an empty policy of a wrong one.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, SystemTime},
};

use belljar_engine::service::Service;
use belljar_guardian::policy::{Policy, PolicyError, Rule};

/// How often to look whether the file changed.
const LOOK: Duration = Duration::from_millis(500);

/// Why a policy cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unusable {
    #[error("{} cannot be read", .0.display())]
    File(PathBuf, #[source] io::Error),
    #[error("{}: {}", .0.display(), .1)]
    Form(PathBuf, Box<toml::de::Error>),
    #[error("{}: {}", .0.display(), .1)]
    Rule(PathBuf, PolicyError),
}

pub(crate) fn written(home: &Path) -> PathBuf {
    home.join("guardian.toml")
}

fn kept(home: &Path) -> PathBuf {
    home.join("policy.json")
}

/// Reads and checks what a person wrote; no file is a policy without rules of its own, by which the shipped ones hold.
pub(crate) fn read(home: &Path) -> Result<Policy, Unusable> {
    let path = written(home);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Policy::default()),
        read => read.map_err(|error| Unusable::File(path.clone(), error))?,
    };
    let policy: Policy =
        toml::from_str(&text).map_err(|error| Unusable::Form(path.clone(), Box::new(error)))?;
    policy.check().map_err(|error| Unusable::Rule(path, error))?;
    Ok(policy)
}

/// The last good policy; none when there never was one, or it cannot be read.
fn last_good(home: &Path) -> Option<Policy> {
    serde_json::from_slice(&fs::read(kept(home)).ok()?).ok()
}

/// The policy to go by without a server: what a person wrote if that is newer than what was kept, else the last good one,
/// else the one that is shipped. There is always one.
pub(crate) fn in_force(home: &Path) -> Policy {
    let changed = |path: PathBuf| fs::metadata(path).and_then(|about| about.modified()).ok();
    let kept_at = changed(kept(home));
    let is_newer = changed(written(home)).is_some_and(|at| kept_at.is_none_or(|kept_at| at > kept_at));
    if is_newer && let Ok(policy) = read(home) {
        // Only the next hook is slower if it cannot be kept.
        let _unkept = keep(home, &policy);
        return policy;
    }
    last_good(home).unwrap_or_default()
}

/// Keeps a policy as the last good one.
pub(crate) fn keep(home: &Path, policy: &Policy) -> io::Result<()> {
    let draft = kept(home).with_extension(format!("json.{}", std::process::id()));
    fs::write(&draft, serde_json::to_vec(policy)?)?;
    fs::rename(&draft, kept(home))
}

/// Puts a rule behind what a person wrote. What would not be good is not written.
pub(crate) fn add_rule(home: &Path, rule: &Rule) -> Result<Policy, Unusable> {
    let path = written(home);
    let mut text = fs::read_to_string(&path).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(String::new()),
        _ => Err(Unusable::File(path.clone(), error)),
    })?;
    if !text.is_empty() {
        text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
    }
    text.push_str(&rule.text());
    let policy: Policy =
        toml::from_str(&text).map_err(|error| Unusable::Form(path.clone(), Box::new(error)))?;
    policy.check().map_err(|error| Unusable::Rule(path.clone(), error))?;
    let draft = path.with_extension(format!("toml.{}", std::process::id()));
    let wrote = fs::write(&draft, &text).and_then(|()| fs::rename(&draft, &path));
    wrote.map_err(|error| Unusable::File(path, error))?;
    Ok(policy)
}

/// Follows the file for a server, for as long as it lives.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watch {
    /// Puts the policy into force that is there, or the last good one; then follows the file.
    ///
    /// # Errors
    /// When the policy that is there is wrong and there is no good one to go by.
    pub(crate) fn begin(home: &Path, service: &Service) -> Result<Self, Unusable> {
        // First of all, so that no change is overlooked while it is read.
        let seen = stamp(home);
        match read(home) {
            Ok(policy) => force(home, service, policy),
            Err(unusable) => {
                let Some(good) = last_good(home) else { return Err(unusable) };
                tracing::error!("{unusable}; the last good policy stays in force");
                service.set_policy(good);
            }
        }
        let (rules, ruled) = (home.to_owned(), service.clone());
        service.set_rule_keeper(move |rule| {
            let policy = add_rule(&rules, rule).map_err(|error| error.to_string())?;
            force(&rules, &ruled, policy);
            Ok(())
        });
        let stop = Arc::new(AtomicBool::new(false));
        let (home, service, asked) = (home.to_owned(), service.clone(), Arc::clone(&stop));
        let follow = move || follow(&home, &service, seen, &asked);
        let thread = thread::Builder::new().name("policy".to_owned()).spawn(follow).ok();
        Ok(Self { stop, thread })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ended = thread.join();
        }
    }
}

fn follow(home: &Path, service: &Service, mut seen: Option<Stamp>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        thread::park_timeout(LOOK);
        let now = stamp(home);
        if now == seen {
            continue;
        }
        seen = now;
        match read(home) {
            Ok(policy) => {
                tracing::info!("{} rules of {} are in force", policy.rules.len(), written(home).display());
                force(home, service, policy);
            }
            Err(unusable) => tracing::error!("{unusable}; the last good policy stays in force"),
        }
    }
}

fn force(home: &Path, service: &Service, policy: Policy) {
    if let Err(error) = keep(home, &policy) {
        tracing::error!("hooks go by an older policy when no server answers: {error}");
    }
    service.set_policy(policy);
}

/// What tells one state of the file from another.
type Stamp = (SystemTime, u64);

fn stamp(home: &Path) -> Option<Stamp> {
    let about = fs::metadata(written(home)).ok()?;
    Some((about.modified().ok()?, about.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_policy_is_refused_with_its_place() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(read(home.path()).unwrap(), Policy::default());
        for (text, words) in [
            ("mode = \"gaurd\"", "line 1"),
            ("[[rule]]\nname = \"x\"\nmatch = \"Bash(\"\nverdict = \"deny\"", "rule 1 (`x`)"),
            ("[[rule]]\nname = \"x\"\nmatches = \"Bash\"\nverdict = \"deny\"", "matches"),
        ] {
            fs::write(written(home.path()), text).unwrap();
            let error = read(home.path()).unwrap_err().to_string();
            assert!(error.contains(words) && error.contains("guardian.toml"), "{error}");
        }
    }

    #[test]
    fn what_is_kept_comes_back() {
        let home = tempfile::tempdir().unwrap();
        let text = "[[rule]]\nname = \"push\"\nmatch = [\"Bash(git push:*)\"]\nverdict = \"deny\"\n\
                    examples = { match = [\"git push\"], pass = [\"git pull\"] }";
        fs::write(written(home.path()), text).unwrap();
        let policy = read(home.path()).unwrap();
        keep(home.path(), &policy).unwrap();
        assert_eq!(last_good(home.path()), Some(policy));
    }

    #[test]
    fn without_a_server_there_is_always_a_policy() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(in_force(home.path()), Policy::default());
        fs::write(written(home.path()), "mode = \"observe\"").unwrap();
        let observing = in_force(home.path());
        assert_eq!(Some(&observing), last_good(home.path()).as_ref());
        fs::write(written(home.path()), "mode = \"gaurd\"").unwrap();
        assert_eq!(in_force(home.path()), observing);
    }
}
