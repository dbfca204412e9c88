//! Agents as others wrote them down: JSON (one, a list, or a registry of many) and the heads of agents' own files.
//!
//! Owns: both shapes of the identity schema, with `x-` in front of its extensions and without. Refuses: to approve
//! anybody: whatever a file says of itself is what it may be given, not what it has.

use belljar_domain::{AgentId, AgentName, AgentNameError, AgentRights, Role};
use serde_json::{Map, Value};

use super::{front_matter, suggest::suggest};
use crate::policy::{Pattern, PatternError};

/// The most agents of one file, and the most entries of one list.
const MOST: usize = 10_000;
const MOST_LISTED: usize = 256;

/// An agent as a file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Its identity, where it was given one before.
    pub id: Option<AgentId>,
    /// What it is called.
    pub name: AgentName,
    /// What it is for.
    pub role: Role,
    /// Its role was not said but concluded.
    pub guessed: bool,
    /// What it does.
    pub description: String,
    /// What it says it can do.
    pub capabilities: Vec<String>,
    /// What it may do differently from its role.
    pub rights: AgentRights,
    /// The key its signatures are checked with, in hex.
    pub public_key: Option<String>,
    /// Tokens it is to use in one session, if said.
    pub tokens_per_session: Option<u64>,
    /// Millionths of a dollar it is to spend in one day, if said.
    pub micros_per_day: Option<u64>,
}

/// Why agents could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// It is neither.
    #[error("this is neither JSON nor a file that begins with a head between two lines of `---`")]
    Form,
    /// It is meant to be JSON.
    #[error("the JSON cannot be read: {0}")]
    Json(String),
    /// The head cannot be read.
    #[error("{0}")]
    Head(String),
    /// There are too many.
    #[error("{0} agents in one file; at most {MOST}")]
    Many(usize),
    /// One has no name.
    #[error("agent {0} has no `name`")]
    Nameless(usize),
    /// One has an impossible name.
    #[error(transparent)]
    Name(#[from] AgentNameError),
    /// A field of one is wrong.
    #[error("agent `{agent}`: `{field}` {why}")]
    Field {
        /// Whose.
        agent: String,
        /// Which.
        field: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

/// Reads the agents a file describes.
///
/// # Errors
/// The first thing that is wrong; then none is read.
pub fn read(text: &str) -> Result<Vec<Draft>, ImportError> {
    if let Some(head) = front_matter::read(text) {
        return Ok(vec![draft(0, &head.map_err(ImportError::Head)?)?]);
    }
    let begins = text.trim_start();
    if !begins.starts_with(['{', '[']) {
        return Err(ImportError::Form);
    }
    let value: Value = serde_json::from_str(text).map_err(|error| ImportError::Json(error.to_string()))?;
    let items = listed(value);
    if items.len() > MOST {
        return Err(ImportError::Many(items.len()));
    }
    (1..).zip(&items).map(|(place, item)| draft(place, item)).collect()
}

/// One agent, a list of them, or a registry: `{"agents": [...]}`, `{"agents": {"NAME": {...}}}`.
fn listed(value: Value) -> Vec<Map<String, Value>> {
    let object = |value: Value| match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    };
    match value {
        Value::Array(items) => items.into_iter().map(object).collect(),
        Value::Object(mut fields) => match fields.remove("agents") {
            Some(Value::Array(items)) => items.into_iter().map(object).collect(),
            Some(Value::Object(named)) => {
                let called = |(name, agent)| {
                    let mut agent = object(agent);
                    agent.entry("name").or_insert(Value::String(name));
                    agent
                };
                named.into_iter().map(called).collect()
            }
            _ => vec![fields],
        },
        _ => Vec::new(),
    }
}

fn draft(place: usize, fields: &Map<String, Value>) -> Result<Draft, ImportError> {
    // The second version of the schema puts `x-` before what the first did not.
    let named = |name: &'static str| fields.get(name).or_else(|| fields.get(&format!("x-{name}")));
    let name = named("name").and_then(Value::as_str).ok_or(ImportError::Nameless(place))?;
    let name: AgentName = name.trim().parse()?;
    let wrong = |field, why: &str| ImportError::Field { agent: name.to_string(), field, why: why.to_owned() };
    let description = named("description").and_then(Value::as_str).unwrap_or_default();
    let description: String = description.chars().take(1024).collect();
    let capabilities = words(named("capabilities")).map_err(|why| wrong("capabilities", &why))?;
    let within = |outer: Option<&Value>, inner: &str| outer.and_then(|value| value.get(inner)).cloned();
    let rbac = named("rbac");
    let list = |field: &'static str| words(within(rbac, field).as_ref()).map_err(|why| wrong(field, &why));
    let mut grants = words(named("tools")).map_err(|why| wrong("tools", &why))?;
    grants.extend(list("allowed_tools")?);
    grants.extend(
        list("api_access")?
            .into_iter()
            .map(|api| if api == "*" { "mcp__*".to_owned() } else { format!("mcp__{api}") }),
    );
    grants.extend(list("grants")?);
    let mut denials = list("denied_tools")?;
    denials.extend(list("denials")?);
    for pattern in grants.iter().chain(&denials) {
        Pattern::parse(pattern).map_err(|error: PatternError| wrong("tools", &format!("says {error}")))?;
    }
    let scopes = |field: &'static str| {
        let value = within(rbac, field);
        value.as_ref().map(|value| words(Some(value)).map_err(|why| wrong(field, &why))).transpose()
    };
    let paths = scopes("path_scopes")?;
    let needs_leave = within(rbac, "requires_approval").is_some_and(|value| value == Value::Bool(true));
    let rights = AgentRights {
        reads: scopes("read_scopes")?,
        // What is written may be narrower than what is read: the old scopes were for both, and kept testers from what
        // they test.
        writes: scopes("write_scopes")?.or(paths),
        grants,
        denials,
        spawn: within(rbac, "can_spawn_agents").and_then(|value| value.as_bool()),
        modify_agents: within(rbac, "can_modify_agents").and_then(|value| value.as_bool()),
        secrets: within(rbac, "can_access_secrets").and_then(|value| value.as_bool()),
        asks: if needs_leave {
            vec!["Bash".to_owned(), "Write".to_owned(), "Edit".to_owned()]
        } else {
            list("asks")?
        },
    };
    let budget = named("budget");
    let money =
        |value: Value| micros(&value).ok_or_else(|| wrong("max_cost_per_day", "is no amount of dollars"));
    let said = named("role").and_then(Value::as_str);
    let role = said
        .map(|role| role.parse::<Role>().map_err(|error| wrong("role", &error.to_string())))
        .transpose()?;
    let guessed = role.is_none();
    let category = named("metadata").and_then(|about| about.get("category")).and_then(Value::as_str);
    let role = role.unwrap_or_else(|| suggest(&capabilities, category, &description).role);
    let id = named("agent_id").and_then(Value::as_str).map(|id| {
        // Others write the same number with dashes and without a prefix.
        let digits = id.trim().trim_start_matches(AgentId::PREFIX).replace('-', "");
        format!("{}{digits}", AgentId::PREFIX).parse().map_err(|_no| wrong("agent_id", "is no UUID"))
    });
    let key = named("public_key").and_then(Value::as_str).map(str::to_ascii_lowercase);
    if key.as_deref().is_some_and(|key| !is_key(key)) {
        return Err(wrong("public_key", "is no Ed25519 key of 64 hex digits"));
    }
    Ok(Draft {
        id: id.transpose()?,
        public_key: key,
        role,
        guessed,
        description,
        capabilities,
        rights,
        tokens_per_session: within(budget, "max_tokens_per_session").and_then(|value| value.as_u64()),
        micros_per_day: within(budget, "max_cost_per_day").map(money).transpose()?,
        name,
    })
}

/// Says whether a text is an Ed25519 public key, as it is kept.
#[must_use]
pub fn is_key(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A list, or words between commas.
fn words(value: Option<&Value>) -> Result<Vec<String>, String> {
    let found: Vec<String> = match value {
        None | Some(Value::Null) => Vec::new(),
        // A pattern may hold commas between its parentheses.
        Some(Value::String(text)) => split(text),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| {
                item.as_str().map(str::to_owned).ok_or_else(|| "holds something that is not text".to_owned())
            })
            .collect::<Result<_, _>>()?,
        Some(_) => return Err("is neither a list nor words between commas".to_owned()),
    };
    if found.len() > MOST_LISTED {
        return Err(format!("has {} entries; at most {MOST_LISTED}", found.len()));
    }
    Ok(found)
}

fn split(text: &str) -> Vec<String> {
    let (mut words, mut depth) = (vec![String::new()], 0_usize);
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                words.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(word) = words.last_mut() {
            word.push(c);
        }
    }
    words.into_iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect()
}

/// Dollars as they are written, in millionths; without a float, so that nothing is lost.
fn micros(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    crate::budget::dollars(&text)
}
