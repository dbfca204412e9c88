//! What the server is told to do about agents and budgets, and its answers as they came.

use serde_json::Value;

use super::{Client, QUICK, Result, http};

impl Client {
    /// Has something done; the answer is what it is now, or nothing where nothing is left.
    pub(crate) fn order(&self, method: &str, path: &[&str], body: Option<&Value>) -> Result<Value> {
        let whole: Vec<String> = path.iter().map(|part| http::escaped(part)).collect();
        let target = format!("/api/v1/{}", whole.join("/"));
        let text = self.server.send(method, &target, body, QUICK)?.text()?;
        if text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_str(&text).map_err(|error| super::ClientError::Nonsense(error.to_string()))
    }
}
