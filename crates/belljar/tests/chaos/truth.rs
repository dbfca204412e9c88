//! Whether everything clients were told is so.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::{
    KILLS, SANDBOXES,
    http::Http,
    load::{Known, Told},
    until,
};

/// Looks at everything.
pub(crate) fn check(http: &Http, told: &Told) {
    is_worth_it(told);
    sandboxes(http, told);
    commands(http, told);
    files(http, told);
    snapshots(http, told);
    artifacts(http, told);
}

/// The kills must have hit, and left something to look at.
fn is_worth_it(told: &Told) {
    assert!(told.commands.lock().unwrap().len() > SANDBOXES, "too little was acknowledged");
    assert!(told.refused.load(Ordering::Relaxed) > KILLS, "the kills hit nobody");
    let cut = told.cut.lock().unwrap();
    assert!(cut.get("exec").is_some_and(|count| *count > 0), "the kills hit no command: {cut:?}");
    let all = [told.files.lock().unwrap().len(), told.snapshots.lock().unwrap().len()];
    assert!(all.into_iter().all(|count| count > 5), "{}", told.summary());
    assert!(told.artifacts.lock().unwrap().len() > 5, "{}", told.summary());
}

fn sandboxes(http: &Http, told: &Told) {
    for (id, known) in told.sandboxes.lock().unwrap().iter() {
        let (status, view) = http.ask("GET", &format!("/api/v1/sandboxes/{id}"), None).unwrap();
        let state = view["state"].as_str().unwrap_or_else(|| panic!("{status}: {view}"));
        let fits = match known {
            Known::Running => state == "running",
            Known::Paused => state == "paused",
            Known::Either => ["running", "paused"].contains(&state),
            Known::Gone => state == "destroyed",
            Known::PerhapsGone => ["running", "destroyed"].contains(&state),
        };
        assert!(fits, "{id} should be {known:?}: {view}");
        if state == "paused" {
            let (status, view) = http.ask("POST", &format!("/api/v1/sandboxes/{id}/resume"), None).unwrap();
            assert_eq!((status, &view["state"]), (200, &json!("running")), "{view}");
        }
    }
}

fn commands(http: &Http, told: &Told) {
    let known = told.sandboxes.lock().unwrap();
    for command in told.commands.lock().unwrap().iter() {
        let base = format!("/api/v1/sandboxes/{}/executions/{}", command.sandbox, command.execution);
        let (status, ended) = http.ask("GET", &format!("{base}/wait?timeout_seconds=60"), None).unwrap();
        assert!(status == 200 && ended["completed_at"].is_string(), "{command:?}: {ended}");
        let (_, page) = http.ask("GET", &format!("{base}/output"), None).unwrap();
        let output = text(&page);
        // Whoever deletes a sandbox ends its commands; what they wrote until then is kept all the same.
        if matches!(known[&command.sandbox], Known::Gone | Known::PerhapsGone) && !command.is_over {
            assert!(command.output.starts_with(&output), "{command:?}: {page}");
            continue;
        }
        assert_eq!(ended["exit_code"], json!(command.code), "{command:?}: {ended}");
        assert_eq!(output, command.output, "{command:?}: {page}");
    }
}

/// What a page of output says on standard output.
fn text(page: &Value) -> String {
    let pieces = page["items"].as_array().unwrap_or_else(|| panic!("no output: {page}"));
    pieces.iter().filter_map(|piece| piece["text"].as_str()).collect()
}

fn get(http: &Http, path: &str) -> (u16, Vec<u8>) {
    http.send("GET", path, "application/octet-stream", &[]).unwrap()
}

fn files(http: &Http, told: &Told) {
    for ((sandbox, path), content) in told.files.lock().unwrap().iter() {
        let (status, found) = get(http, &format!("/api/v1/sandboxes/{sandbox}/files{path}"));
        assert!(status == 200 && found == *content, "{sandbox} {path}: {status}, {} bytes", found.len());
    }
    // What was cut off was never there: no draft of a killed server is left where an agent would find it.
    for (id, known) in told.sandboxes.lock().unwrap().iter() {
        if matches!(known, Known::Gone | Known::PerhapsGone) {
            continue;
        }
        let find = "find /tmp ~ -maxdepth 2 -name '.belljar-*'";
        let exec = format!("/api/v1/sandboxes/{id}/exec");
        let (status, found) = http.ask("POST", &exec, Some(&json!({ "command": find }))).unwrap();
        assert_eq!((status, &found["stdout"]), (200, &json!("")), "{id}: {found}");
    }
}

fn snapshots(http: &Http, told: &Told) {
    let listed = ids(http, "/api/v1/snapshots?limit=1000");
    for id in told.dropped.lock().unwrap().iter() {
        assert!(!listed.contains(id), "{id} was removed");
    }
    for (number, (id, file)) in told.snapshots.lock().unwrap().iter().enumerate() {
        assert!(listed.contains(id), "{id} was taken");
        if number % 4 > 0 {
            continue;
        }
        let made = json!({ "template": id });
        let (status, made) = http.ask("POST", "/api/v1/sandboxes", Some(&made)).unwrap();
        assert_eq!(status, 201, "{made}");
        let path = format!("/api/v1/sandboxes/{}", made["id"].as_str().unwrap());
        let (status, found) = get(http, &format!("{path}/files{file}"));
        assert!(status == 200 && found == file.as_bytes(), "{id} {file}: {status}");
        http.ask("DELETE", &path, None).unwrap();
    }
}

fn artifacts(http: &Http, told: &Told) {
    for (digest, content) in told.artifacts.lock().unwrap().iter() {
        let (status, found) = get(http, &format!("/api/v1/artifacts/{digest}"));
        assert!(status == 200 && found == *content, "{digest}: {status}, {} bytes", found.len());
    }
}

/// The ids of a list that fits one page.
pub(crate) fn ids(http: &Http, path: &str) -> Vec<String> {
    let (_, page) = http.ask("GET", path, None).unwrap();
    let items = page["items"].as_array().unwrap_or_else(|| panic!("{page}"));
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

/// Ends every sandbox, also those that were made for clients who never heard of them, and removes every snapshot.
pub(crate) fn end_all(http: &Http, told: &Told) {
    let mut all: Vec<String> = told.sandboxes.lock().unwrap().keys().cloned().collect();
    for state in ["running", "paused", "stopped", "failed"] {
        all.extend(ids(http, &format!("/api/v1/sandboxes?state={state}&limit=1000")));
    }
    for id in all {
        let (status, answer) = http.ask("DELETE", &format!("/api/v1/sandboxes/{id}"), None).unwrap();
        assert_eq!(status, 204, "{answer}");
    }
    until("every snapshot is gone", || {
        for id in ids(http, "/api/v1/snapshots?limit=1000") {
            http.ask("DELETE", &format!("/api/v1/snapshots/{id}"), None).unwrap();
        }
        ids(http, "/api/v1/snapshots?limit=1000").is_empty()
    });
    for state in ["running", "paused", "stopping", "creating"] {
        assert!(ids(http, &format!("/api/v1/sandboxes?state={state}")).is_empty(), "some are {state}");
    }
}
