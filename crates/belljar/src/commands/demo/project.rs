//! The project the agents work on: small, real, with a bug in it, and nothing but a shell needed to run its tests.

use std::{
    fmt::Write as _,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result};

/// The policy of the demonstration.
pub(super) const POLICY: &str = include_str!("project/guardian.toml");

const FILES: [(&str, &str, u32); 8] = [
    ("README.md", include_str!("project/README.md"), 0o644),
    ("check", include_str!("project/check"), 0o755),
    ("bin/report", include_str!("project/report"), 0o755),
    ("bin/soak", include_str!("project/soak"), 0o755),
    ("src/retry.sh", include_str!("project/retry.sh"), 0o644),
    ("src/ledger.awk", include_str!("project/ledger.awk"), 0o644),
    ("tests/retry.sh", include_str!("project/test_retry.sh"), 0o644),
    ("tests/ledger.sh", include_str!("project/test_ledger.sh"), 0o644),
];
const INVOICES: u32 = 600;
const CUSTOMERS: [&str; 12] = [
    "acorn", "birch", "cedar", "dogwood", "elder", "fir", "gorse", "hazel", "iris", "juniper", "kelp",
    "linden",
];

/// Lays it out.
pub(super) fn lay_out(dir: &Path) -> Result<()> {
    for (name, text, mode) in FILES {
        write(&dir.join(name), text, mode)?;
    }
    write(&dir.join("data/invoices.csv"), &invoices(), 0o644)?;
    fs::create_dir_all(dir.join("docs")).context("lay out the project")?;
    version(dir);
    Ok(())
}

fn write(path: &Path, text: &str, mode: u32) -> Result<()> {
    let at = || format!("write `{}`", path.display());
    path.parent().map(fs::create_dir_all).transpose().with_context(at)?;
    fs::write(path, text).with_context(at)?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).with_context(at)
}

/// The same invoices every time.
fn invoices() -> String {
    let mut text = "number,customer,date,amount\n".to_owned();
    let mut state = 7_u32;
    for number in 1..=INVOICES {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (chance, day) = (state >> 8, number / 20 + 1);
        let customer = CUSTOMERS.get(chance as usize % CUSTOMERS.len()).copied().unwrap_or("acorn");
        let (euros, cents) = (chance % 1900, chance % 97);
        // Writing to a string does not fail.
        let _written = writeln!(text, "{number},{customer},2026-10-{:02},{euros}.{cents:02}", day.min(31));
    }
    text
}

/// Puts it under version control, where there is git, with an origin that goes along into sandboxes. Without git the agents that want it find
/// that out themselves.
fn version(dir: &Path) {
    let origin = dir.join(".git/origin.git");
    let origin = origin.to_string_lossy().into_owned();
    let git = |words: &[&str]| {
        let quiet = Command::new("git")
            .current_dir(dir)
            .args([
                "-c",
                "user.name=demo",
                "-c",
                "user.email=demo@example.org",
                "-c",
                "init.defaultBranch=main",
            ])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        quiet.is_ok_and(|status| status.success())
    };
    let _as_far_as_it_goes = git(&["init", "-q"])
        && git(&["add", "-A"])
        && git(&["commit", "-qm", "tally 0.3.0"])
        && git(&["init", "-q", "--bare", &origin])
        && git(&["remote", "add", "origin", &origin])
        && git(&["push", "-q", "origin", "main", "main:release-0.3"]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_has_the_bug_the_scripts_are_about() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().join("tally");
        lay_out(&project).unwrap();
        let checked = |name: &str| Command::new("./check").arg(name).current_dir(&project).output().unwrap();
        assert!(checked("ledger").status.success());
        let retry = checked("retry");
        assert!(!retry.status.success());
        assert!(String::from_utf8_lossy(&retry.stdout).contains("caps_at_max_delay ... FAILED"));
    }
}
