//! A model that follows a script: enough of the Messages API for a real agent to work through it and stop.
//!
//! One thread per connection, one request per connection; everything is over when the value is dropped.

mod script;
mod wire;

use std::{
    io::{self, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread::JoinHandle,
};

use serde_json::{Value, json};

pub(crate) use script::{Say, Script};

/// The model, listening on loopback.
#[derive(Debug)]
pub(crate) struct Model {
    address: SocketAddr,
    heard: Arc<Mutex<Heard>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Heard {
    /// What the agent said its calls came to, in the longest conversation so far.
    results: Vec<String>,
    over: bool,
}

impl Model {
    /// Starts a model that asks for `command` to be run and, once told what came of it, says that it is done.
    pub(crate) fn asking_for(command: &str) -> Self {
        let input = json!({"command": command, "description": "what the script says"});
        let script = Script::default().turn([Say::call("Bash", input)]);
        // A session that is resumed has said more than one that is not.
        Self::playing((0..4).fold(script, |script, _| script.turn([Say::text("all done")])))
    }

    /// Starts a model that says what stands in a script.
    pub(crate) fn playing(script: Script) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::<Mutex<Heard>>::default();
        let shared = Arc::clone(&heard);
        let serve = move || {
            std::thread::scope(|scope| {
                while let Ok((stream, _)) = listener.accept() {
                    if shared.lock().unwrap().over {
                        break;
                    }
                    // An agent that hangs up in the middle is not the model's concern.
                    scope.spawn(|| answer(stream, &script, &shared).ok());
                }
            });
        };
        Self { address, heard, thread: Some(std::thread::spawn(serve)) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn results(&self) -> Vec<String> {
        self.heard.lock().unwrap().results.clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.heard.lock().unwrap().over = true;
        // Wakes the listener, which then sees that it is over.
        TcpStream::connect(self.address).ok();
        self.thread.take().map(JoinHandle::join);
    }
}

fn answer(stream: TcpStream, script: &Script, heard: &Mutex<Heard>) -> io::Result<()> {
    let port = stream.local_addr()?.port();
    let mut reader = BufReader::new(stream.try_clone()?);
    let (line, body) = wire::request(&mut reader)?;
    let mut out = stream;
    if line.starts_with("POST /v1/messages/count_tokens") {
        return wire::reply(&mut out, "200 OK", &json!({"input_tokens": body.len() / 4 + 1}));
    }
    if !line.starts_with("POST /v1/messages") {
        return out.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    }
    let asked: Value = serde_json::from_slice(&body)?;
    let results = results(&asked);
    let mut all = heard.lock().unwrap();
    if results.len() >= all.results.len() {
        all.results = results;
    }
    drop(all);
    let next = script.next(&asked);
    // Ids are made of places, so that a request that is repeated gets the same answer; and no two models share any.
    let place = format!("{port}_{}_{}", next.lane, next.turn);
    if let [Say::Fail { status, kind }] = next.said {
        let error = json!({"type": "error", "error": {"type": kind, "message": "as the script says"}});
        return wire::reply(&mut out, status, &error);
    }
    let mut blocks: Vec<Value> =
        next.said.iter().enumerate().map(|(at, said)| said.block(&format!("toolu_{place}_{at}"))).collect();
    if blocks.is_empty() {
        blocks.push(Say::text("ok").block(""));
    }
    let calls = next.said.iter().any(|said| matches!(said, Say::Call { .. }));
    let message = json!({
        "id": format!("msg_{place}"), "type": "message", "role": "assistant", "model": asked["model"],
        "content": blocks, "stop_reason": if calls { "tool_use" } else { "end_turn" }, "stop_sequence": null,
        "usage": script.usage(next.turn),
    });
    if asked["stream"] == json!(true) {
        return wire::stream(&mut out, &format!("req_{place}"), &message);
    }
    wire::reply(&mut out, &format!("200 OK\r\nrequest-id: req_{place}"), &message)
}

/// What came of the calls a conversation has had so far.
fn results(asked: &Value) -> Vec<String> {
    let messages = asked["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    blocks.filter(|block| block["type"] == "tool_result").map(|block| block["content"].to_string()).collect()
}
