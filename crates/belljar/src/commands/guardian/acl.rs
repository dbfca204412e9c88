//! `belljar guardian add-acl`: a directory is given or kept, in guardian.toml.

use std::{
    fs,
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use belljar_guardian::policy::{Access, Acl, Policy};
use serde_json::json;

use crate::{
    args::{AccessWord, AddAcl},
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
    let before = policy::read(&context.home).context("nothing is put to a policy that is wrong")?;
    if let Some(there) = before.acl.iter().find(|there| there.path == acl.path && there.agent == acl.agent) {
        let word = json!(there.access);
        bail!(
            "`{}` is given with `{}` already; change it in guardian.toml",
            acl.path,
            word.as_str().unwrap_or("?")
        );
    }
    let path = policy::written(&context.home);
    let mut text = fs::read_to_string(&path).unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let entry = toml::to_string(&acl)?;
    text.push_str(&format!("\n[[acl]]\n{entry}"));
    // What would not be good is not written.
    let after: Policy = toml::from_str(&text).context("put the entry to guardian.toml")?;
    after.check()?;
    fs::create_dir_all(&context.home)?;
    let draft = path.with_extension(format!("toml.{}", std::process::id()));
    fs::write(&draft, &text)
        .and_then(|()| fs::rename(&draft, &path))
        .with_context(|| format!("write `{}`", path.display()))?;
    if context.json {
        print_json(&json!({ "file": path, "acl": acl }))?;
    } else {
        writeln!(io::stdout(), "{}: {}", path.display(), entry.trim_end().replace('\n', ", "))?;
    }
    Ok(ExitCode::SUCCESS)
}
