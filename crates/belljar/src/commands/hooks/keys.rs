//! `belljar hooks keys`: whose signatures are known. A key is a file in belljar's home, so a server that runs knows of it
//! at once.

use std::{
    fs::{self, DirBuilder, OpenOptions},
    io::{self, Write as _},
    os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use crate::{args::SenderKeys, context::Context, output::print_json};

pub(super) fn keys(context: &Context, args: &SenderKeys) -> Result<ExitCode> {
    match args {
        SenderKeys::Add { name } => add(context, name)?,
        SenderKeys::List => list(context)?,
        SenderKeys::Remove { name } => remove(context, name)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn add(context: &Context, name: &str) -> Result<()> {
    let path = path(context, name)?;
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir(context))
        .context("make the directory of keys")?;
    let mut bytes = [0_u8; 32];
    rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())
        .context("ask the kernel for random bytes")?;
    let key: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
        Ok(mut file) => {
            file.write_all(format!("{key}\n").as_bytes())
                .and_then(|()| file.sync_all())
                .context("write the key")?;
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("`{name}` has a key; `belljar hooks keys remove {name}` takes it away first")
        }
        Err(error) => return Err(error).with_context(|| format!("write `{}`", path.display())),
    }
    if context.json {
        print_json(&json!({"sender": name, "key": key}))?;
    } else {
        let mut out = io::stdout().lock();
        writeln!(out, "export BELLJAR_SENDER={name}")?;
        writeln!(out, "export BELLJAR_SENDER_KEY={key}")?;
    }
    Ok(())
}

fn list(context: &Context) -> Result<()> {
    let mut names: Vec<String> = match fs::read_dir(dir(context)) {
        Ok(entries) => entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".key").map(str::to_owned))
            .collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(error).context("read the directory of keys"),
    };
    names.sort();
    if context.json {
        print_json(&json!({ "senders": names }))?;
        return Ok(());
    }
    let mut out = io::stdout().lock();
    for name in names {
        writeln!(out, "{name}")?;
    }
    Ok(())
}

fn remove(context: &Context, name: &str) -> Result<()> {
    match fs::remove_file(path(context, name)?) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!("`{name}` has no key"),
        other => other.with_context(|| format!("remove the key of `{name}`"))?,
    }
    if context.json {
        print_json(&json!({"sender": name, "removed": true}))?;
    }
    Ok(())
}

fn dir(context: &Context) -> PathBuf {
    context.home.join("senders")
}

fn path(context: &Context, name: &str) -> Result<PathBuf> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if name.is_empty() || name.len() > 64 || !name.bytes().all(is_plain) {
        bail!("`{name}` is no name for a sender; use up to 64 letters, digits, `-` and `_`");
    }
    Ok(dir(context).join(format!("{name}.key")))
}
