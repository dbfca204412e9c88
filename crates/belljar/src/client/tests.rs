//! A server that says anything, and what the client makes of it.

use std::{
    io::{Read as _, Write as _},
    os::unix::net::UnixListener,
    thread,
};

use tempfile::TempDir;

use super::{Client, ClientError, Happening, QUICK, Result, http::target};

/// A home whose server gives these answers, one a connection. The first connection is the one that looks for it.
fn home(answers: &'static [&'static str]) -> TempDir {
    let home = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(home.path().join("belljar.sock")).unwrap();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let _asked = stream.read(&mut request).unwrap();
            // In pieces, as a network delivers them.
            for piece in answer.as_bytes().chunks(7) {
                // Whoever has heard enough hangs up.
                let _hung_up = stream.write_all(piece);
            }
        }
    });
    home
}

fn client(home: &TempDir) -> Client {
    Client::at_home(home.path()).unwrap()
}

fn ask(client: &Client) -> Result<String> {
    client.server.send("GET", "/", None, QUICK)?.text()
}

#[test]
fn bodies_come_by_length_in_chunks_or_to_the_end() {
    let home = home(&[
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, and more",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello",
    ]);
    let client = client(&home);
    for _way in 0..3 {
        assert_eq!(ask(&client).unwrap(), "hello");
    }
}

#[test]
fn what_is_cut_short_or_senseless_is_an_error() {
    let home = home(&[
        "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        "SSH-2.0-OpenSSH\r\n",
        "",
    ]);
    let client = client(&home);
    for _answer in 0..6 {
        ask(&client).unwrap_err();
    }
}

#[test]
fn a_problem_keeps_its_words_its_code_and_its_hint() {
    let home = home(&[
        "HTTP/1.1 404 Not Found\r\n\r\n{\"detail\":\"no such\",\"code\":\"SANDBOX_NOT_FOUND\",\"hint\":\"look\"}",
        "HTTP/1.1 500 Oh\r\n\r\n<html>",
    ]);
    let client = client(&home);
    let refused = ask(&client).unwrap_err();
    assert!(refused.is_unknown() && refused.hint() == Some("look") && refused.to_string() == "no such");
    assert!(matches!(ask(&client).unwrap_err(), ClientError::Nonsense(_)));
}

#[test]
fn events_are_read_one_by_one_until_the_server_says_goodbye() {
    let home = home(&[concat!(
        "HTTP/1.1 200 OK\r\n\r\nretry: 1000\n\n: heartbeat\n\nid: 7\nevent: sandbox.created\n",
        "data: {\"seq\":7,\"id\":\"evt_00000000000070008000000000000000\",\"kind\":\"sandbox.created\",",
        "\"time\":\"2026-01-31T12:00:00Z\"}\n\nevent: goodbye\ndata: {\"seq\":7}\n\n"
    )]);
    let mut stream = client(&home).follow(&[]).unwrap();
    let Happening::Event(event) = stream.next().unwrap() else { panic!("no event") };
    assert_eq!((event.seq, event.kind.as_str()), (7, "sandbox.created"));
    assert!(matches!(stream.next().unwrap(), Happening::Over));
}

#[test]
fn what_goes_after_the_question_mark_is_spelled_out() {
    assert_eq!(target("/x", &[("a", "b c&d=é"), ("e", "~1")]), "/x?a=b%20c%26d%3D%C3%A9&e=~1");
    assert_eq!(target("/x?l=1", &[("a", "")]), "/x?l=1&a=");
}

#[test]
fn an_address_that_is_none_is_refused() {
    for url in ["https://host", "host:1", "http://", "http://a@b", "http://a\r\nX: y"] {
        assert!(matches!(Client::at_url(url, None), Err(ClientError::Address(_))), "{url}");
    }
    assert!(Client::at_url("http://localhost:7420/", Some("k")).is_ok());
}
