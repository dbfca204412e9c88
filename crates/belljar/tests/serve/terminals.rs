//! Terminals over WebSocket.

use serde_json::json;

use crate::support::{Frame, Served, Socket};

/// Reads until the terminal has shown a text.
fn shown(socket: &mut Socket, wanted: &str) -> String {
    let (mut text, mut seen) = (String::new(), 0);
    while !text.get(text.floor_char_boundary(seen)..).is_some_and(|new| new.contains(wanted)) {
        seen = text.len().saturating_sub(wanted.len());
        match socket.hear() {
            Some(Frame::Binary(bytes)) => text.push_str(&String::from_utf8_lossy(&bytes)),
            Some(Frame::Text(said)) if said["type"] == "started" => {}
            other => panic!("{other:?} instead of `{wanted}` after `{text}`"),
        }
    }
    text
}

#[test]
fn a_shell_takes_keys_knows_its_size_and_tells_its_end() {
    let served = Served::start();
    let sandbox = served.sandbox();
    let mut socket =
        Socket::connect(&served.client(), &format!("{sandbox}/pty?cols=91&rows=33&command=exec+sh"))
            .ok()
            .unwrap();
    assert!(socket.expect("started")["execution_id"].as_str().unwrap().starts_with("exe_"));
    socket.type_keys(b"stty size; echo re''ady\n");
    let text = shown(&mut socket, "ready\r\n");
    assert!(text.contains("33 91"), "{text}");
    socket.say(&json!({"type": "resize", "rows": 44, "cols": 55}));
    socket.type_keys(b"stty size; echo ag''ain\n");
    let text = shown(&mut socket, "again\r\n");
    assert!(text.contains("44 55"), "{text}");
    socket.type_keys(b"exit 7\n");
    assert_eq!(socket.expect("exit")["exit_code"], 7);
}

#[test]
fn another_client_joins_the_terminal_of_a_command() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let order = json!({"command": "echo hello; read line; echo got $line", "background": true, "terminal": {"rows": 24, "cols": 80}});
    let started = client.post(&format!("{sandbox}/exec"), &order).json();
    let execution = format!("{sandbox}/executions/{}", started["execution_id"].as_str().unwrap());
    let mut socket = Socket::connect(&client, &format!("{execution}/pty")).ok().unwrap();
    shown(&mut socket, "hello");
    socket.type_keys(b"keys\n");
    shown(&mut socket, "got keys");
    assert_eq!(socket.expect("exit")["exit_code"], 0);
    let plain =
        client.post(&format!("{sandbox}/exec"), &json!({"command": "sleep 5", "background": true})).json();
    let plain = format!("{sandbox}/executions/{}/pty", plain["execution_id"].as_str().unwrap());
    assert_eq!(Socket::connect(&client, &plain).err(), Some(409), "it has no terminal");
}

#[test]
fn a_terminal_stays_alive_beyond_what_its_log_takes() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let mut first = Socket::connect(&client, &format!("{sandbox}/pty?command=exec+sh")).ok().unwrap();
    let id = first.expect("started")["execution_id"].as_str().unwrap().to_owned();
    first.type_keys(b"stty -echo; head -c 9000000 /dev/zero | tr '\\0' x; echo fi''rst\n");
    shown(&mut first, "first\r\n");
    // As a page that is loaded again.
    let path = format!("{sandbox}/executions/{id}");
    let mut second = Socket::connect(&client, &format!("{path}/pty")).ok().unwrap();
    let text = shown(&mut second, "first\r\n");
    assert!(text.len() > 9_000_000, "{}", text.len());
    second.type_keys(b"echo bo''th; exit 4\n");
    for socket in [&mut first, &mut second] {
        shown(socket, "both\r\n");
        let exit = socket.expect("exit");
        assert_eq!((&exit["exit_code"], &exit["truncated"]), (&json!(4), &json!(false)));
    }
    assert_eq!(client.get(&path).json()["truncated"], true, "the log is not whole");
}
