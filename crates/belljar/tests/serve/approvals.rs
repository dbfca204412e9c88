//! Calls that wait for a person, asked over the API: answered once, as far as they say, and never by a sandbox.

use std::{fs, process::Command, thread};

use serde_json::{Value, json};

use crate::support::{Answer, Client, Request, Served, eventually};

const RULES: &str = r#"
[approval]
wait = "60s"

[[rule]]
name = "people-deploy"
match = ["SandboxExec(deploy:*)", "SandboxExec(echo deploy:*)"]
verdict = "ask"
risk = "high"
reason = "Deploying is for people."

[[rule]]
name = "never"
match = "SandboxExec(echo never:*)"
verdict = "deny"
reason = "Never."

[[rule]]
name = "shown"
match = "SandboxMount(//**)"
verdict = "ask"
reason = "Somebody must know what is shown."

[[rule]]
name = "written"
match = "SandboxWrite(//tmp/asked/**)"
verdict = "ask"
"#;

fn serve(rules: &str) -> Served {
    let served = Served::start();
    fs::write(served.home().join("guardian.toml"), rules).unwrap();
    // Once the rule holds, the policy is in force.
    let sandbox = served.sandbox();
    eventually("the policy is in force", || {
        (exec(&served, &sandbox, "echo never").status == 403).then_some(())
    });
    served
}

fn exec(served: &Served, sandbox: &str, line: &str) -> Answer {
    let words: Vec<&str> = line.split(' ').collect();
    served.client().post(&format!("{sandbox}/exec"), &json!({ "command": words }))
}

/// The approval a request waits for.
#[track_caller]
fn required(answer: &Answer) -> String {
    answer.is_problem(409, "APPROVAL_REQUIRED");
    answer.json()["approval"].as_str().unwrap().to_owned()
}

fn say(served: &Served, id: &str, word: &str, body: &Value) -> Answer {
    served.client().post(&format!("/api/v1/approvals/{id}/{word}"), body)
}

fn look(served: &Served, id: &str) -> Value {
    served.client().get(&format!("/api/v1/approvals/{id}")).json()
}

fn kinds(served: &Served, id: &str) -> Vec<String> {
    let page = served.client().get("/api/v1/events?after=0&kind=approval").json();
    let of_it = page["items"].as_array().unwrap().iter().filter(|event| event["payload"]["approval"] == id);
    of_it.map(|event| event["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_command_waits_and_a_yes_lets_it_through_once() {
    let served = serve(RULES);
    let sandbox = served.sandbox();
    let first = exec(&served, &sandbox, "echo deploy now");
    let id = required(&first);
    assert!(first.json()["detail"].as_str().unwrap().contains("Deploying is for people."));
    assert_eq!(first.json()["exit_code"], 126);
    assert_eq!(required(&exec(&served, &sandbox, "echo deploy now")), id, "one call is asked about once");
    let waiting = look(&served, &id);
    assert_eq!(
        (&waiting["state"], &waiting["tool"], &waiting["rule"], &waiting["risk"]),
        (&json!("pending"), &json!("SandboxExec"), &json!("people-deploy"), &json!("high")),
        "{waiting}"
    );
    assert_eq!(say(&served, &id, "allow", &json!({})).status, 200);
    assert_eq!(look(&served, &id)["delivered_at"], Value::Null, "nobody came back yet");
    let ran = exec(&served, &sandbox, "echo deploy now");
    assert_eq!((ran.status, &ran.json()["stdout"]), (200, &json!("deploy now\n")));
    assert!(look(&served, &id)["delivered_at"].is_string());
    assert_ne!(required(&exec(&served, &sandbox, "echo deploy now")), id, "once is once");
    assert_eq!(kinds(&served, &id), ["approval.requested", "approval.answered", "approval.delivered"]);
}

#[test]
fn a_no_has_a_reason_and_stands() {
    let served = serve(RULES);
    let sandbox = served.sandbox();
    let id = required(&exec(&served, &sandbox, "echo deploy now"));
    assert_eq!(say(&served, &id, "deny", &json!({"reason": "not on a Friday"})).status, 200);
    for _again in 0..2 {
        let refused = exec(&served, &sandbox, "echo deploy now");
        refused.is_problem(403, "PERMISSION_DENIED");
        assert!(refused.json()["detail"].as_str().unwrap().contains("not on a Friday"), "{refused:?}");
    }
}

#[test]
fn of_many_answers_one_counts_and_the_others_hear_whose() {
    let served = serve(RULES);
    let sandbox = served.sandbox();
    let id = required(&exec(&served, &sandbox, "echo deploy now"));
    let answers: Vec<Answer> = thread::scope(|scope| {
        let words = ["allow", "deny"].into_iter().cycle().take(12);
        let each: Vec<_> = words.map(|word| scope.spawn(|| say(&served, &id, word, &json!({})))).collect();
        each.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let taken: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(taken.len(), 1, "{answers:?}");
    let state = taken[0].json()["state"].clone();
    assert_eq!(look(&served, &id)["state"], state);
    for late in answers.iter().filter(|answer| answer.status != 200) {
        late.is_problem(409, "CONFLICT");
        let detail = late.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("already, by admin"), "{detail}");
    }
}

#[test]
fn a_changed_command_is_judged_again_and_is_what_runs() {
    let served = serve(RULES);
    let sandbox = served.sandbox();
    let id = required(&exec(&served, &sandbox, "echo deploy now"));
    let denied = say(&served, &id, "allow", &json!({"input": {"command": ["echo", "never"]}}));
    denied.is_problem(403, "PERMISSION_DENIED");
    assert_eq!(look(&served, &id)["state"], "pending", "what is denied answers nothing");
    say(&served, &id, "allow", &json!({"input": "echo"})).is_problem(400, "INVALID_REQUEST");
    let input = json!({"command": ["echo", "deploy", "later"]});
    assert_eq!(say(&served, &id, "allow", &json!({ "input": input })).status, 200);
    let ran = exec(&served, &sandbox, "echo deploy now");
    assert_eq!((ran.status, &ran.json()["stdout"]), (200, &json!("deploy later\n")), "{ran:?}");
    assert_eq!(look(&served, &id)["answer"]["input"], input);
}

#[test]
fn a_yes_for_the_session_is_for_that_sandbox_and_calls_like_it() {
    let served = serve(&RULES.replace("SandboxExec(deploy:*)", "SandboxExec(git gc:*)"));
    let (here, there) = (served.sandbox(), served.sandbox());
    let id = required(&exec(&served, &here, "git gc --quiet"));
    assert_eq!(say(&served, &id, "allow", &json!({"scope": "session"})).status, 200);
    for line in ["git gc --quiet", "git gc --quiet", "git gc --auto"] {
        assert_eq!(exec(&served, &here, line).status, 200, "{line}");
    }
    required(&exec(&served, &there, "git gc --quiet"));
    required(&exec(&served, &here, "echo deploy now"));
}

#[test]
fn a_yes_for_always_is_a_narrow_rule_that_holds_at_once() {
    let served = serve(RULES);
    let sandbox = served.sandbox();
    let id = required(&exec(&served, &sandbox, "echo deploy now"));
    let answered = say(&served, &id, "allow", &json!({"scope": "always"}));
    assert_eq!(answered.status, 200, "{answered:?}");
    let rule = answered.json()["answer"]["rule"].as_str().unwrap().to_owned();
    assert!(rule.contains("echo deploy now"), "{rule}");
    assert_eq!(answered.json().get("warning"), None, "{answered:?}");
    assert!(fs::read_to_string(served.home().join("guardian.toml")).unwrap().contains(&rule));
    // The first time by the answer, from then on by the rule.
    for _time in 0..3 {
        assert_eq!(exec(&served, &sandbox, "echo deploy now").status, 200);
    }
    required(&exec(&served, &sandbox, "echo deploy then"));
}

#[test]
fn nobody_saying_anything_is_a_no_after_a_while() {
    let served = serve(&RULES.replace("60s", "1s"));
    let sandbox = served.sandbox();
    let id = required(&exec(&served, &sandbox, "echo deploy now"));
    let heard = served.client().post(&format!("/api/v1/approvals/{id}/wait?seconds=50"), &json!({})).json();
    assert_eq!(
        (&heard["pending"], &heard["verdict"]["decision"]),
        (&json!(false), &json!("deny")),
        "{heard}"
    );
    assert_eq!(look(&served, &id)["state"], "expired");
    say(&served, &id, "allow", &json!({})).is_problem(409, "CONFLICT");
    assert_eq!(kinds(&served, &id), ["approval.requested", "approval.expired"]);
}

#[test]
fn what_is_made_together_is_asked_together_and_made_once() {
    let served = serve(RULES);
    let other = served.work().join("other");
    fs::create_dir(&other).unwrap();
    let order = json!({
        "workspace": served.work(),
        "mounts": [{"host": other, "sandbox": "/mnt/other", "mode": "ro"}],
    });
    let make = || served.client().post("/api/v1/sandboxes", &order);
    required(&make());
    let pending = served.client().get("/api/v1/approvals?state=pending").json();
    let ids: Vec<&str> =
        pending["items"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 2, "both are asked at once: {pending}");
    assert_eq!(say(&served, ids[0], "allow", &json!({})).status, 200);
    assert_eq!(required(&make()), ids[1], "one yes of two makes nothing");
    assert_eq!(look(&served, ids[0])["delivered_at"], Value::Null);
    assert_eq!(say(&served, ids[1], "allow", &json!({})).status, 200);
    assert_eq!(make().status, 201);
    assert!(ids.iter().all(|id| look(&served, id)["delivered_at"].is_string()));
    say(&served, &required(&make()), "allow", &json!({"input": {"path": "/"}}))
        .is_problem(400, "INVALID_REQUEST");
}

#[test]
fn files_wait_as_commands_do() {
    let served = serve(RULES);
    let sandbox = served.sandbox();
    let put = || served.client().put(&format!("{sandbox}/files/tmp/asked/motd"), b"hello");
    let id = required(&put());
    assert_eq!(say(&served, &id, "allow", &json!({})).status, 200);
    assert!(matches!(put().status, 200 | 201));
    required(&put());
}

#[test]
fn what_waits_is_there_after_a_restart_without_its_secrets() {
    let mut served = serve(RULES);
    let sandbox = served.sandbox();
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwx12";
    let id = required(&exec(&served, &sandbox, &format!("echo deploy {secret}")));
    served.restart("KILL");
    let kept = look(&served, &id);
    assert_eq!(kept["state"], "pending");
    assert!(!kept.to_string().contains(secret), "{kept}");
    assert_eq!(required(&exec(&served, &sandbox, &format!("echo deploy {secret}"))), id);
    assert_eq!(say(&served, &id, "allow", &json!({})).status, 200);
    assert_eq!(exec(&served, &sandbox, &format!("echo deploy {secret}")).status, 200);
}

#[test]
fn a_link_shows_the_call_and_takes_one_answer() {
    let served = serve(RULES);
    let sandbox = served.sandbox();
    let id = required(&exec(&served, &sandbox, "echo deploy <now>"));
    let link = say(&served, &id, "link", &json!({})).json();
    let url = link["url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://127.0.0.1:{}", served.port())).unwrap();
    let stranger = served.stranger();
    for _look in 0..2 {
        let page = stranger.get(path);
        assert_eq!(page.status, 200);
        let html = page.text();
        assert!(
            html.contains("&lt;now&gt;") && !html.contains("<now>") && !html.contains("<script"),
            "{html}"
        );
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("form-action 'self'"), "{policy}");
    }
    assert_eq!(look(&served, &id)["state"], "pending", "looking answers nothing");
    let mut forged = path.to_owned();
    forged.pop();
    forged.push(if path.ends_with('0') { '1' } else { '0' });
    stranger.get(&forged).is_problem(404, "NOT_FOUND");
    let post = |body: &str| {
        let form = Request::new("POST", path).with("content-type", "application/x-www-form-urlencoded");
        stranger.send(&form.body(body))
    };
    let from_elsewhere =
        Request::new("POST", path).with("origin", "http://evil.example").body("answer=allow");
    assert_eq!(stranger.send(&from_elsewhere).status, 403);
    assert_eq!(post("answer=perhaps").status, 400);
    assert!(post("answer=deny&reason=no+thanks").text().contains("denied by link"));
    assert_eq!(look(&served, &id)["answer"]["reason"], "no thanks");
    assert!(post("answer=allow").text().contains("already"));
    assert_eq!(look(&served, &id)["state"], "denied");
    say(&served, &id, "link", &json!({})).is_problem(409, "CONFLICT");
}

/// What a sandbox that is observed shows.
fn pass(served: &Served) -> String {
    let mut belljar = Command::new(env!("CARGO_BIN_EXE_belljar"));
    belljar.env("BELLJAR_HOME", served.home()).current_dir(served.work());
    belljar.args([
        "run",
        "--observe",
        "--agent",
        "coder",
        "--pids",
        "512",
        "--",
        "sh",
        "-c",
        "echo $BELLJAR_TOKEN",
    ]);
    String::from_utf8(belljar.output().unwrap().stdout).unwrap().trim().to_owned()
}

#[test]
fn a_sandboxs_pass_answers_nothing_and_hears_nothing_of_others() {
    // Without the rules that would have somebody asked whether the pass may be had.
    let (rules, _mounts) = RULES.split_once("[[rule]]\nname = \"shown\"").unwrap();
    let served = serve(rules);
    let sandbox = served.sandbox();
    let id = required(&exec(&served, &sandbox, "echo deploy now"));
    let inside = Client::tcp(served.port()).with("authorization", &format!("Bearer {}", pass(&served)));
    for word in ["allow", "deny", "link"] {
        let tried = inside.post(&format!("/api/v1/approvals/{id}/{word}"), &json!({}));
        tried.is_problem(403, "PERMISSION_DENIED");
    }
    inside.post("/api/v1/killswitch", &json!({})).is_problem(403, "PERMISSION_DENIED");
    inside.delete("/api/v1/killswitch").is_problem(403, "PERMISSION_DENIED");
    for word in ["wait?seconds=0", "delivered"] {
        inside.post(&format!("/api/v1/approvals/{id}/{word}"), &json!({})).is_problem(404, "NOT_FOUND");
    }
    assert_eq!(look(&served, &id)["state"], "pending");
}

#[test]
fn the_command_line_waits_for_the_answer_and_goes_on() {
    let served = serve(RULES);
    let sandbox = served.sandbox();
    let name = sandbox.rsplit('/').next().unwrap();
    let belljar = |args: &[&str]| {
        let mut belljar = Command::new(env!("CARGO_BIN_EXE_belljar"));
        belljar.env("BELLJAR_HOME", served.home()).args(args);
        belljar
    };
    for (word, code, words) in [("allow", 0, "deploy now"), ("deny", 126, "not today")] {
        let running = belljar(&["exec", name, "--", "echo", "deploy", "now"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        eventually("it waits", || {
            let listed = belljar(&["--json", "approvals", "list"]).output().unwrap();
            let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
            (listed.as_array().unwrap().len() == 1).then_some(())
        });
        let answer = ["--json", "approvals", word, "--reason", "not today"];
        assert!(belljar(&answer).output().unwrap().status.success());
        let ended = running.wait_with_output().unwrap();
        let said = String::from_utf8([ended.stdout, ended.stderr].concat()).unwrap();
        assert_eq!(ended.status.code(), Some(code), "{said}");
        assert!(said.contains(words), "{said}");
    }
}
