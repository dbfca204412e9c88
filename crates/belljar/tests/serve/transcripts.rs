//! Transcripts that hooks name: read as they grow, once, subagents included, and nobody else's.

use std::{fs, io::Write as _, path::Path};

use serde_json::{Value, json};

use crate::support::{Served, eventually};

fn line(message: &str, output: u64, content: &Value) -> String {
    let usage = json!({"input_tokens": 10, "output_tokens": output});
    let said = json!({"id": message, "model": "claude-opus-5-5", "usage": usage, "content": content});
    let line = json!({"type": "assistant", "sessionId": "s-t", "requestId": format!("req_{message}"), "message": said});
    format!("{line}\n")
}

fn stop(served: &Served, number: u8, path: &Path) {
    hook(served, number, path, "Stop");
}

fn hook(served: &Served, number: u8, path: &Path, name: &str) {
    let payload = json!({"hook_event_name": name, "session_id": "s-t", "transcript_path": path});
    let envelope = json!({
        "version": 1, "id": format!("evt_0192f0c00000700080000000000001{number:02x}"), "agent": "claude-code",
        "sent_at": "2026-11-16T04:00:00Z", "pid": 7, "env": {}, "payload": payload,
    });
    assert_eq!(served.neighbour().post("/api/v1/hooks/claude-code", &envelope).status, 200);
}

fn facts(served: &Served) -> Vec<Value> {
    let page = served.client().get("/api/v1/events?kind=transcript.read&after=0").json();
    let events = page["items"].as_array().unwrap().clone();
    events.iter().flat_map(|event| event["payload"]["facts"].as_array().unwrap().clone()).collect()
}

#[test]
fn a_transcript_is_read_as_it_grows_and_each_line_once() {
    let served = Served::start();
    let path = served.work().join("s-t.jsonl");
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Bash"}]);
    fs::write(&path, line("m1", 1, &json!([])) + &line("m1", 7, &call) + "{\"half").unwrap();
    let below = served.work().join("s-t/subagents");
    fs::create_dir_all(&below).unwrap();
    fs::write(below.join("agent-a1.jsonl"), line("m2", 3, &json!([]))).unwrap();
    stop(&served, 1, &path);
    let said =
        eventually("facts of the transcript", || Some(facts(&served)).filter(|facts| facts.len() == 3));
    assert_eq!((&said[0]["message"], &said[0]["tokens"]["output"]), (&json!("m1"), &json!(7)), "{said:?}");
    assert_eq!((&said[1]["id"], &said[1]["message"]), (&json!("toolu_1"), &json!("m1")));
    assert_eq!((&said[2]["message"], &said[2]["agent"]), (&json!("m2"), &json!("a1")));
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    write!(file, "\":1}}\n{}", line("m3", 5, &json!([]))).unwrap();
    stop(&served, 2, &path);
    let said =
        eventually("facts of the transcript", || Some(facts(&served)).filter(|facts| facts.len() == 4));
    assert_eq!(said[3]["message"], "m3", "only what is new: {said:?}");
}

#[test]
fn a_turn_that_broke_off_is_told_by_the_transcript_where_no_hook_told_of_it() {
    let mut served = Served::start();
    let path = served.work().join("s-t.jsonl");
    let broke = |id: &str, time: &str| {
        let line = json!({
            "type": "assistant", "sessionId": "s-t", "isSidechain": false, "uuid": id, "timestamp": time,
            "isApiErrorMessage": true, "error": "unknown", "apiErrorStatus": 400, "apiErrorType": "overloaded_error",
            "message": {"id": id, "model": "<synthetic>", "content": []},
        });
        format!("{line}\n")
    };
    // Of the first a hook told, at the time all hooks here are sent; of the second none did.
    fs::write(&path, broke("u1", "2026-11-16T03:59:59.800Z") + &broke("u2", "2026-11-16T04:07:00Z")).unwrap();
    hook(&served, 1, &path, "StopFailure");
    hook(&served, 2, &path, "SessionEnd");
    let failures = |served: &Served| {
        let page = served.client().get("/api/v1/events?kind=turn.failed&after=0").json();
        page["items"].as_array().unwrap().clone()
    };
    let told = eventually("both are told", || Some(failures(&served)).filter(|told| told.len() == 2));
    assert_eq!(
        (&told[0]["payload"]["source"], &told[1]["payload"]["source"]),
        (&json!("hook"), &json!("transcript"))
    );
    assert_eq!(
        (&told[1]["error"], &told[1]["status"]),
        (&json!("unknown (400 overloaded_error)"), &json!("failure"))
    );
    assert_eq!(told[1]["time"], "2026-11-16T04:07:00.000000Z");
    hook(&served, 3, &path, "SessionEnd");
    served.restart("TERM");
    assert_eq!(failures(&served).len(), 2, "and each of them once");
}

#[test]
fn what_is_not_the_sessions_own_file_is_not_read() {
    let mut served = Served::start();
    let other = served.work().join("other.jsonl");
    fs::write(&other, line("m1", 1, &json!([]))).unwrap();
    std::os::unix::fs::symlink(&other, served.work().join("s-t.jsonl")).unwrap();
    stop(&served, 1, &other);
    stop(&served, 2, &served.work().join("s-t.jsonl"));
    stop(&served, 3, Path::new("/etc/passwd"));
    // A server that ends does first what it was asked to.
    served.restart("TERM");
    assert!(facts(&served).is_empty());
}
