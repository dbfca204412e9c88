//! What is made before anybody asks is used by a sandbox that is like it, and leaves nothing when it is not.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeMap, fs, io::Read, os::fd::OwnedFd, path::Path};

use belljar_domain::{ByteSize, ExecSpec, Outcome, SandboxId, SandboxSpec};
use belljar_ports::{Keep, SandboxProvider, Streams};
use belljar_providers::process::ProcessProvider;
use uuid::Uuid;

fn provider(home: &Path) -> ProcessProvider {
    ProcessProvider::open(home, std::env::vars().collect()).unwrap()
}

/// Makes a sandbox, lets it say what it sees, and ends it.
fn says(provider: &ProcessProvider, spec: &SandboxSpec) -> String {
    let made = provider.create(SandboxId::from_uuid(Uuid::now_v7()), spec, Keep::Alive).unwrap();
    let command =
        "ls -d / /usr /proc/self /dev/null /tmp; id -u; hostname; cat /proc/kcore; touch /usr/x 2>&1; pwd";
    let argv = ["sh", "-c", command].map(str::to_owned).to_vec();
    let (mut read, write) = std::io::pipe().unwrap();
    let streams = Streams {
        stdin: fs::File::open("/dev/null").unwrap().into(),
        stdout: OwnedFd::from(write.try_clone().unwrap()),
        stderr: OwnedFd::from(write),
    };
    let exec = ExecSpec { argv, cwd: None, env: BTreeMap::new(), user: None, terminal: None, timeout: None };
    let execution = made.exec(&exec, streams).unwrap();
    let mut said = String::new();
    read.read_to_string(&mut said).unwrap();
    assert_eq!(execution.wait().unwrap().outcome, Outcome::Code(0), "{said}");
    let name = made.info().id.short();
    made.destroy().unwrap();
    said.replace(&name, "ID")
}

fn markers(home: &Path) -> usize {
    fs::read_dir(home.join("making")).unwrap().count()
}

#[test]
fn a_sandbox_born_in_a_bed_is_like_any_other() {
    let home = tempfile::tempdir().unwrap();
    let provider = provider(home.path());
    let spec = SandboxSpec::default();
    let plain = says(&provider, &spec);
    assert!(provider.prepare(&spec, 1).unwrap());
    assert!(!provider.prepare(&spec, 1).unwrap(), "one is enough");
    assert_eq!(says(&provider, &spec), plain);
    assert_eq!(markers(home.path()), 0, "it was used, and speaks for itself");
}

#[test]
fn a_bed_that_does_not_fit_is_let_go() {
    let home = tempfile::tempdir().unwrap();
    let provider = provider(home.path());
    let spec = SandboxSpec::default();
    let mut other = spec.clone();
    other.limits.memory = ByteSize::mib(300);
    other.etc.insert("motd".to_owned(), "hello".to_owned());
    let plain = says(&provider, &other);
    assert!(provider.prepare(&spec, 1).unwrap());
    assert_eq!(says(&provider, &other), plain);
    assert_eq!(markers(home.path()), 0);
}

#[test]
fn what_nobody_asked_for_goes_with_its_maker() {
    let home = tempfile::tempdir().unwrap();
    let provider = provider(home.path());
    assert!(provider.prepare(&SandboxSpec::default(), 1).unwrap());
    drop(provider);
    assert_eq!(markers(home.path()), 0);
}

#[test]
fn what_a_killed_maker_left_is_swept_and_what_a_living_one_holds_is_not() {
    let home = tempfile::tempdir().unwrap();
    let provider = provider(home.path());
    assert!(provider.prepare(&SandboxSpec::default(), 1).unwrap());
    let held = markers(home.path());
    let making = home.path().join("making");
    let id = SandboxId::from_uuid(Uuid::now_v7());
    // Markers without a lock: their maker is gone.
    fs::write(making.join(format!("bed.{id}")), "").unwrap();
    fs::write(making.join(format!("spare.{id}")), "").unwrap();
    let nest = making.join(format!("nest.{id}"));
    fs::create_dir(&nest).unwrap();
    fs::write(nest.join("sandbox.json.draft"), "").unwrap();
    assert!(provider.sweep().unwrap() >= 1);
    assert!(!nest.exists());
    assert_eq!(markers(home.path()), held, "what waits for a sandbox still does");
    says(&provider, &SandboxSpec::default());
    assert_eq!(markers(home.path()), 0);
}
