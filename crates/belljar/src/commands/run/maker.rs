//! Who makes the sandbox of a run: the server where one is up, so that it is in its ledger and logs, else this process.
//!
//! Owns: that `run` is the same either way. Refuses: words for people.

use anyhow::{Context as _, Result};
use belljar_domain::{ExecSpec, ExecutionId, KillCause, SandboxSpec, Span, TemplateRef};
use belljar_ports::{Keep, Sandbox, SandboxProvider as _};

use super::super::{
    exec::served,
    follow::{self, Done, View},
};
use crate::{
    args::{Run, host_path},
    client::Client,
    context::{Context, new_sandbox_id},
    observe,
    sandboxes::order,
};

/// How long a sandbox of the server's outlives a run that was killed.
const LEFT: Span = Span::seconds(60);

/// See the module.
pub(super) enum Maker {
    Own,
    Server(Client),
}

impl Maker {
    pub(super) fn choose(context: &Context, args: &Run) -> Self {
        let server = if args.direct { None } else { Client::at_home(&context.home) };
        server.map_or(Self::Own, Self::Server)
    }

    /// Makes it. What an agent in it tells is heard by this process, whoever made it.
    pub(super) fn make(
        &self,
        context: &Context,
        spec: &SandboxSpec,
        keep: Keep,
        is_observed: bool,
    ) -> Result<Box<dyn Sandbox>> {
        let provider = context.provider()?;
        let mut spec = spec.clone();
        let Self::Server(server) = self else {
            if is_observed {
                observe::prepare(context, &mut spec)?;
            }
            return Ok(provider.create(new_sandbox_id(), &spec, keep)?);
        };
        if let TemplateRef::Path(path) = &spec.template {
            // The server works elsewhere.
            spec.template = TemplateRef::Path(host_path(path)?.as_path().to_owned());
        }
        if keep == Keep::WithMaker {
            spec.clocks.idle = LEFT;
        }
        let mut order = order(&spec);
        if let Some(order) = order.as_object_mut().filter(|_| is_observed) {
            order.insert("observe".to_owned(), true.into());
        }
        let made = server.create(&order)?;
        provider.find(made.id).context("find the sandbox the server made")
    }

    pub(super) fn follow(
        &self,
        context: &Context,
        sandbox: &dyn Sandbox,
        (execution, exec): (Option<ExecutionId>, ExecSpec),
        view: View,
    ) -> Result<Done> {
        let Self::Server(server) = self else { return follow::follow(context, sandbox, exec, view) };
        let info = sandbox.info();
        // The server has another environment than this shell.
        let mut env = context.provider()?.taken_over(&info.spec);
        env.extend(info.spec.env);
        env.extend(exec.env);
        served::follow(server, info.id, (execution, ExecSpec { env, ..exec }), view)
    }

    /// Ends it and keeps what it changed.
    pub(super) fn stop(&self, sandbox: &dyn Sandbox, cause: Option<KillCause>) -> Result<()> {
        match self {
            Self::Own => Ok(sandbox.stop(cause)?),
            Self::Server(server) => Ok(server.stop(sandbox.info().id)?),
        }
    }

    /// Ends it and keeps nothing; nobody waits until all of it is gone.
    pub(super) fn abandon(&self, sandbox: Box<dyn Sandbox>) -> Result<()> {
        match self {
            Self::Own => Ok(sandbox.abandon()?),
            Self::Server(server) => Ok(server.delete(sandbox.info().id)?),
        }
    }

    /// The same, and all of it is gone.
    pub(super) fn destroy(&self, sandbox: &dyn Sandbox) -> Result<()> {
        match self {
            Self::Own => Ok(sandbox.destroy()?),
            Self::Server(server) => Ok(server.delete(sandbox.info().id)?),
        }
    }
}
