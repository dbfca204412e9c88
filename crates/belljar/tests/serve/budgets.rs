//! Budgets from outside: nobody overspends, whoever has used them up is told so and paused, and all of it is kept.

use std::{fs, thread};

use serde_json::{Value, json};

use crate::{
    agents::{hook, inside, said, sandbox_of},
    support::{Request, Served, eventually},
};

fn set(served: &Served, id: &str, budget: &Value) {
    let put = Request::new("PUT", &format!("/api/v1/budgets/{id}")).json(budget);
    let answer = served.client().send(&put);
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn order(agent: &str, tokens: u64) -> Value {
    json!({"spender": {"agent": agent}, "amount": {"tokens": tokens}})
}

/// The lines of a budget's status.
fn status(served: &Served, id: &str) -> Vec<Value> {
    let all = served.client().get("/api/v1/budgets").json();
    let lines = all["items"].as_array().unwrap().iter().filter(|line| line["budget"] == id);
    lines.cloned().collect()
}

fn events(served: &Served, kind: &str) -> Vec<Value> {
    let page = served.client().get(&format!("/api/v1/events?kind={kind}")).json();
    page["items"].as_array().unwrap().clone()
}

#[test]
fn ten_at_once_cannot_overspend_and_a_restart_forgets_nothing() {
    let mut served = Served::start();
    set(&served, "agent:fork:day", &json!({"tokens": 1000}));
    let answers: Vec<u16> = thread::scope(|scope| {
        let ask = || served.client().post("/api/v1/budgets/reserve", &order("fork", 300)).status;
        let threads: Vec<_> = (0..10).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |status: u16| answers.iter().filter(|answer| **answer == status).count();
    assert_eq!((count(201), count(429)), (3, 7), "{answers:?}");
    served.restart("KILL");
    let line = &status(&served, "agent:fork:day")[0];
    assert_eq!((&line["blocked"], &line["percent"]), (&json!(7), &json!(90)), "{line}");
    let full = served.client().post("/api/v1/budgets/reserve", &order("fork", 300));
    full.is_problem(429, "BUDGET_EXCEEDED");
    assert!(full.text().contains("agent:fork:day") && full.header("retry-after").is_some(), "{full:?}");
    served.client().post("/api/v1/budgets/check", &order("fork", 101)).is_problem(429, "BUDGET_EXCEEDED");
    assert_eq!(served.client().post("/api/v1/budgets/check", &order("fork", 100)).status, 200);
    // Another agent has a budget of its own, which is none.
    assert_eq!(served.client().post("/api/v1/budgets/check", &order("other", 9999)).status, 200);
}

#[test]
fn what_is_set_aside_is_paid_given_back_or_runs_out() {
    let served = Served::start();
    set(&served, "agent:a:total", &json!({"tokens": 1000, "cost_usd": 1.5}));
    let reserve = |tokens: u64, seconds: u64| {
        let mut asked = order("a", tokens);
        asked["ttl_seconds"] = json!(seconds);
        let made = served.client().post("/api/v1/budgets/reserve", &asked);
        assert_eq!(made.status, 201, "{made:?}");
        made.json()["reservation_id"].as_str().unwrap().to_owned()
    };
    let paid = reserve(600, 600);
    let deduct = json!({"amount": {"tokens": 450, "cost_usd": 0.25}, "reservation_id": paid});
    let payment = served.client().post("/api/v1/budgets/deduct", &deduct).json();
    assert_eq!(payment["budgets"][0]["before"]["tokens"], 0, "{payment}");
    assert_eq!(payment["budgets"][0]["after"], json!({"tokens": 450, "cost_usd": 0.25}), "{payment}");
    served.client().post("/api/v1/budgets/deduct", &deduct).is_problem(404, "NOT_FOUND");
    let back = reserve(550, 600);
    served.client().post("/api/v1/budgets/check", &order("a", 1)).is_problem(429, "BUDGET_EXCEEDED");
    let place = format!("/api/v1/budgets/reservations/{back}");
    assert_eq!(served.client().delete(&place).status, 204);
    assert_eq!(served.client().delete(&place).status, 404);
    reserve(550, 1);
    eventually("its time is over", || {
        (served.client().post("/api/v1/budgets/check", &order("a", 550)).status == 200).then_some(())
    });
    // At 80 % somebody is told, once; then it begins anew.
    for _ in 0..2 {
        served.client().post("/api/v1/budgets/deduct", &order("a", 200));
    }
    let reached = eventually("it is told", || events(&served, "budget.reached").into_iter().next());
    assert_eq!(
        (&reached["payload"]["step"], &reached["target"]),
        (&json!("notify"), &json!("agent:a:total"))
    );
    assert_eq!(events(&served, "budget.reached").len(), 1);
    said(&served, &["budget", "reset", "agent:a:total"]);
    assert_eq!(status(&served, "agent:a:total")[0]["spent"]["tokens"], 0);
    let history = said(&served, &["budget", "history", "--agent", "a"]);
    let spent: Vec<_> =
        history["items"].as_array().unwrap().iter().map(|event| event["kind"].clone()).collect();
    assert_eq!(spent.iter().filter(|kind| **kind == "budget.spent").count(), 3, "{history}");
    for wrong in ["agent:day", "moon:x:day", "agent:x:week", "agent::day"] {
        let put = Request::new("PUT", &format!("/api/v1/budgets/{wrong}")).json(&json!({"tokens": 1}));
        served.client().send(&put).is_problem(400, "INVALID_REQUEST");
    }
    let empty = Request::new("PUT", "/api/v1/budgets/agent:x:day").json(&json!({}));
    served.client().send(&empty).is_problem(400, "INVALID_REQUEST");
}

#[test]
fn calls_are_reckoned_before_they_are_made_and_an_exhausted_budget_pauses_the_sandbox() {
    let served = Served::start();
    set(&served, "agent:coder:session", &json!({"tokens": 1400}));
    let id = sandbox_of(&served, "coder");
    let client = inside(&served, &id, Some("coder"));
    let call = |event: &str, name: &str| {
        let input = json!({"command": "cargo test"});
        hook(&client, event, name, "s1", "Bash", &input)
    };
    for name in ["c1", "c2"] {
        assert_eq!(call("PreToolUse", name), Value::Null);
        assert_eq!(call("PostToolUse", name), Value::Null);
    }
    let line = &status(&served, "agent:coder:session")[0];
    let spent = line["spent"]["tokens"].as_u64().unwrap();
    assert!((1000..1400).contains(&spent) && line["estimated"] == line["spent"], "{line}");
    assert_eq!((&line["span"], &line["reserved"]["tokens"]), (&json!("session s1"), &json!(0)), "{line}");
    let verdict = call("PreToolUse", "c3");
    assert_eq!(verdict["decision"], "ask", "{verdict}");
    let reason = verdict["reason"].as_str().unwrap();
    assert!(reason.contains("agent:coder:session") && reason.contains("belljar budget set"), "{reason}");
    let path = format!("/api/v1/sandboxes/{id}");
    let state = || served.client().get(&path).json()["state"].clone();
    assert_eq!(state(), "paused");
    let asked = events(&served, "budget.blocked");
    assert_eq!((&asked[0]["agent_id"], &asked[0]["payload"]["blocked"]), (&json!("coder"), &json!(true)));
    // Another conversation of the same agent has a budget of its own; this one goes on when a person says so.
    said(&served, &["budget", "reset", "agent:coder:session"]);
    assert_eq!(state(), "running");
    assert_eq!(call("PreToolUse", "c4"), Value::Null);
    // A day's budget is about everything the agent does, also what is done for it from outside.
    set(&served, "agent:coder:day", &json!({"tokens": 100}));
    served.client().post("/api/v1/budgets/deduct", &order("coder", 200));
    let refused = served.client().post(&format!("{path}/exec"), &json!({"command": "true"}));
    refused.is_problem(429, "BUDGET_EXCEEDED");
    assert!(refused.text().contains("agent:coder:day"), "{refused:?}");
    assert_eq!(state(), "paused");
    set(&served, "agent:coder:day", &json!({"tokens": 10_000}));
    assert_eq!(state(), "running");
    assert_eq!(served.client().post(&format!("{path}/exec"), &json!({"command": "true"})).status, 200);
    set(&served, "agent:coder:day", &json!({"tokens": 300, "steps": {"terminate": 100}}));
    served.client().post("/api/v1/budgets/deduct", &order("coder", 200));
    let sandbox = served.client().get(&path).json();
    assert_eq!(sandbox["status"], "TERMINATED", "{sandbox}");
}

#[test]
fn what_it_really_cost_takes_the_place_of_what_was_reckoned() {
    let served = Served::start();
    set(&served, "agent:coder:day", &json!({"cost_usd": 10.0, "tokens": 1_000_000}));
    let id = sandbox_of(&served, "coder");
    let client = inside(&served, &id, Some("coder"));
    let input = json!({"command": "cargo test"});
    for event in ["PreToolUse", "PostToolUse"] {
        assert_eq!(hook(&client, event, "c1", "s1", "Bash", &input), Value::Null);
    }
    let line = || status(&served, "agent:coder:day")[0].clone();
    assert_eq!(line()["estimated"], line()["spent"]);
    let told = json!({
        "kind": "model.called", "session_id": "s1", "cost_usd": 2.5, "tokens": 9000,
        "payload": {"model": "claude-sonnet-4-5", "request_id": "req_1"},
    });
    for _ in 0..2 {
        let taken = client.post("/api/v1/events/ingest", &told);
        assert!(matches!(taken.status, 200 | 201), "{taken:?}");
    }
    let heard = eventually("the real cost is heard", || {
        let line = line();
        (line["estimated"]["tokens"] == 0).then_some(line)
    });
    assert_eq!(heard["spent"], json!({"tokens": 9000, "cost_usd": 2.5}), "told twice, counted once: {heard}");
}

#[test]
fn the_operators_limits_and_a_roles_own_count_without_being_set() {
    let served =
        Served::start_configured("[budgets]\nday = 50\nsteps = [20, 50, 100]\nsession_tokens = \"2k\"\n");
    let all = served.client().get("/api/v1/budgets").json();
    let names: Vec<_> = all["items"].as_array().unwrap().iter().map(|line| line["budget"].clone()).collect();
    assert_eq!(names, ["global:*:day", "session:*:total"], "{all}");
    let spend = |cost: f64| {
        let paid = json!({"spender": {"agent": "x"}, "amount": {"cost_usd": cost}});
        assert_eq!(served.client().post("/api/v1/budgets/deduct", &paid).status, 200);
    };
    spend(10.0);
    spend(15.0);
    eventually("both steps are told", || (events(&served, "budget.reached").len() == 2).then_some(()));
    let steps: Vec<_> =
        events(&served, "budget.reached").iter().map(|e| e["payload"]["step"].clone()).collect();
    assert_eq!(steps, ["pause", "notify"]);
    said(&served, &["approve-agent", "ana", "--role", "analyst"]);
    let theirs = said(&served, &["budget", "status", "--agent", "ana", "--session", "s9"]);
    let lines = theirs["items"].as_array().unwrap();
    let of = |id: &str| lines.iter().find(|line| line["budget"] == id).unwrap_or_else(|| panic!("{theirs}"));
    assert_eq!(of("agent:ana:session")["tokens"], 100_000);
    assert_eq!(
        (&of("agent:ana:day")["cost_usd"], &of("agent:ana:day")["set_by"]),
        (&json!(15.0), &json!("role analyst"))
    );
    said(&served, &["budget", "set", "role:analyst:day", "--cost", "40"]);
    let theirs = said(&served, &["budget", "status", "--agent", "ana"]);
    assert!(!theirs.to_string().contains("agent:ana:day"), "what a person sets counts instead: {theirs}");
    // An import brings its budgets along.
    let registry = json!([{"name": "imported", "role": "tester", "budget": {"max_tokens_per_session": 5000, "max_cost_per_day": 12.5}}]);
    fs::write(served.work().join("one.json"), registry.to_string()).unwrap();
    said(&served, &["agents", "import", "one.json"]);
    assert_eq!(status(&served, "agent:imported:day")[0]["cost_usd"], 12.5);
    assert_eq!(status(&served, "agent:imported:session")[0]["tokens"], 5000);
}
