//! Making, showing, changing and ending sandboxes.

use belljar_domain::{HostPath, SandboxId, SandboxPath, SandboxState, Span, TemplateRef};
use belljar_engine::service::{CreateSandbox, SandboxView};
use belljar_ports::store::SandboxFilter;
use serde_json::Value;

use super::{
    arguments::{Configure, Create, List, SortBy, SortOrder, StatusFilter, Target},
    execute::cpu_seconds,
    failure::{Outcome, ToolFailure},
    results::{Configured, Created, Ended, Listed, Sandbox, Status, Step},
    tools::Call,
};

/// The most packages or commands of one call.
const MOST_STEPS: usize = 64;
/// How long what is run on behalf of a tool may take.
const SETUP: Span = Span::seconds(600);
const WEEK: u64 = 7 * 24 * 3600;

impl Call {
    pub(super) async fn create(&self, asked: Create) -> Outcome<Created> {
        if !(1..=WEEK).contains(&asked.timeout) {
            return Err(ToolFailure::invalid(format!("`timeout` must be from 1 to {WEEK} seconds")));
        }
        let template: TemplateRef =
            asked.template.parse().map_err(|error| ToolFailure::invalid(format!("{error}")))?;
        let network = asked.network.as_deref().map(str::parse).transpose();
        let install = install(&asked.template, &asked.install_packages)?;
        let workspace = asked.workspace.map(HostPath::new).transpose();
        let order = CreateSandbox {
            name: asked.name,
            template: Some(template),
            network: network.map_err(|error| ToolFailure::invalid(format!("`network`: {error}")))?,
            workspace: workspace.map_err(|error| ToolFailure::invalid(format!("`workspace`: {error}")))?,
            ttl: Some(Span::seconds(asked.timeout)),
            // An agent may think for long between two calls; the sandbox's life is what it asked for.
            idle: Some(Span::seconds(asked.timeout)),
            env: asked.env_vars.clone(),
            metadata: Value::Object(asked.metadata),
            ..CreateSandbox::default()
        };
        let view = self.ask(move |service, who| service.create(who, order)).await?;
        self.note_made(view.id);
        let steps = install.into_iter().chain(asked.startup_script);
        let setup = self.steps(view.id, steps.collect()).await?;
        Ok(Created {
            success: setup.iter().all(|step| step.exit_code == 0),
            sandbox_id: view.id.to_string(),
            e2b_sandbox_id: view.id.to_string(),
            name: view.name,
            template: asked.template,
            status: view.state.to_string(),
            env_vars_configured: asked.env_vars.into_keys().collect(),
            packages_to_install: asked.install_packages,
            timeout: asked.timeout,
            metadata: view.metadata,
            url: self.url(view.id),
            created_at: view.created.to_string(),
            setup,
        })
    }

    pub(super) async fn configure(&self, asked: Configure) -> Outcome<Configured> {
        let id = sandbox(&asked.sandbox_id)?;
        if asked.run_commands.len() > MOST_STEPS {
            return Err(ToolFailure::invalid(format!("at most {MOST_STEPS} commands at one time")));
        }
        let view = self.ask(move |service, who| service.sandbox(who, id)).await?;
        let install = install(&view.spec.template.to_string(), &asked.install_packages)?;
        let names = asked.env_vars.keys().cloned().collect();
        if !asked.env_vars.is_empty() {
            self.ask(move |service, who| service.set_env(who, id, asked.env_vars)).await?;
        }
        let setup = self.steps(id, install.into_iter().chain(asked.run_commands).collect()).await?;
        let success = setup.iter().all(|step| step.exit_code == 0);
        Ok(Configured { success, sandbox_id: id.to_string(), env_vars_configured: names, setup })
    }

    /// Runs commands in order, until one fails.
    async fn steps(&self, id: SandboxId, commands: Vec<String>) -> Outcome<Vec<Step>> {
        let mut done = Vec::new();
        for command in commands {
            let step = self.step(id, command, SETUP).await?;
            let failed = step.exit_code != 0;
            done.push(step);
            if failed {
                break;
            }
        }
        Ok(done)
    }

    pub(super) async fn status(&self, asked: Target) -> Outcome<Status> {
        let id = sandbox(&asked.sandbox_id)?;
        let (view, usage) = self
            .ask(move |service, who| {
                let view = service.sandbox(who, id)?;
                // One that is over cannot be measured any more.
                Ok((view, service.usage(who, id).unwrap_or_default()))
            })
            .await?;
        let limits = view.spec.limits;
        Ok(Status {
            network: view.spec.network.to_string(),
            isolation: view.isolation.to_string(),
            memory_used: usage.memory_bytes,
            memory_limit: limits.memory.as_bytes(),
            disk_used: usage.disk_bytes,
            disk_limit: limits.disk.as_bytes(),
            cpu_time: cpu_seconds(usage.cpu_micros),
            processes: usage.pids,
            sandbox: described(view),
        })
    }

    pub(super) async fn stop(&self, asked: Target) -> Outcome<Ended> {
        let id = sandbox(&asked.sandbox_id)?;
        let view = self.ask(move |service, who| service.stop(who, id)).await?;
        Ok(Ended { success: true, sandbox_id: id.to_string(), status: view.state.to_string() })
    }

    pub(super) async fn delete(&self, asked: Target) -> Outcome<Ended> {
        let id = sandbox(&asked.sandbox_id)?;
        self.ask(move |service, who| service.delete(who, id)).await?;
        self.note_gone(id);
        Ok(Ended { success: true, sandbox_id: id.to_string(), status: "destroyed".to_owned() })
    }

    pub(super) async fn list(&self, asked: List) -> Outcome<Listed> {
        let states = match asked.status {
            Some(StatusFilter::Running) => vec![SandboxState::Creating, SandboxState::Running],
            Some(StatusFilter::Paused) => vec![SandboxState::Paused],
            Some(StatusFilter::Stopped) => {
                vec![SandboxState::Stopping, SandboxState::Stopped, SandboxState::Failed]
            }
            Some(StatusFilter::All) => Vec::new(),
            None => vec![SandboxState::Creating, SandboxState::Running, SandboxState::Paused],
        };
        let filter = SandboxFilter { states, template: asked.template, ..SandboxFilter::default() };
        let limit = asked.limit.clamp(1, 100);
        let views = self.ask(move |service, who| service.sandboxes(who, filter, None, limit)).await?;
        let mut sandboxes: Vec<Sandbox> = views.into_iter().map(described).collect();
        match asked.sort_by {
            SortBy::CreatedAt => sandboxes.sort_by(|a, b| a.created_at.cmp(&b.created_at)),
            SortBy::Name => sandboxes.sort_by(|a, b| a.name.cmp(&b.name)),
            SortBy::Status => sandboxes.sort_by(|a, b| a.status.cmp(&b.status)),
        }
        if asked.order == SortOrder::Desc {
            sandboxes.reverse();
        }
        Ok(Listed { count: sandboxes.len(), sandboxes })
    }
}

fn described(view: SandboxView) -> Sandbox {
    Sandbox {
        sandbox_id: view.id.to_string(),
        name: view.name,
        template: view.spec.template.to_string(),
        status: view.state.to_string(),
        created_at: view.created.to_string(),
        last_activity: view.last_activity.to_string(),
        expires_at: view.expires.map(|time| time.to_string()),
        ended_at: view.ended.map(|time| time.to_string()),
        cause: view.cause.map(|cause| cause.to_string()),
        agent: view.spec.agent,
        labels: view.spec.labels,
        metadata: view.metadata,
    }
}

/// The command that installs packages, if there are any.
fn install(template: &str, packages: &[String]) -> Outcome<Option<String>> {
    let is_name = |name: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "@/._-[]=<>~^+".contains(c);
        !name.is_empty() && name.len() <= 214 && !name.starts_with('-') && name.chars().all(plain)
    };
    if let Some(wrong) = packages.iter().find(|name| !is_name(name)) {
        return Err(ToolFailure::invalid(format!("`{wrong}` is not the name of a package")));
    }
    if packages.len() > MOST_STEPS {
        return Err(ToolFailure::invalid(format!("at most {MOST_STEPS} packages at one time")));
    }
    let program = if template.starts_with("python") {
        "python3 -m pip install --quiet --user --break-system-packages"
    } else {
        "npm install --no-fund --no-audit"
    };
    let names: Vec<String> = packages.iter().map(|name| format!("'{name}'")).collect();
    Ok((!names.is_empty()).then(|| format!("{program} {}", names.join(" "))))
}

/// The sandbox a caller names.
pub(super) fn sandbox(id: &str) -> Outcome<SandboxId> {
    id.parse().map_err(|_unreadable| {
        let shown: String = id.chars().take(80).collect();
        ToolFailure::new(
            "SANDBOX_NOT_FOUND",
            format!("there is no sandbox `{shown}`; sandbox_list shows all"),
        )
    })
}

/// A path inside a sandbox.
pub(super) fn path(text: &str) -> Outcome<SandboxPath> {
    crate::extract::path_inside("path", text).map_err(|failure| ToolFailure::invalid(failure.detail()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_named_and_nothing_else() {
        let packages = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let command = install("node", &packages(&["@types/node@20", "left-pad"])).unwrap();
        assert_eq!(command.as_deref(), Some("npm install --no-fund --no-audit '@types/node@20' 'left-pad'"));
        let command = install("python", &packages(&["requests>=2,<3".trim_end_matches(",<3")])).unwrap();
        assert!(command.unwrap().ends_with("'requests>=2'"));
        assert_eq!(install("node", &[]).unwrap(), None);
        for wrong in ["", "-rf", "a b", "a'; rm -rf /; '", "$(id)", "a\nb"] {
            assert!(install("node", &packages(&[wrong])).is_err(), "{wrong}");
        }
    }
}
