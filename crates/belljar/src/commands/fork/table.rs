//! `[sandbox]` of a task file: what every sandbox of the run is like, where the command line does not say.

use std::{collections::BTreeMap, fmt::Display, str::FromStr};

use anyhow::{Result, anyhow};
use belljar_domain::TemplateRef;
use serde::Deserialize;

use crate::args::Shape;

/// The table; its names are those of the flags.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SandboxTable {
    template: Option<String>,
    profile: Option<String>,
    net: Option<String>,
    memory: Option<String>,
    cpus: Option<f64>,
    disk: Option<String>,
    pids: Option<u32>,
    ttl: Option<String>,
    agent: Option<String>,
    mount: Vec<String>,
    env: BTreeMap<String, String>,
}

impl SandboxTable {
    /// What was typed, with what it left open as it is written here.
    pub(super) fn under(&self, typed: &Shape) -> Result<Shape> {
        let mut shape = typed.clone();
        if let (Some(template), TemplateRef::Host) = (&self.template, &typed.template) {
            shape.template = read("template", template)?;
        }
        shape.profile = either(typed.profile, "profile", self.profile.as_deref())?;
        shape.net = either(typed.net, "net", self.net.as_deref())?;
        shape.memory = either(typed.memory, "memory", self.memory.as_deref())?;
        shape.cpus = either(typed.cpus, "cpus", self.cpus.map(|cpus| cpus.to_string()).as_deref())?;
        shape.disk = either(typed.disk, "disk", self.disk.as_deref())?;
        shape.pids = typed.pids.or(self.pids);
        shape.ttl = either(typed.ttl, "ttl", self.ttl.as_deref())?;
        shape.agent = typed.agent.clone().or_else(|| self.agent.clone());
        for mount in &self.mount {
            shape.mount.push(read("mount", mount)?);
        }
        // The later one of two counts.
        let written = self.env.iter().map(|(name, value)| format!("{name}={value}"));
        shape.env = written.chain(typed.env.iter().cloned()).collect();
        Ok(shape)
    }
}

fn either<T: FromStr>(typed: Option<T>, name: &str, written: Option<&str>) -> Result<Option<T>>
where
    T::Err: Display,
{
    match (typed, written) {
        (Some(typed), _) => Ok(Some(typed)),
        (None, written) => written.map(|text| read(name, text)).transpose(),
    }
}

fn read<T: FromStr>(name: &str, text: &str) -> Result<T>
where
    T::Err: Display,
{
    text.parse().map_err(|error| anyhow!("`{name} = \"{text}\"` in [sandbox] of the task file: {error}"))
}
