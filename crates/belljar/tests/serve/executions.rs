//! Commands: waited for, in the background, streamed, fed, signalled.

use serde_json::{Value, json};

use crate::support::{Request, Served};

fn begin(served: &Served, sandbox: &str, order: &Value) -> String {
    let started = served.client().post(&format!("{sandbox}/exec"), order);
    assert_eq!(started.status, 202, "{started:?}");
    let started = started.json();
    assert_eq!(started["status"], "running");
    format!("{sandbox}/executions/{}", started["execution_id"].as_str().unwrap())
}

#[test]
fn everything_about_a_command_is_heeded_and_told() {
    let served = Served::start();
    let sandbox = served.sandbox();
    let order = json!({"command": "pwd; echo $A; cat", "cwd": "/tmp", "env": {"A": "b"}, "stdin": "typed"});
    let ran = served.client().post(&format!("{sandbox}/exec"), &order).json();
    assert_eq!(ran["stdout"], "/tmp\nb\ntyped");
    let fields =
        ["execution_id", "exit_code", "duration_ms", "timed_out", "oom", "signal", "truncated", "stderr"];
    assert!(fields.iter().all(|field| ran.get(field).is_some()), "{ran}");
    let slow = json!({"command": "sleep 60", "timeout_seconds": 0.3});
    let ran = served.client().post(&format!("{sandbox}/exec"), &slow).json();
    assert_eq!((&ran["timed_out"], &ran["exit_code"]), (&json!(true), &json!(124)), "{ran}");
    let shot = served.client().post(&format!("{sandbox}/exec"), &json!({"command": "kill -15 $$"})).json();
    assert_eq!((&shot["signal"], &shot["exit_code"]), (&json!(15), &json!(143)));
    let missing = served.client().post(&format!("{sandbox}/exec"), &json!({"command": ["no-such-program"]}));
    missing.is_problem(422, "EXECUTION_ERROR");
}

#[test]
fn a_command_in_the_background_is_fed_waited_for_and_read() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let order = json!({"command": ["cat"], "background": true, "stdin_open": true});
    let execution = begin(&served, &sandbox, &order);
    assert_eq!(client.get(&format!("{execution}/wait?timeout_seconds=0")).json()["status"], "running");
    let stdin = |query: &str, body: &[u8]| {
        client.send(&Request::new("POST", &format!("{execution}/stdin{query}")).body(body)).status
    };
    assert_eq!(stdin("", b"one "), 204);
    assert_eq!(stdin("?close=true", b"\xfftwo"), 204);
    let waited = client.get(&format!("{execution}/wait")).json();
    assert_eq!(waited["status"], "success");
    assert_eq!(waited, client.get(&execution).json());
    assert!(waited["stdout"].as_str().unwrap().ends_with("two"), "{waited}");
    let page = client.get(&format!("{execution}/output")).json();
    assert_eq!(page["end"], true);
    let text: String =
        page["items"].as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap()).collect();
    assert_eq!(text, "one \u{fffd}two");
    assert!(
        page["items"].as_array().unwrap().iter().any(|piece| piece["base64"].is_string()),
        "exact where text is not"
    );
    let rest = client.get(&format!("{execution}/output?after={}", page["after"])).json();
    assert_eq!((&rest["items"], &rest["end"]), (&json!([]), &json!(true)));
    assert_eq!(
        client.get(&format!("{sandbox}/executions")).json()["items"][0]["id"],
        execution.rsplit('/').next().unwrap()
    );
}

#[test]
fn signals_and_kills_reach_it_and_other_sandboxes_do_not_see_it() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let trapping = json!({"command": "trap 'echo hit; exit 5' USR1; echo up; while :; do sleep 0.05; done", "background": true});
    let execution = begin(&served, &sandbox, &trapping);
    let mut events = client.events(&Request::new("GET", &format!("{execution}/attach")));
    assert_eq!(events.next().unwrap().data["text"], "up\n");
    assert_eq!(client.post(&format!("{execution}/signal"), &json!({"signal": 10})).status, 204);
    let rest: Vec<_> = events.collect();
    // The signal is for the whole process group, so the shell may have a word about its child first.
    assert!(rest.iter().any(|event| event.data["text"] == "hit\n"), "{rest:?}");
    assert_eq!(rest.last().unwrap().name, "exit");
    assert_eq!(rest.last().unwrap().data["exit_code"], 5);

    let endless = begin(&served, &sandbox, &json!({"command": "sleep 600", "background": true}));
    let other = served.sandbox();
    let elsewhere = format!("{other}/executions/{}", endless.rsplit('/').next().unwrap());
    client.get(&elsewhere).is_problem(404, "EXECUTION_NOT_FOUND");
    client.delete(&elsewhere).is_problem(404, "EXECUTION_NOT_FOUND");
    assert_eq!(client.delete(&endless).status, 204);
    let ended = client.get(&format!("{endless}/wait")).json();
    assert_eq!(ended["signal"], 9, "{ended}");
    assert_eq!(client.delete(&endless).status, 204, "killing twice is fine");
}

#[test]
fn a_streamed_command_tells_its_output_in_order_then_its_end() {
    let served = Served::start();
    let sandbox = served.sandbox();
    let order = json!({"command": "for i in $(seq 200); do echo $i; done; echo done >&2; exit 4"});
    let request =
        Request::new("POST", &format!("{sandbox}/exec")).with("accept", "text/event-stream").json(&order);
    let events: Vec<_> = served.client().events(&request).collect();
    assert_eq!(events[0].name, "started");
    let text = |name: &str| -> String {
        events
            .iter()
            .filter(|event| event.name == name)
            .map(|event| event.data["text"].as_str().unwrap())
            .collect()
    };
    assert_eq!(text("stdout"), (1..=200).map(|i| format!("{i}\n")).collect::<String>());
    assert_eq!(text("stderr"), "done\n");
    let exit = events.last().unwrap();
    assert_eq!((exit.name.as_str(), &exit.data["exit_code"]), ("exit", &json!(4)));
}

#[test]
fn logs_are_read_filtered_and_searched() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    served.sh(&sandbox, "echo the quick brown fox");
    served.sh(&sandbox, "echo lazy dog >&2");
    let all = client.get(&format!("{sandbox}/logs")).json();
    let texts: Vec<_> =
        all["items"].as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap()).collect();
    assert!(texts.contains(&"the quick brown fox\n") && texts.contains(&"lazy dog\n"), "{texts:?}");
    let errors = client.get(&format!("{sandbox}/logs?stream=stderr")).json();
    assert!(errors["items"].as_array().unwrap().iter().all(|piece| piece["stream"] == "stderr"));
    let found = crate::support::eventually("the words are found", || {
        let hits = client.get(&format!("{sandbox}/logs?q=brown+fo*")).json();
        hits["items"].as_array().filter(|items| !items.is_empty()).cloned()
    });
    assert_eq!(found[0]["text"], "the quick brown fox\n");
    let none = client.get(&format!("{sandbox}/logs?from=2999-01-01T00:00:00Z")).json();
    assert_eq!(none["items"], json!([]));
}

#[test]
fn another_user_begins_where_they_may() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    for (user, said) in
        [("nobody", "65534 / nobody /"), ("1000", "1000 / 1000 /"), ("1000:50", "1000 / 1000 /")]
    {
        let order = json!({"command": "echo $(id -u) $(pwd) $USER $HOME", "user": user});
        let ran = client.post(&format!("{sandbox}/exec"), &order);
        assert_eq!(ran.json()["stdout"], format!("{said}\n"), "{ran:?}");
    }
    let order =
        json!({"command": "pwd; echo $HOME", "user": "nobody", "cwd": "/tmp", "env": {"HOME": "/var"}});
    assert_eq!(client.post(&format!("{sandbox}/exec"), &order).json()["stdout"], "/tmp\n/var\n");
}
