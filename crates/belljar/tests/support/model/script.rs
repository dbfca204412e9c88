//! What a model says, turn by turn: one lane for the main conversation, others for those that begin with certain words.

use serde_json::{Value, json};

/// One thing a model says in a turn.
#[derive(Debug, Clone)]
pub(crate) enum Say {
    Text(String),
    Call {
        tool: &'static str,
        input: Value,
    },
    /// Instead of a turn: the request fails.
    Fail {
        status: &'static str,
        kind: &'static str,
    },
}

impl Say {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    pub(crate) const fn call(tool: &'static str, input: Value) -> Self {
        Self::Call { tool, input }
    }

    /// A command for the shell.
    pub(crate) fn run(command: &str) -> Self {
        Self::call("Bash", json!({"command": command, "description": "what the script says"}))
    }

    pub(super) fn block(&self, id: &str) -> Value {
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Call { tool, input } => {
                json!({"type": "tool_use", "id": id, "name": tool, "input": input})
            }
            Self::Fail { kind, .. } => json!({"type": "text", "text": kind}),
        }
    }
}

/// Where the words of a lane are looked for.
#[derive(Debug, Clone, Copy)]
enum Place {
    First,
    Last,
    System,
}

#[derive(Debug, Default)]
struct Lane {
    /// Words and where they stand; the main lane has none.
    begins: Option<(Place, &'static str)>,
    turns: Vec<Vec<Say>>,
}

/// All lanes, the main one last.
#[derive(Debug, Default)]
pub(crate) struct Script {
    main: Lane,
    others: Vec<Lane>,
    caches: bool,
}

/// What comes next in a conversation, and where in the script that is.
#[derive(Debug)]
pub(super) struct Next<'a> {
    pub(super) lane: usize,
    pub(super) turn: usize,
    pub(super) said: &'a [Say],
}

impl Script {
    /// What is said next in the main conversation.
    pub(crate) fn turn(mut self, said: impl Into<Vec<Say>>) -> Self {
        self.main.turns.push(said.into());
        self
    }

    /// What is said before everything else in the main conversation.
    pub(crate) fn first(mut self, said: impl Into<Vec<Say>>) -> Self {
        self.main.turns.insert(0, said.into());
        self
    }

    /// What is said, at every turn, to whoever begins with these words: a subagent.
    pub(crate) fn whenever_begun(self, words: &'static str, turns: Vec<Vec<Say>>) -> Self {
        self.aside(Place::First, words, turns)
    }

    /// What is said whenever the newest message has these words: a request for a summary.
    pub(crate) fn whenever_asked(self, words: &'static str, said: &str) -> Self {
        self.aside(Place::Last, words, vec![vec![Say::text(said)]; 8])
    }

    /// What is said to a conversation of this purpose: a classifier.
    pub(crate) fn whenever_instructed(self, words: &'static str, said: &str) -> Self {
        self.aside(Place::System, words, vec![vec![Say::text(said)]; 8])
    }

    /// From now on much of what is asked is written to caches of both kinds, and read from them.
    pub(crate) fn cached(mut self) -> Self {
        self.caches = true;
        self
    }

    /// What a turn used.
    pub(super) fn usage(&self, turn: usize) -> Value {
        let mut usage = json!({"input_tokens": 10, "output_tokens": 5});
        if self.caches {
            let (short, long) = (200 + turn, 300 + 7 * turn);
            usage["cache_read_input_tokens"] = json!(1000 * turn);
            usage["cache_creation_input_tokens"] = json!(short + long);
            usage["cache_creation"] =
                json!({"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long});
        }
        usage
    }

    fn aside(mut self, place: Place, words: &'static str, turns: Vec<Vec<Say>>) -> Self {
        self.others.push(Lane { begins: Some((place, words)), turns });
        self
    }

    /// Told by what has been said before, so nothing is kept between requests and subagents may run side by side.
    pub(super) fn next(&self, asked: &Value) -> Next<'_> {
        const NOTHING: &[Say] = &[];
        let messages = asked["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let turn = messages.iter().filter(|message| message["role"] == "assistant").count();
        let mut users = messages.iter().filter(|message| message["role"] == "user");
        let (first, last) = (users.next(), users.next_back());
        let first = first.map(|message| words(&message["content"])).unwrap_or_default();
        let last = last.map_or_else(|| first.clone(), |message| words(&message["content"]));
        let system = words(&asked["system"]);
        let claims = |lane: &&Lane| match lane.begins {
            Some((Place::First, words)) => first.contains(words),
            Some((Place::Last, words)) => last.contains(words),
            Some((Place::System, words)) => system.contains(words),
            // Titles and the like are asked for without any tools.
            None => asked["tools"].as_array().is_some_and(|tools| !tools.is_empty()),
        };
        let lanes = self.others.iter().chain([&self.main]);
        let found = lanes.enumerate().find(|(_, lane)| claims(lane));
        match found {
            Some((lane, Lane { turns, .. })) => {
                Next { lane, turn, said: turns.get(turn).map_or(NOTHING, Vec::as_slice) }
            }
            None => Next { lane: 99, turn, said: NOTHING },
        }
    }
}

/// All words of a message, those of results as well.
fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|block| words(block) + "\n").collect(),
        Value::Object(block) => {
            block.get("text").or_else(|| block.get("content")).map(words).unwrap_or_default()
        }
        _ => String::new(),
    }
}
