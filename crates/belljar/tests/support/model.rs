//! A model that follows a script: enough of the Messages API for a real agent to run one command and stop.
//!
//! One thread per connection, one request per connection; everything is over when the value is dropped.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread::JoinHandle,
};

use serde_json::{Value, json};

/// The model, listening on loopback.
#[derive(Debug)]
pub(crate) struct Model {
    address: SocketAddr,
    heard: Arc<Mutex<Heard>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Heard {
    /// What the agent said its command printed.
    results: Vec<String>,
    over: bool,
}

impl Model {
    /// Starts a model that asks for `command` to be run and, once told what came of it, says that it is done.
    pub(crate) fn asking_for(command: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::<Mutex<Heard>>::default();
        let (shared, command) = (Arc::clone(&heard), command.to_owned());
        let serve = move || {
            std::thread::scope(|scope| {
                while let Ok((stream, _)) = listener.accept() {
                    if shared.lock().unwrap().over {
                        break;
                    }
                    // An agent that hangs up in the middle is not the model's concern.
                    scope.spawn(|| answer(stream, &command, &shared).ok());
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

fn answer(stream: TcpStream, command: &str, heard: &Mutex<Heard>) -> io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (line, body) = request(&mut reader)?;
    let mut out = stream;
    if !line.starts_with("POST /v1/messages") {
        return out.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    }
    let asked: Value = serde_json::from_slice(&body)?;
    let (stop, block) = turn(&asked, command, heard);
    let usage = json!({"input_tokens": 10, "output_tokens": 5});
    let number = asked["messages"].as_array().map_or(0, Vec::len) * 2
        + usize::from(asked["tools"].as_array().is_none_or(Vec::is_empty));
    let name = format!("request-id: req_scripted_{number}");
    let message = json!({
        "id": format!("msg_scripted_{number}"), "type": "message", "role": "assistant", "model": asked["model"],
        "content": [block], "stop_reason": stop, "stop_sequence": null, "usage": usage,
    });
    if asked["stream"] != json!(true) {
        let text = message.to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
        return write!(out, "{head}\r\n{name}\r\ncontent-length: {}\r\n\r\n{text}", text.len());
    }
    write!(out, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n{name}\r\n\r\n")?;
    for event in events(&message) {
        write!(out, "event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())?;
    }
    out.flush()
}

/// What the model says next, told by what has been said before: so a request that is repeated gets the same answer.
fn turn(asked: &Value, command: &str, heard: &Mutex<Heard>) -> (&'static str, Value) {
    let text = |text: &str| ("end_turn", json!({"type": "text", "text": text}));
    let messages = asked["messages"].as_array().cloned().unwrap_or_default();
    if asked["tools"].as_array().is_none_or(Vec::is_empty) {
        return text("ok");
    }
    if !messages.iter().any(|message| message["role"] == "assistant") {
        let input = json!({"command": command, "description": "what the script says"});
        return (
            "tool_use",
            json!({"type": "tool_use", "id": "toolu_scripted", "name": "Bash", "input": input}),
        );
    }
    let blocks = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    let results =
        blocks.filter(|block| block["type"] == "tool_result").map(|block| block["content"].to_string());
    heard.lock().unwrap().results = results.collect();
    text("all done")
}

/// A finished message as the stream that would have led to it.
fn events(message: &Value) -> Vec<Value> {
    let block = message["content"][0].clone();
    let (mut empty, delta) = (
        block.clone(),
        match block["type"].as_str() {
            Some("tool_use") => {
                json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
            }
            Some(_) | None => json!({"type": "text_delta", "text": block["text"]}),
        },
    );
    for field in ["input", "text"] {
        if let Some(value) = empty.get_mut(field) {
            *value = if field == "input" { json!({}) } else { json!("") };
        }
    }
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let end = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    vec![
        json!({"type": "message_start", "message": start}),
        json!({"type": "content_block_start", "index": 0, "content_block": empty}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": end, "usage": message["usage"]}),
        json!({"type": "message_stop"}),
    ]
}

/// The first line and the body of a request.
fn request(reader: &mut impl BufRead) -> io::Result<(String, Vec<u8>)> {
    let mut first = String::new();
    reader.read_line(&mut first)?;
    let (mut length, mut chunked) = (0, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim_end().to_ascii_lowercase();
        match line.split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse().unwrap_or(0),
            Some(("transfer-encoding", value)) => chunked = value.contains("chunked"),
            Some(_) => {}
            None => break,
        }
    }
    let mut body = Vec::new();
    loop {
        if chunked {
            let mut size = String::new();
            reader.read_line(&mut size)?;
            length = u64::from_str_radix(size.trim(), 16).unwrap_or(0);
        }
        reader.by_ref().take(length).read_to_end(&mut body)?;
        if !chunked || length == 0 {
            return Ok((first, body));
        }
        reader.read_line(&mut String::new())?;
    }
}
