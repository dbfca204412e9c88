//! The service: `belljar serve` with and without sandboxes kept ready, spoken to as a client would, on one connection.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};

use super::{
    contestant::{Contestant, HTTP_EXEC, HTTP_LIFE, HTTP_LIFE_POOL, How},
    site::Site,
};

/// Removal goes on after the answer, and the pool is filled again.
const SETTLE: Duration = Duration::from_millis(60);
/// Sandboxes kept ready.
const POOL: &str = "4";

/// Two servers in homes of their own. Dropped, they end.
#[derive(Debug)]
pub(crate) struct Servers {
    pub(crate) plain: Server,
    pooled: Server,
}

/// One of them, where it listens and what opens it.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) home: PathBuf,
    pub(crate) address: String,
    pub(crate) key: String,
}

impl Servers {
    pub(crate) fn start(site: &Site) -> anyhow::Result<Self> {
        Ok(Self { plain: Server::start(site, "plain", "0")?, pooled: Server::start(site, "pooled", POOL)? })
    }

    /// A whole life over HTTP, with and without a pool, and a command in a sandbox that is there.
    pub(crate) fn contestants(&self) -> anyhow::Result<Vec<Contestant>> {
        let life = |name, server: &Server| -> anyhow::Result<Contestant> {
            let mut client = server.client()?;
            let run = move || client.life();
            Ok(Contestant { name, how: How::Asking(Box::new(run)), settle: SETTLE })
        };
        let mut client = self.plain.client()?;
        let id = client.create()?;
        let exec = move || client.exec(&id);
        let exec = Contestant {
            name: HTTP_EXEC,
            how: How::Asking(Box::new(exec)),
            settle: Duration::from_millis(10),
        };
        Ok(vec![life(HTTP_LIFE, &self.plain)?, life(HTTP_LIFE_POOL, &self.pooled)?, exec])
    }
}

impl Server {
    pub(crate) fn start(site: &Site, name: &str, pool: &str) -> anyhow::Result<Self> {
        let home = site.dir.join(name);
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--pool", pool, "--json"];
        let mut command = site.belljar(&site.maker, &arguments);
        command.env("BELLJAR_HOME", &home).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().context("start the server")?;
        let mut line = String::new();
        let out = child.stdout.take().context("the server has no output")?;
        BufReader::new(out).read_line(&mut line)?;
        let said: Value = serde_json::from_str(&line).context("the server did not say where it listens")?;
        let address = said.get("address").and_then(Value::as_str).context("no address")?.to_owned();
        let key = fs::read_to_string(home.join("admin.key")).context("read the key")?.trim().to_owned();
        Ok(Self { child, home, address, key })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Ends it at once, as a crash would; what is left is its home, with a socket nobody listens at.
    pub(crate) fn kill(mut self) -> anyhow::Result<PathBuf> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(self.home.clone())
    }

    fn client(&self) -> anyhow::Result<Client> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        Ok(Client { stream, key: self.key.clone() })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(None)) {
            return;
        }
        // It leaves its sandboxes running; theirs is a home that goes with the race, so each is asked to end. Those it has
        // ready end with it, if it is told.
        if let Ok(mut client) = self.client() {
            let _nothing = client.clear();
        }
        let told = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        if !told.is_ok_and(|told| told.success()) {
            let _over = self.child.kill();
        }
        let _over = self.child.wait();
    }
}

/// One connection that stays open.
struct Client {
    stream: TcpStream,
    key: String,
}

impl Client {
    fn life(&mut self) -> anyhow::Result<bool> {
        let id = self.create()?;
        let ran = self.exec(&id)?;
        let (status, _) = self.ask("DELETE", &format!("/api/v1/sandboxes/{id}"), None)?;
        Ok(ran && (200..300).contains(&status))
    }

    fn create(&mut self) -> anyhow::Result<String> {
        let (status, made) = self.ask("POST", "/api/v1/sandboxes", Some(&json!({})))?;
        match made.get("id").and_then(Value::as_str) {
            Some(id) if status == 201 => Ok(id.to_owned()),
            _ => bail!("no sandbox: {status} {made}"),
        }
    }

    fn exec(&mut self, id: &str) -> anyhow::Result<bool> {
        let path = format!("/api/v1/sandboxes/{id}/exec");
        let (status, done) = self.ask("POST", &path, Some(&json!({ "command": ["true"] })))?;
        Ok(status == 200 && done.get("exit_code") == Some(&json!(0)))
    }

    fn clear(&mut self) -> anyhow::Result<()> {
        let (_, page) = self.ask("GET", "/api/v1/sandboxes?status=RUNNING&limit=500", None)?;
        for view in page.get("items").and_then(Value::as_array).into_iter().flatten() {
            if let Some(id) = view.get("id").and_then(Value::as_str) {
                self.ask("DELETE", &format!("/api/v1/sandboxes/{id}"), None)?;
            }
        }
        Ok(())
    }

    fn ask(&mut self, method: &str, path: &str, body: Option<&Value>) -> anyhow::Result<(u16, Value)> {
        let body = body.map(Value::to_string).unwrap_or_default();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        );
        self.stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        let mut part = [0; 16 * 1024];
        loop {
            if let Some(whole) = parse(&answer) {
                return Ok(whole);
            }
            match self.stream.read(&mut part)? {
                0 => bail!("the server hung up"),
                count => answer.extend_from_slice(part.get(..count).unwrap_or_default()),
            }
        }
    }
}

/// Status and body, once they are whole.
pub(crate) fn parse(answer: &[u8]) -> Option<(u16, Value)> {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let head = std::str::from_utf8(answer.get(..end)?).ok()?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let body = answer.get(end + 4..end + 4 + length.unwrap_or(0))?;
    Some((status, serde_json::from_slice(body).unwrap_or(Value::Null)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_taken_when_it_is_whole() {
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(parse(answer), Some((200, json!({}))));
        assert_eq!(parse(&answer[..answer.len() - 1]), None);
        assert_eq!(parse(b"HTTP/1.1 204 No Content\r\n\r\n"), Some((204, Value::Null)));
    }
}
