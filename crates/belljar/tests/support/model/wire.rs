//! The model's side of HTTP: a request read whole, an answer at once or as the stream that leads to it.

use std::io::{self, BufRead, Read as _, Write};

use serde_json::{Value, json};

pub(super) fn reply(out: &mut impl Write, status: &str, answer: &Value) -> io::Result<()> {
    let text = answer.to_string();
    let length = text.len();
    write!(
        out,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{text}"
    )
}

/// A finished message as the stream that would have led to it.
pub(super) fn stream(out: &mut impl Write, request: &str, message: &Value) -> io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close";
    let mut all = format!("{head}\r\nrequest-id: {request}\r\n\r\n");
    for event in events(message) {
        all += &format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    }
    out.write_all(all.as_bytes())?;
    out.flush()
}

fn events(message: &Value) -> Vec<Value> {
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    let mut events = vec![json!({"type": "message_start", "message": start})];
    for (index, block) in message["content"].as_array().into_iter().flatten().enumerate() {
        let (mut empty, is_call) = (block.clone(), block["type"] == "tool_use");
        let delta = if is_call {
            empty["input"] = json!({});
            json!({"type": "input_json_delta", "partial_json": block["input"].to_string()})
        } else {
            empty["text"] = json!("");
            json!({"type": "text_delta", "text": block["text"]})
        };
        events.push(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        events.push(json!({"type": "content_block_stop", "index": index}));
    }
    let end = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": end, "usage": message["usage"]}));
    events.push(json!({"type": "message_stop"}));
    events
}

/// The first line and the body of a request.
pub(super) fn request(reader: &mut impl BufRead) -> io::Result<(String, Vec<u8>)> {
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
