//! The fields of a tool's input: paths, directories, URLs.

use serde_json::Value as Json;

use super::super::context::Context;
use crate::policy::Call;
use crate::shell::value::Value;

/// Names under which tools are given a path.
const PATHS: [&str; 16] = [
    "file_path",
    "path",
    "notebook_path",
    "absolute_path",
    "filePath",
    "target_file",
    "filename",
    "file",
    "uri",
    "dir_path",
    "relative_workspace_path",
    "target_notebook",
    "directory",
    "TargetFile",
    "AbsolutePath",
    "DirectoryPath",
];
/// Names under which they are given several.
const LISTS: [&str; 4] = ["paths", "files", "include", "file_paths"];

/// What a tool is given.
pub(super) struct Fields<'a> {
    /// The input.
    pub input: &'a Json,
    context: &'a Context,
    cwd: Value,
}

impl<'a> Fields<'a> {
    /// The fields of a call.
    pub(super) fn of(call: &Call<'a>, context: &'a Context) -> Self {
        let cwd = call.cwd.map_or_else(|| context.cwd.clone(), |cwd| cwd.as_bytes().to_vec());
        Self { input: call.input, context, cwd: Value::known(cwd) }
    }

    /// The first of these that is text.
    pub(super) fn text(&self, names: &[&str]) -> Option<&'a str> {
        names.iter().find_map(|name| self.input.get(name)?.as_str())
    }

    /// Where the tool works.
    pub(super) fn directory(&self) -> Value {
        let given = self.text(&["workdir", "cwd", "working_directory", "workingDirectory", "dir", "Cwd"]);
        given.map_or_else(|| self.cwd.clone(), |directory| self.path(directory))
    }

    /// A path as the tool would find it: home, traversal and schemes taken out.
    pub(super) fn path(&self, text: &str) -> Value {
        let text = text.trim();
        let text = text.strip_prefix("file://").unwrap_or(text);
        let text = text.strip_prefix('@').filter(|rest| rest.starts_with(['/', '.', '~'])).unwrap_or(text);
        let below = ["~", "$HOME", "${HOME}"].iter().find_map(|home| {
            let rest = text.strip_prefix(home)?;
            (rest.is_empty() || rest.starts_with('/')).then_some(rest)
        });
        let whole = match below {
            Some(rest) => [self.context.home.as_slice(), rest.as_bytes()].concat(),
            None => text.as_bytes().to_vec(),
        };
        self.context.resolve(&Value::known(whole), &self.cwd)
    }

    /// All paths it names.
    pub(super) fn paths(&self) -> Vec<Value> {
        let one = PATHS.iter().filter_map(|name| self.input.get(name)?.as_str());
        let many = LISTS.iter().filter_map(|name| self.input.get(name)?.as_array()).flatten();
        let many = many.filter_map(|item| {
            item.as_str().or_else(|| item.get("path").or_else(|| item.get("file_path"))?.as_str())
        });
        let mut found: Vec<Value> =
            one.chain(many).filter(|text| !text.is_empty()).map(|text| self.path(text)).collect();
        found.dedup();
        found
    }

    /// The URL it fetches; of a prompt with one in it, that one.
    pub(super) fn url(&self) -> Value {
        let text = self.text(&["url", "uri", "prompt", "Url"]).unwrap_or_default();
        let start = text.find("http").unwrap_or(0);
        let rest = text.get(start..).unwrap_or(text);
        Value::known(rest.split_ascii_whitespace().next().unwrap_or_default())
    }
}
