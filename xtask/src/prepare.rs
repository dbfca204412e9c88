//! Making a machine able to run every test: finds what is missing, installs it, or says exactly what to do.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, bail};

use crate::{
    needs::{
        BROWSER_PACKAGES, CLAUDE_BINARIES, CLAUDE_PACKAGE, COMPONENTS, MCP_PACKAGE, NEEDS, Need, Probe,
        SCHEMATHESIS_PACKAGE, Weight, claude_version,
    },
    shell::{self, Workspace},
};

/// What may be done to the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Install what is missing.
    Install,
    /// Only look.
    Verify,
}

/// How packages can be installed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Installer {
    /// `apt-get`, as root.
    Root,
    /// `apt-get` through `sudo`.
    Sudo,
    /// An ordinary user without `sudo`.
    NoRights,
    /// No `apt-get` on this machine.
    NoApt,
}

/// Makes every tool of [`NEEDS`] present, or fails with the remedy.
pub(crate) fn tools(mode: Mode) -> anyhow::Result<()> {
    let absent = missing();
    if !absent.is_empty() && mode == Mode::Install {
        install(&absent);
    }
    let absent = missing();
    for need in absent.iter().filter(|need| need.weight == Weight::Optional) {
        println!("without {} (optional): {}", need.package, need.reason);
    }
    match remedy(&absent, installer()) {
        None => {
            println!("every required tool is present");
            Ok(())
        }
        Some(remedy) => bail!(remedy),
    }
}

/// Makes the toolchain complete, or fails with the remedy.
pub(crate) fn toolchain(workspace: &Workspace) -> anyhow::Result<()> {
    let is_absent = |command: &str| !shell::succeeds(&mut workspace.cargo(&[command, "--version"]));
    for (component, _) in COMPONENTS.into_iter().filter(|(_, command)| is_absent(command)) {
        let mut rustup = Command::new("rustup");
        rustup.current_dir(&workspace.root).args(["component", "add", component]);
        shell::run(&mut rustup).with_context(|| {
            format!("the toolchain lacks {component}; add it with `rustup component add {component}`, or from where this toolchain came")
        })?;
    }
    Ok(())
}

/// The real Claude Code: the one the caller names, else the one in the cache, else a fresh one from npm.
pub(crate) fn claude(cache: &Path, mode: Mode, named: Option<OsString>) -> anyhow::Result<PathBuf> {
    if let Some(named) = named.map(PathBuf::from) {
        if !shell::is_executable(&named) {
            bail!("BELLJAR_TEST_CLAUDE names `{}`, which is no executable file", named.display());
        }
        return Ok(named);
    }
    // Another version lies in another directory, so that an old one is never taken for this one.
    let (version, package) = (claude_version(), format!("{CLAUDE_PACKAGE}@{}", claude_version()));
    let home = cache.join(format!("claude-code-{version}"));
    if let Some(found) = claude_below(&home) {
        return Ok(found);
    }
    let remedy = format!("npm install --prefix {} {package}", home.display());
    if mode == Mode::Verify {
        bail!("Claude Code {version} is not in the cache; run `{remedy}`");
    }
    fs::create_dir_all(&home).with_context(|| format!("could not create {}", home.display()))?;
    let mut npm = Command::new("npm");
    npm.current_dir(&home).args(["install", "--no-fund", "--no-audit", "--prefix"]).arg(&home);
    shell::run(npm.arg(&package)).with_context(|| {
        format!("Claude Code could not be installed; once npm works here, run `{remedy}`")
    })?;
    claude_below(&home).with_context(|| {
        format!("npm installed {package} without a native program for this processor in {}; set BELLJAR_TEST_CLAUDE to one", home.display())
    })
}

/// schemathesis: the one the caller names, else the one in the cache, else a fresh one from PyPI in its own environment.
pub(crate) fn schemathesis(cache: &Path, mode: Mode, named: Option<OsString>) -> anyhow::Result<PathBuf> {
    if let Some(named) = named.map(PathBuf::from) {
        if !shell::is_executable(&named) {
            bail!("BELLJAR_TEST_SCHEMATHESIS names `{}`, which is no executable file", named.display());
        }
        return Ok(named);
    }
    let home = cache.join("schemathesis");
    let program = home.join("bin/schemathesis");
    if shell::is_executable(&program) {
        return Ok(program);
    }
    let pip = home.join("bin/pip");
    let remedy =
        format!("python3 -m venv {} && {} install {SCHEMATHESIS_PACKAGE}", home.display(), pip.display());
    if mode == Mode::Verify {
        bail!("schemathesis is not in the cache; run `{remedy}`");
    }
    shell::run(Command::new("python3").args(["-m", "venv"]).arg(&home))
        .and_then(|()| shell::run(Command::new(&pip).args(["install", "--quiet", SCHEMATHESIS_PACKAGE])))
        .with_context(|| {
            format!("schemathesis could not be installed; once PyPI is reachable, run `{remedy}`")
        })?;
    Ok(program)
}

/// A Python with the official MCP client: the one the caller names, else the one in the cache, else a fresh one.
pub(crate) fn mcp_client(cache: &Path, mode: Mode, named: Option<OsString>) -> anyhow::Result<PathBuf> {
    if let Some(named) = named.map(PathBuf::from) {
        if !shell::is_executable(&named) {
            bail!("BELLJAR_TEST_MCP_PYTHON names `{}`, which is no executable file", named.display());
        }
        return Ok(named);
    }
    let home = cache.join("mcp-client");
    let python = home.join("bin/python");
    let has_client = || shell::succeeds(Command::new(&python).args(["-c", "import mcp"]));
    if shell::is_executable(&python) && has_client() {
        return Ok(python);
    }
    let at = home.display();
    let remedy = format!("python3 -m venv {at} && {at}/bin/pip install {MCP_PACKAGE}");
    if mode == Mode::Verify {
        bail!("the MCP client is not in the cache; run `{remedy}`");
    }
    let install = || -> anyhow::Result<()> {
        shell::run(Command::new("python3").args(["-m", "venv"]).arg(&home))?;
        shell::run(Command::new(&python).args(["-m", "pip", "install", "--quiet", MCP_PACKAGE]))
    };
    install().with_context(|| format!("the MCP client could not be installed; run `{remedy}`"))?;
    Ok(python)
}

/// Where the packages are that drive the browser: where the caller says, else in the cache, where they are put.
pub(crate) fn browser(cache: &Path, mode: Mode, named: Option<OsString>) -> anyhow::Result<PathBuf> {
    if let Some(named) = named.map(PathBuf::from) {
        if !named.join("node_modules/playwright-core").is_dir() {
            bail!("BELLJAR_TEST_BROWSER names `{}`, which has no playwright-core", named.display());
        }
        return Ok(named);
    }
    let home = cache.join("browser");
    let is_there = |package: &str| {
        let (name, version) = package.split_once('@').unwrap_or((package, ""));
        let manifest = fs::read_to_string(home.join("node_modules").join(name).join("package.json"));
        manifest.is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
    };
    if BROWSER_PACKAGES.into_iter().all(is_there) {
        return Ok(home);
    }
    let remedy = format!("npm install --prefix {} {}", home.display(), BROWSER_PACKAGES.join(" "));
    if mode == Mode::Verify {
        bail!("what drives the browser is not in the cache; run `{remedy}`");
    }
    fs::create_dir_all(&home).with_context(|| format!("could not create {}", home.display()))?;
    let mut npm = Command::new("npm");
    npm.current_dir(&home).args(["install", "--no-fund", "--no-audit", "--prefix"]).arg(&home);
    shell::run(npm.args(BROWSER_PACKAGES))
        .with_context(|| format!("what drives the browser could not be installed; run `{remedy}`"))?;
    Ok(home)
}

fn claude_below(home: &Path) -> Option<PathBuf> {
    let modules = home.join("node_modules");
    CLAUDE_BINARIES.iter().map(|binary| modules.join(binary)).find(|path| shell::is_executable(path))
}

fn missing() -> Vec<&'static Need> {
    NEEDS.iter().filter(|need| !is_present(need.probe)).collect()
}

fn is_present(probe: Probe) -> bool {
    match probe {
        Probe::Binary(name) => shell::find(name).is_some(),
        Probe::Succeeds(words) => words
            .split_first()
            .is_some_and(|(program, arguments)| shell::succeeds(Command::new(program).args(arguments))),
    }
}

/// Tries; whether it helped is seen by looking again, so a failure here is only told.
fn install(absent: &[&Need]) {
    let installer = installer();
    if matches!(installer, Installer::NoApt | Installer::NoRights) {
        return;
    }
    for words in apt_commands(absent, installer) {
        let Some((program, arguments)) = words.split_first() else { continue };
        if let Err(error) = shell::run(Command::new(program).args(arguments)) {
            eprintln!("{error:#}");
        }
    }
}

fn installer() -> Installer {
    // The owner of /proc/self is the effective user of this process.
    let is_root = fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    match (shell::find("apt-get"), is_root, shell::find("sudo")) {
        (None, _, _) => Installer::NoApt,
        (Some(_), true, _) => Installer::Root,
        (Some(_), false, Some(_)) => Installer::Sudo,
        (Some(_), false, None) => Installer::NoRights,
    }
}

/// The commands that install what is absent: the required together, each optional one alone, so that a
/// release without an optional package still gets the rest.
fn apt_commands(absent: &[&Need], installer: Installer) -> Vec<Vec<&'static str>> {
    let apt = |words: &[&'static str]| -> Vec<&'static str> {
        let sudo: &[&str] = if installer == Installer::Sudo { &["sudo"] } else { &[] };
        [sudo, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"], words].concat()
    };
    let add =
        |packages: &[&'static str]| apt(&[&["install", "-y", "--no-install-recommends"], packages].concat());
    let mut commands = vec![apt(&["update"])];
    let required = packages(absent, Weight::Required);
    if !required.is_empty() {
        commands.push(add(&required));
    }
    commands.extend(packages(absent, Weight::Optional).into_iter().map(|package| add(&[package])));
    commands
}

/// What to tell the user about required tools that are still missing; nothing if none is.
fn remedy(absent: &[&Need], installer: Installer) -> Option<String> {
    let required = packages(absent, Weight::Required);
    if required.is_empty() {
        return None;
    }
    let list = required.join(" ");
    let act = match installer {
        Installer::Root => format!("run `apt-get update && apt-get install -y {list}`"),
        Installer::Sudo => format!("run `sudo apt-get update && sudo apt-get install -y {list}`"),
        Installer::NoRights => format!("as root, run `apt-get update && apt-get install -y {list}`"),
        Installer::NoApt => format!(
            "there is no apt-get on this machine; install with its package manager what Debian calls: {list}"
        ),
    };
    let mut text = String::from("the tests need tools that are missing:\n");
    for need in absent.iter().filter(|need| need.weight == Weight::Required) {
        text.push_str(&format!("  {}: {}\n", need.package, need.reason));
    }
    Some(text + &act)
}

fn packages(needs: &[&Need], weight: Weight) -> Vec<&'static str> {
    needs.iter().filter(|need| need.weight == weight).map(|need| need.package).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn needs_named(names: &[&str]) -> Vec<&'static Need> {
        NEEDS.iter().filter(|need| names.contains(&need.package)).collect()
    }

    fn spoken(commands: Vec<Vec<&str>>) -> Vec<String> {
        commands.into_iter().map(|words| words.join(" ")).collect()
    }

    #[test]
    fn required_packages_are_installed_together_and_optional_ones_alone() {
        let apt = "env DEBIAN_FRONTEND=noninteractive apt-get";
        assert_eq!(
            spoken(apt_commands(&needs_named(&["git", "npm", "uidmap"]), Installer::Root)),
            [
                format!("{apt} update"),
                format!("{apt} install -y --no-install-recommends git npm"),
                format!("{apt} install -y --no-install-recommends uidmap"),
            ]
        );
        let with_sudo = spoken(apt_commands(&needs_named(&["git"]), Installer::Sudo));
        assert!(with_sudo.iter().all(|command| command.starts_with("sudo env ")), "{with_sudo:?}");
    }

    #[test]
    fn a_missing_required_tool_is_a_remedy_and_an_optional_one_is_not() {
        assert_eq!(remedy(&needs_named(&["uidmap"]), Installer::Root), None);
        let says = |installer| remedy(&needs_named(&["bubblewrap"]), installer).unwrap_or_default();
        assert!(says(Installer::Root).ends_with("run `apt-get update && apt-get install -y bubblewrap`"));
        assert!(says(Installer::Sudo).contains("sudo apt-get install -y bubblewrap"));
        assert!(says(Installer::NoRights).contains("as root, run `apt-get"));
        assert!(says(Installer::NoApt).contains("no apt-get on this machine"));
        assert!(says(Installer::NoApt).contains("yardstick"), "the reason is told");
    }

    #[test]
    fn schemathesis_is_taken_from_the_caller_or_its_remedy_is_told() {
        let cache = tempfile::tempdir().unwrap();
        let refused = schemathesis(cache.path(), Mode::Verify, None).unwrap_err().to_string();
        assert!(refused.contains("pip install schemathesis"), "{refused}");
        let named = schemathesis(cache.path(), Mode::Verify, Some("/bin/sh".into())).unwrap();
        assert_eq!(named, Path::new("/bin/sh"));
    }

    #[test]
    fn claude_is_taken_from_the_caller_then_from_the_cache() {
        let cache = tempfile::tempdir().unwrap();
        let refused = claude(cache.path(), Mode::Verify, None).unwrap_err().to_string();
        assert!(refused.contains("npm install --prefix"), "{refused}");
        assert!(refused.ends_with(&format!("claude-code@{}`", claude_version())), "{refused}");
        let named = claude(cache.path(), Mode::Install, Some("/nowhere/claude".into())).unwrap_err();
        assert!(named.to_string().contains("/nowhere/claude"));

        let install = |home: &str| {
            let binary = cache.path().join(home).join("node_modules").join(CLAUDE_BINARIES[0]);
            fs::create_dir_all(binary.parent().unwrap()).unwrap();
            fs::write(&binary, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
            binary
        };
        install("claude-code-2.1.197");
        assert!(claude(cache.path(), Mode::Verify, None).is_err(), "another version is not taken");
        let binary = install(&format!("claude-code-{}", claude_version()));
        assert_eq!(claude(cache.path(), Mode::Verify, None).unwrap(), binary);
        assert_eq!(claude(cache.path(), Mode::Verify, Some("/bin/sh".into())).unwrap(), Path::new("/bin/sh"));
    }

    #[test]
    fn a_missing_mcp_client_is_told_with_the_remedy() {
        let cache = tempfile::tempdir().unwrap();
        let refused = mcp_client(cache.path(), Mode::Verify, None).unwrap_err().to_string();
        assert!(refused.contains("-m venv") && refused.ends_with("pip install mcp`"), "{refused}");
        let named = mcp_client(cache.path(), Mode::Verify, Some("/bin/sh".into())).unwrap();
        assert_eq!(named, Path::new("/bin/sh"));
    }

    #[test]
    fn what_drives_the_browser_is_told_with_the_remedy_unless_it_is_there() {
        let cache = tempfile::tempdir().unwrap();
        let refused = browser(cache.path(), Mode::Verify, None).unwrap_err().to_string();
        assert!(
            refused.contains("npm install --prefix") && refused.contains("playwright-core@"),
            "{refused}"
        );
        assert!(browser(cache.path(), Mode::Verify, Some("/nowhere".into())).is_err());
        for package in BROWSER_PACKAGES {
            let (name, version) = package.split_once('@').unwrap();
            let module = cache.path().join("browser/node_modules").join(name);
            fs::create_dir_all(&module).unwrap();
            fs::write(module.join("package.json"), format!("{{\n  \"version\": \"{version}\"\n}}")).unwrap();
        }
        assert_eq!(browser(cache.path(), Mode::Verify, None).unwrap(), cache.path().join("browser"));
    }

    #[test]
    fn probes_look_at_the_machine() {
        assert!(is_present(Probe::Binary("sh")));
        assert!(!is_present(Probe::Binary("no-such-program-here")));
        assert!(is_present(Probe::Succeeds(&["sh", "-c", "true"])));
        assert!(!is_present(Probe::Succeeds(&["sh", "-c", "false"])));
        assert!(!is_present(Probe::Succeeds(&[])));
    }
}
