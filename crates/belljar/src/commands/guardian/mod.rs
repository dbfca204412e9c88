//! `belljar guardian`: the policy, asked about and changed.

mod acl;
mod batch;
mod check;
mod count;
mod rules;
mod status;
mod suggest;

use std::{env, path::Path, process::ExitCode};

use anyhow::{Context as _, Result};
use belljar_guardian::policy::{Policy, Reach, Scene, Walls};

use crate::{
    args::{Guardian, NetworkReach, Surroundings, Where},
    context::Context,
    output::remark,
    policy,
};

pub(crate) use acl::give;
pub(crate) use count::count;

pub(crate) fn guardian(context: &Context, command: Guardian) -> Result<ExitCode> {
    match command {
        Guardian::Status => status::status(context),
        Guardian::Check(args) => match &args.batch {
            Some(file) => batch::batch(context, file, &args.surroundings),
            None => check::check(context, &args, check::Depth::Ruling),
        },
        Guardian::Explain(args) => match &args.batch {
            Some(file) => batch::batch(context, file, &args.surroundings),
            None => check::check(context, &args, check::Depth::Everything),
        },
        Guardian::Test => rules::test(context),
        Guardian::Rules { name } => rules::rules(context, name.as_deref()),
        Guardian::Lint => rules::lint(context),
        Guardian::Suggest(args) => suggest::suggest(context, &args),
        Guardian::AddAcl(args) => acl::add(context, &args),
    }
}

/// The policy that would be in force: what is written, else the last good one, said loudly.
fn in_force(context: &Context) -> Policy {
    match policy::read(&context.home) {
        Ok(policy) => policy,
        Err(unusable) => {
            remark(&format!("{unusable}; the last good policy is in force"));
            policy::in_force(&context.home)
        }
    }
}

/// Where a call would be made, as the flags say it.
fn scene(context: &Context, flags: &Surroundings) -> Result<Scene> {
    let text = |path: &Path| path.to_str().map(str::to_owned).context("a path that is not valid UTF-8");
    let cwd = match &flags.cwd {
        Some(cwd) => text(cwd)?,
        None => text(&env::current_dir().context("find the current directory")?)?,
    };
    let home = match &flags.user_home {
        Some(home) => Some(text(home)?),
        None => context.env.get("HOME").cloned(),
    };
    let workspace = flags.workspace.as_deref().map(text).transpose()?;
    let scene = Scene::on_host(Some(&cwd), home.as_deref(), workspace.as_deref());
    let scene = Scene { agent: flags.agent.clone(), ..scene };
    Ok(match flags.context {
        Where::Host => scene,
        Where::Sandbox => scene.behind(Walls {
            network: match flags.network {
                NetworkReach::None => Reach::Nowhere,
                NetworkReach::Allowlist => Reach::Listed,
                NetworkReach::Open => Reach::Anywhere,
            },
        }),
    })
}

/// The directory and home of a scene, as a call has them.
fn places(scene: &Scene) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&scene.context.cwd), text(&scene.context.home))
}
