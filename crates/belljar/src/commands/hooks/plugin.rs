//! The plugin for opencode: a file of our own, so it is written and removed whole.

use anyhow::{Result, bail};
use serde_json::Value;

use super::registration::Calling;

const PLUGIN: &str = include_str!("opencode.js");
/// How ours begins, whatever its version.
const MARK: &str = "// Written by `belljar hooks install";

/// The file, for a belljar at this place.
pub(super) fn text(calling: &Calling) -> String {
    let Calling { program, pinned } = calling;
    let text = PLUGIN.replace("\"@PROGRAM@\"", &Value::from(program.as_str()).to_string());
    text.replace("[\"@PINNED@\"]", &Value::from(pinned.as_slice()).to_string())
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
