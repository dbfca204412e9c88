//! Builds the dashboard, where npm is there, and hands its files to the crate; where it is not, hands over why.
//!
//! Owns: the copy of `web/` below `OUT_DIR` in which npm works, so that nothing is written beside the sources. Refuses
//! to fail: everything but the page works without it. `BELLJAR_WEB=skip` leaves it out, any other value tries again.

use std::{
    env,
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const WEB: &str = "../../web";
/// What the bundle is made of, below `web/`.
const SOURCES: [&str; 7] =
    ["index.html", "package.json", "package-lock.json", "vite.config.ts", "public", "scripts", "src"];
/// Of what npm said, this much is told.
const TOLD: usize = 600;

fn main() -> Result<(), String> {
    println!("cargo::rustc-check-cfg=cfg(no_dashboard)");
    println!("cargo::rerun-if-env-changed=BELLJAR_WEB");
    for source in SOURCES {
        println!("cargo::rerun-if-changed={WEB}/{source}");
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("OUT_DIR is not set")?);
    let table = match build(&out.join("web")) {
        Ok(files) => listed(&files),
        Err(why) => {
            println!("cargo::rustc-cfg=no_dashboard");
            if env::var_os("BELLJAR_WEB").is_none_or(|wish| wish != "skip") {
                println!("cargo::warning=the dashboard is left out: {}", why.replace('\n', " "));
            }
            format!(
                "pub(super) static FILES: &[File] = &[];\npub(super) static MISSING: Option<&str> = Some({why:?});\n"
            )
        }
    };
    fs::write(out.join("dashboard.rs"), table).map_err(|error| format!("write the table of files: {error}"))
}

/// Builds the page and lists its files; or says in a sentence why there is none.
fn build(work: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    if env::var_os("BELLJAR_WEB").is_some_and(|wish| wish == "skip") {
        return Err("it was built with BELLJAR_WEB=skip".to_owned());
    }
    if Command::new("npm").arg("--version").output().is_err() {
        return Err("npm was not there when belljar was built; install Node.js 20.19 or newer and build again with BELLJAR_WEB=build".to_owned());
    }
    copy_sources(work).map_err(|error| format!("its sources could not be copied: {error}"))?;
    install(work)?;
    let dist = work.join("dist");
    npm(work, &["run", "bundle"], "could not be built", |command| {
        command.env("BELLJAR_WEB_OUT", &dist);
    })?;
    let mut files = Vec::new();
    collect(&dist, "", &mut files).map_err(|error| format!("what was built could not be listed: {error}"))?;
    files.sort();
    Ok(files)
}

/// Installs what the lock file names, unless that was done before.
fn install(work: &Path) -> Result<(), String> {
    let lock = fs::read(work.join("package-lock.json")).map_err(|error| error.to_string())?;
    let done = work.join("node_modules/.installed");
    if fs::read(&done).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    // Not `ci`, which refuses a lock file that leaves out other platforms' builds of a package. This is a copy, and what
    // the lock file names has the version and the checksum it says.
    let words = ["install", "--omit=dev", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1"];
    npm(work, &words, "could not be installed", |_| {})?;
    fs::write(done, lock).map_err(|error| error.to_string())
}

fn npm(work: &Path, words: &[&str], failure: &str, set: impl FnOnce(&mut Command)) -> Result<(), String> {
    let mut command = Command::new("npm");
    command.current_dir(work).args(words);
    set(&mut command);
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("`npm {}` failed, so it {failure}: {}", words.join(" "), said(&output))),
        Err(error) => Err(format!("`npm {}` could not be started: {error}", words.join(" "))),
    }
}

/// What npm complained about, on one line.
fn said(output: &Output) -> String {
    let all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let all = String::from_utf8_lossy(&all);
    let complaints: Vec<&str> = all.lines().filter(|line| !line.starts_with("npm warn")).collect();
    let words = complaints.join(" ").replace("npm error", " ");
    words.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(TOLD).collect()
}

fn copy_sources(work: &Path) -> io::Result<()> {
    for source in SOURCES {
        let (from, to) = (Path::new(WEB).join(source), work.join(source));
        if from.is_dir() {
            // A file that is gone must not be built any more.
            if to.exists() {
                fs::remove_dir_all(&to)?;
            }
            copy_directory(&from, &to)?;
        } else {
            fs::create_dir_all(work)?;
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

fn copy_directory(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_directory(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

fn collect(directory: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = format!("{prefix}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &name, files)?;
        } else {
            files.push((name, entry.path()));
        }
    }
    Ok(())
}

/// The table of files as Rust: each with its compressed forms, or as it is where it has none.
fn listed(files: &[(String, PathBuf)]) -> String {
    let mut table = String::from(
        "pub(super) static MISSING: Option<&str> = None;\npub(super) static FILES: &[File] = &[\n",
    );
    let find = |name: &str| files.iter().find(|(known, _)| known == name).map(|(_, path)| path);
    for (name, path) in files.iter().filter(|(name, _)| !name.ends_with(".br") && !name.ends_with(".gz")) {
        let body = match (find(&format!("{name}.br")), find(&format!("{name}.gz"))) {
            (Some(br), Some(gz)) => {
                format!("Body::Packed {{ br: include_bytes!({br:?}), gz: include_bytes!({gz:?}) }}")
            }
            _ => format!("Body::Plain(include_bytes!({path:?}))"),
        };
        let immutable = name.starts_with("/assets/");
        let _written = writeln!(
            table,
            "    File {{ path: {name:?}, media_type: {:?}, immutable: {immutable}, body: {body} }},",
            media_type(name)
        );
    }
    table.push_str("];\n");
    table
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        Some("webmanifest") => "application/manifest+json",
        _ => "application/octet-stream",
    }
}
