//! `belljar guardian add-acl` and `belljar add-acl`: a directory is given or kept, in guardian.toml.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use belljar_guardian::policy::{Access, Acl, Policy};
use serde_json::json;

use crate::{
    args::{AccessWord, AddAcl, GiveVolume, MountMode},
    context::Context,
    output::print_json,
    policy,
};

pub(super) fn add(context: &Context, args: &AddAcl) -> Result<ExitCode> {
    let access = match args.access {
        AccessWord::None => Access::None,
        AccessWord::Read => Access::Read,
        AccessWord::Write => Access::Write,
    };
    let acl = Acl { path: args.path.clone(), access, agent: args.agent.clone() };
    let path = write(context, std::slice::from_ref(&acl))?;
    if context.json {
        print_json(&json!({ "file": path, "acl": acl }))?;
    } else {
        show(&path, &acl)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// `belljar add-acl`: the same by both names of a mount, and with patterns.
pub(crate) fn give(context: &Context, args: &GiveVolume) -> Result<ExitCode> {
    let access = match args.mode {
        MountMode::Ro => Access::Read,
        MountMode::Rw => Access::Write,
    };
    let mut all = Vec::new();
    let inside = args.container.as_ref().filter(|inside| **inside != args.host);
    for base in [Some(&args.host), inside].into_iter().flatten() {
        let mut put = |path: String, access| all.push(Acl { path, access, agent: args.agent.clone() });
        let base = if base == "/" { base } else { base.trim_end_matches('/') };
        // Of entries about a path the one that names most of it speaks.
        put(base.to_owned(), if args.allowed.is_empty() { access } else { Access::None });
        args.allowed.iter().for_each(|pattern| put(below(base, pattern), access));
        args.blocked.iter().for_each(|pattern| put(below(base, pattern), Access::None));
    }
    let path = write(context, &all)?;
    if context.json {
        print_json(&json!({ "file": path, "acl": all }))?;
    } else {
        all.iter().try_for_each(|acl| show(&path, acl))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A pattern within a directory: without a slash it is a name, wherever that is.
fn below(base: &str, pattern: &str) -> String {
    let base = base.trim_end_matches('/');
    let pattern = pattern.trim_start_matches('/');
    if pattern.contains('/') { format!("{base}/{pattern}") } else { format!("{base}/**/{pattern}") }
}

fn show(path: &Path, acl: &Acl) -> Result<()> {
    let entry = toml::to_string(acl)?;
    Ok(writeln!(io::stdout(), "{}: {}", path.display(), entry.trim_end().replace('\n', ", "))?)
}

/// Puts entries to guardian.toml, all or none, and says where that is.
fn write(context: &Context, entries: &[Acl]) -> Result<PathBuf> {
    let before = policy::read(&context.home).context("nothing is put to a policy that is wrong")?;
    let path = policy::written(&context.home);
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    for acl in entries {
        if let Some(there) =
            before.acl.iter().find(|there| there.path == acl.path && there.agent == acl.agent)
        {
            let word = json!(there.access);
            bail!(
                "`{}` is given with `{}` already; change it in guardian.toml",
                acl.path,
                word.as_str().unwrap_or("?")
            );
        }
        text.push_str(&format!("\n[[acl]]\n{}", toml::to_string(acl)?));
    }
    // What would not be good is not written.
    let after: Policy = toml::from_str(&text).context("put the entry to guardian.toml")?;
    after.check()?;
    fs::create_dir_all(&context.home)?;
    let draft = path.with_extension(format!("toml.{}", std::process::id()));
    fs::write(&draft, &text)
        .and_then(|()| fs::rename(&draft, &path))
        .with_context(|| format!("write `{}`", path.display()))?;
    Ok(path)
}
