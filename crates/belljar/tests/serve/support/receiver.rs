//! A server that webhooks and alerts are posted to: it remembers what came, and answers as told.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
        mpsc::{Receiver as Queue, Sender, channel},
    },
    thread,
};

use super::PATIENCE;

/// One POST.
#[derive(Debug, Clone)]
pub(crate) struct Post {
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl Post {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

pub(crate) struct Receiver {
    port: u16,
    answer: Arc<AtomicU16>,
    posts: Queue<Post>,
}

impl Receiver {
    pub(crate) fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, posts) = channel();
        let answer = Arc::new(AtomicU16::new(200));
        let told = Arc::clone(&answer);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if receive(stream, told.load(Ordering::Relaxed), &sender).is_none() {
                    return;
                }
            }
        });
        Self { port, answer, posts }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hook", self.port)
    }

    /// From now on.
    pub(crate) fn answers(&self, status: u16) {
        self.answer.store(status, Ordering::Relaxed);
    }

    pub(crate) fn next(&self) -> Post {
        self.posts.recv_timeout(PATIENCE).unwrap()
    }

    /// What came already.
    pub(crate) fn rest(&self) -> Vec<Post> {
        self.posts.try_iter().collect()
    }
}

fn receive(stream: TcpStream, status: u16, to: &Sender<Post>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut headers = BTreeMap::new();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
        if let Some((name, value)) = line.trim_end().split_once(": ") {
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        line.clear();
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_ok() {
        let head = format!(
            "HTTP/1.1 {status} Told\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        );
        drop(reader.get_mut().write_all(head.as_bytes()));
        to.send(Post { headers, body }).ok()?;
    }
    Some(())
}
