//! A WebSocket client, as small as RFC 6455 allows.

use std::io::{BufReader, Read as _, Write as _};

use serde_json::Value;

use super::http::{Client, Request, Wire, head};

pub(crate) struct Socket(BufReader<Box<dyn Wire>>);

#[derive(Debug, PartialEq)]
pub(crate) enum Frame {
    Text(Value),
    Binary(Vec<u8>),
    /// With its code.
    Close(u16),
}

impl Socket {
    /// Connects, or says which status came instead.
    pub(crate) fn connect(client: &Client, path: &str) -> Result<Self, u16> {
        let request = Request::new("GET", path)
            .with("connection", "upgrade")
            .with("upgrade", "websocket")
            .with("sec-websocket-version", "13")
            .with("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
        let mut reader = client.open(&request).unwrap();
        let (status, _) = head(&mut reader).unwrap();
        if status == 101 { Ok(Self(reader)) } else { Err(status) }
    }

    pub(crate) fn say(&mut self, value: &Value) {
        self.send(1, value.to_string().as_bytes());
    }

    pub(crate) fn type_keys(&mut self, keys: &[u8]) {
        self.send(2, keys);
    }

    fn send(&mut self, kind: u8, bytes: &[u8]) {
        let mut frame = vec![0x80 | kind];
        match u8::try_from(bytes.len()) {
            Ok(length) if length < 126 => frame.push(0x80 | length),
            _ => {
                frame.push(0x80 | 126);
                frame.extend(u16::try_from(bytes.len()).unwrap().to_be_bytes());
            }
        }
        // A mask of zeros is a mask.
        frame.extend([0; 4]);
        frame.extend(bytes);
        self.0.get_mut().write_all(&frame).unwrap();
    }

    /// The next frame; `None` when the connection is over.
    pub(crate) fn hear(&mut self) -> Option<Frame> {
        loop {
            let (kind, body) = self.frame()?;
            match kind {
                1 => return Some(Frame::Text(serde_json::from_slice(&body).unwrap())),
                2 => return Some(Frame::Binary(body)),
                8 => {
                    return Some(Frame::Close(
                        body.first_chunk().map_or(0, |code| u16::from_be_bytes(*code)),
                    ));
                }
                _ => {}
            }
        }
    }

    /// The next text or binary frame as it came.
    pub(crate) fn hear_bytes(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.frame()? {
                (1 | 2, body) => return Some(body),
                (8, _) => return None,
                _ => {}
            }
        }
    }

    fn frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut start = [0; 2];
        self.0.read_exact(&mut start).ok()?;
        let length = match start[1] & 0x7f {
            126 => u64::from(u16::from_be_bytes(self.bytes()?)),
            127 => u64::from_be_bytes(self.bytes()?),
            short => u64::from(short),
        };
        let mut body = vec![0; usize::try_from(length).unwrap()];
        self.0.read_exact(&mut body).ok()?;
        Some((start[0] & 0xf, body))
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The next text of this type.
    pub(crate) fn expect(&mut self, kind: &str) -> Value {
        loop {
            match self.hear() {
                Some(Frame::Text(value)) if value["type"] == kind => return value,
                Some(Frame::Text(value)) if value["type"] == "error" => panic!("{value}"),
                Some(_) => {}
                None => panic!("the connection ended before `{kind}`"),
            }
        }
    }
}
