//! Secrets of commands and sandboxes: used as they are, kept as fingerprints, whole or in pieces, whoever asks.

use serde_json::{Value, json};

use crate::support::{Request, Served, eventually};

/// A token like those of a well-known place; made here, so that none is written down.
fn token() -> String {
    format!("gh{}_{}", 'p', "a1B2c3D4e".repeat(4))
}

fn begin(served: &Served, sandbox: &str, order: &Value) -> String {
    let started = served.client().post(&format!("{sandbox}/exec"), order).json();
    format!("{sandbox}/executions/{}", started["execution_id"].as_str().unwrap())
}

/// A command's whole output as the log has it, after making sure that nothing is missing and nothing is there twice.
fn output(served: &Served, execution: &str) -> String {
    let page = served.client().get(&format!("{execution}/output?max_bytes=4000000")).json();
    let mut text = String::new();
    for piece in page["items"].as_array().unwrap() {
        assert_eq!(piece["offset"], text.len(), "{page}");
        text.push_str(piece["text"].as_str().unwrap());
    }
    text
}

fn feed(served: &Served, execution: &str, query: &str, body: &str) {
    let request = Request::new("POST", &format!("{execution}/stdin{query}")).body(body);
    assert_eq!(served.client().send(&request).status, 204);
}

#[test]
fn whoever_asked_hears_it_and_the_log_does_not() {
    let served = Served::start();
    let (sandbox, client, secret) = (served.sandbox(), served.client(), token());
    let line = format!("printf 'it is {}'; sleep 0.2; printf '{} indeed\\n'", &secret[..20], &secret[20..]);
    let path = format!("{sandbox}/exec");
    let told = client.post(&path, &json!({ "command": line })).json();
    assert_eq!(told["stdout"], format!("it is {secret} indeed\n"), "the answer is the caller's own");
    let kept = output(&served, &format!("{sandbox}/executions/{}", told["execution_id"].as_str().unwrap()));
    assert!(kept.starts_with("it is [redacted:github-token:") && kept.ends_with("] indeed\n"), "{kept}");

    let heard = |order: Value| -> String {
        let request = Request::new("POST", &path).json(&order);
        let pieces = client.events(&request).filter(|event| event.name == "stdout");
        pieces.map(|event| event.data["text"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(
        heard(json!({ "command": line, "stream": true, "attached": true })),
        format!("it is {secret} indeed\n"),
        "a stream that ends with its caller is the caller's own"
    );
    let streamed = heard(json!({ "command": line, "stream": true }));
    assert_eq!(streamed, kept, "a stream that can be found again is the log's");
    let logs = client.get(&format!("{sandbox}/logs")).text();
    assert!(!logs.contains(&secret[20..]) && logs.contains("[redacted:github-token:"), "{logs}");

    let keyed = Request::new("POST", &path).with("idempotency-key", "once").json(&json!({ "command": line }));
    assert!(client.send(&keyed).text().contains(&secret));
    let again = client.send(&keyed);
    assert_eq!(again.header("idempotency-replayed"), Some("true"));
    assert!(!again.text().contains(&secret) && again.text().contains("[redacted:"), "{}", again.text());
}

#[test]
fn a_secret_in_two_pieces_and_two_servers_is_one_secret() {
    let mut served = Served::start();
    let (sandbox, secret) = (served.sandbox(), token());
    let order = json!({"command": ["cat"], "background": true, "stdin_open": true});
    let execution = begin(&served, &sandbox, &order);
    let lines: String = (0..2000).map(|line| format!("line {line} of many\n")).collect();
    feed(&served, &execution, "", &lines);
    eventually("the lines are kept", || (output(&served, &execution).len() == lines.len()).then_some(()));
    feed(&served, &execution, "", &format!("now PASSWORD={}", &secret[..10]));
    eventually("the name is kept", || output(&served, &execution).ends_with("now PASSWORD=").then_some(()));
    served.restart("KILL");
    feed(&served, &execution, "?close=true", &format!("{}\nand on\n", &secret[10..]));
    let ended = served.client().get(&format!("{execution}/wait")).json();
    assert_eq!((&ended["status"], &ended["stdout_bytes"]), (&json!("success"), &json!(lines.len() + 61)));
    let kept = output(&served, &execution);
    let rest = kept.strip_prefix(&*lines).unwrap();
    assert!(rest.starts_with("now PASSWORD=[redacted:") && rest.ends_with("]\nand on\n"), "{rest}");
    assert!(!rest.contains(&secret[..10]) && !rest.contains(&secret[10..]), "{rest}");
}

#[test]
fn an_environment_is_used_and_not_shown_also_by_the_next_server() {
    let mut served = Served::start_with(&[("BELLJAR_SERVER_POOL", "1")]);
    let secret = token();
    for labels in [json!({}), json!({"from": "elsewhere"})] {
        let order = json!({"env": {"PLAIN": "not-telling-17", "TOKEN": secret}, "labels": labels});
        let made = served.client().post("/api/v1/sandboxes", &order);
        assert_eq!(made.status, 201, "{made:?}");
        let sandbox = format!("/api/v1/sandboxes/{}", made.json()["id"].as_str().unwrap());
        let whole = format!("{secret} NOT-TELLING-17\n");
        assert_eq!(served.sh(&sandbox, "echo $TOKEN $(echo $PLAIN | tr a-z A-Z)"), whole);
        served.restart("KILL");
        assert_eq!(served.sh(&sandbox, "echo $TOKEN $(echo $PLAIN | tr a-z A-Z)"), whole);
        let shown = served.client().get(&sandbox).text();
        assert!(!shown.contains(&secret) && !shown.contains("not-telling-17"), "{shown}");
    }
    let database = std::fs::read(served.home().join("belljar.db")).unwrap();
    let wal = std::fs::read(served.home().join("belljar.db-wal")).unwrap_or_default();
    for bytes in [database, wal] {
        for hidden in [secret.as_bytes(), b"not-telling-17"] {
            assert!(!bytes.windows(hidden.len()).any(|part| part == hidden));
        }
    }
}
