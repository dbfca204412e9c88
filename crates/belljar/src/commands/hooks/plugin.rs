//! The plugin for opencode: a file of our own, so it is written and removed whole.

use anyhow::{Result, bail};
use serde_json::Value;

const PLUGIN: &str = include_str!("opencode.js");
/// How ours begins, whatever its version.
const MARK: &str = "// Written by `belljar hooks install";

/// The file, for a belljar at this place.
pub(super) fn text(program: &str) -> String {
    PLUGIN.replace("\"@PROGRAM@\"", &Value::from(program).to_string())
}

pub(super) fn is_ours(text: &str) -> bool {
    text.starts_with(MARK)
}

/// Refuses to take the place of somebody else's file.
pub(super) fn check(there: Option<&str>) -> Result<()> {
    match there {
        Some(text) if !is_ours(text) => bail!("it was not written by belljar; move it away first"),
        Some(_) | None => Ok(()),
    }
}
