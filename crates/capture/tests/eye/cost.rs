//! Every known miscount, kept out of the records as it is kept out of the ledger of costs: both are told the same and
//! must come to the same.

use belljar_capture::cost::{CostLedger, Prices, Request, Source, Tokens, Usd};
use belljar_domain::{NewEvent, eye::Spent};
use serde_json::json;

use crate::shelf::{Memory, event, fold};

fn tokens(input: u64, output: u64) -> Tokens {
    Tokens { input, output, ..Tokens::default() }
}

fn told(
    source: Source,
    session: &str,
    agent: Option<&str>,
    request: Option<&str>,
    message: Option<&str>,
) -> Request {
    let text = |text: Option<&str>| text.map(str::to_owned);
    Request {
        source,
        session_id: session.to_owned(),
        agent_id: text(agent),
        request_id: text(request),
        message_id: text(message),
        model: "claude-opus-5-5".to_owned(),
        // An estimate does not tell its parts.
        tokens: tokens(1000, if source == Source::Estimate { 0 } else { 10 }),
        cost: (source == Source::Telemetry).then(|| Usd::from_micros(777)),
    }
}

fn as_event(at: i64, request: &Request) -> NewEvent {
    let mut event = match request.source {
        Source::Telemetry => event(
            "model.called",
            at,
            json!({
                "source": "otlp", "request_id": request.request_id, "model": request.model, "usage": request.tokens,
                "agent_id": request.agent_id, "message_id": request.message_id,
            }),
        ),
        Source::Transcript => event(
            "transcript.read",
            at,
            json!({"source": "transcript", "facts": [{
                "fact": "usage", "message": request.message_id, "request": request.request_id, "model": request.model,
                "tokens": request.tokens, "session": request.session_id, "agent": request.agent_id,
            }]}),
        ),
        Source::Estimate => {
            event("tool.used", at, json!({"model": request.model, "agent_id": request.agent_id}))
        }
    };
    if request.source == Source::Estimate {
        event.tokens = Some(request.tokens.input);
    }
    event.cost_micros = request.cost.map(Usd::micros);
    event.session = Some(request.session_id.clone());
    event.actor.id = None;
    event
}

/// Tells both the same, and compares every session and agent.
fn both(requests: &[Request]) -> Memory {
    let mut ledger = CostLedger::new(Prices::embedded().unwrap(), 100);
    for request in requests {
        ledger.hear(request.clone());
    }
    let events: Vec<NewEvent> = (1..).zip(requests).map(|(at, request)| as_event(at, request)).collect();
    let memory = fold(&events);
    let flat = |spent: Spent| (spent.requests, spent.tokens, spent.cost, spent.unpriced);
    for (name, session) in &memory.sessions {
        let wanted = ledger.session(name);
        assert_eq!(
            flat(session.spent),
            (wanted.requests, wanted.tokens, wanted.cost, wanted.unpriced),
            "{name}"
        );
    }
    for ((_, agent), record) in &memory.agents {
        if !agent.is_empty() {
            let wanted = ledger.agent_own(agent);
            assert_eq!((record.spent.requests, record.spent.cost), (wanted.requests, wanted.cost), "{agent}");
        }
    }
    memory
}

#[test]
fn a_message_that_grows_is_one_request_with_its_last_numbers() {
    let grown =
        Request { tokens: tokens(1000, 400), ..told(Source::Transcript, "s", None, Some("r1"), Some("m1")) };
    let memory = both(&[told(Source::Transcript, "s", None, Some("r1"), Some("m1")), grown]);
    assert_eq!(memory.sessions["s"].spent.tokens.output, 400);
}

#[test]
fn what_telemetry_and_transcript_both_tell_is_one_request_at_the_reported_price() {
    for order in [[Source::Telemetry, Source::Transcript], [Source::Transcript, Source::Telemetry]] {
        let memory = both(&order.map(|source| {
            told(source, "s", None, Some("r1"), Some("m1").filter(|_| source == Source::Transcript))
        }));
        let spent = memory.sessions["s"].spent;
        assert_eq!((spent.requests, spent.cost.micros(), spent.basis().as_str()), (1, 777, "reported"));
    }
}

#[test]
fn forks_and_resumed_sessions_do_not_pay_again() {
    both(&[
        told(Source::Transcript, "s", None, Some("r1"), Some("m1")),
        told(Source::Transcript, "fork", None, Some("r1"), Some("m1")),
        told(Source::Transcript, "s", Some("a1"), Some("r1"), Some("m1")),
        told(Source::Transcript, "fork", None, Some("r2"), Some("m2")),
    ]);
}

#[test]
fn answers_the_agent_wrote_itself_cost_nothing() {
    let made_up =
        Request { model: "<synthetic>".to_owned(), ..told(Source::Transcript, "s", None, None, Some("m1")) };
    assert_eq!(both(&[made_up]).sessions["s"].spent, Spent::default());
}

#[test]
fn cache_writes_for_an_hour_cost_twice_and_unknown_models_nothing() {
    let hour = Tokens { cache_write_1h: 1_000_000, ..Tokens::default() };
    let dear = Request { tokens: hour, ..told(Source::Transcript, "s", None, Some("r1"), Some("m1")) };
    let strange =
        Request { model: "moon-1".to_owned(), ..told(Source::Transcript, "s", None, Some("r2"), Some("m2")) };
    let spent = both(&[dear, strange]).sessions["s"].spent;
    assert_eq!((spent.cost.micros(), spent.unpriced, spent.basis().as_str()), (8_000_000, 1, "estimated"));
}

#[test]
fn telemetry_without_names_silences_transcripts_and_anything_silences_estimates() {
    both(&[
        told(Source::Estimate, "s", None, None, None),
        told(Source::Transcript, "s", None, Some("r1"), Some("m1")),
        told(Source::Telemetry, "s", None, None, None),
        told(Source::Transcript, "s", None, Some("r2"), Some("m2")),
    ]);
    let memory =
        both(&[told(Source::Estimate, "s", None, None, None), told(Source::Estimate, "s", None, None, None)]);
    assert_eq!(memory.sessions["s"].spent.basis().as_str(), "estimated");
    assert_eq!(memory.sessions["s"].spent.requests, 2);
}

#[test]
fn subagents_spend_their_own_and_sessions_all() {
    let memory = both(&[
        told(Source::Transcript, "s", None, Some("r1"), Some("m1")),
        told(Source::Transcript, "s", Some("a1"), Some("r2"), Some("m2")),
        // Telemetry that does not name the agent does not take the request from it.
        told(Source::Telemetry, "s", None, Some("r2"), None),
    ]);
    let own = memory.agents[&("s".to_owned(), "a1".to_owned())].spent;
    assert_eq!((own.requests, memory.sessions["s"].spent.requests), (1, 2));
}

#[test]
fn a_request_is_shared_among_the_calls_it_asked_for() {
    let call = |name: &str| {
        let mut event =
            event("tool.reported", 2, json!({"source": "otlp", "tool_use_id": name, "request_id": "r1"}));
        event.tool = Some("Read".to_owned());
        event
    };
    let request = as_event(1, &told(Source::Telemetry, "s", None, Some("r1"), None));
    for events in [
        [request.clone(), call("t1"), call("t2")],
        [call("t1"), request.clone(), call("t2")],
        [call("t1"), call("t2"), request],
    ] {
        let memory = fold(&events);
        assert!(memory.calls.values().all(|call| call.cost == Some(Usd(388_500))), "{:?}", memory.calls);
        assert_eq!(memory.requests.len(), 1);
    }
}

#[test]
fn parallel_calls_share_what_their_message_cost_wherever_its_last_record_stands() {
    let used =
        |call: &str| json!({"fact": "use", "id": call, "tool": "Read", "message": "m", "session": "s"});
    let usage = json!({"fact": "usage", "message": "m", "request": "r", "model": "claude-opus-5-5", "session": "s",
        "tokens": tokens(1000, 10)});
    let whole = Prices::embedded().unwrap().reckon("claude-opus-5-5", tokens(1000, 10)).unwrap().0;
    // A message has a record for each of its parts; what travels is the last.
    for facts in [[used("t1"), usage.clone(), used("t2")], [used("t1"), used("t2"), usage]] {
        let read = event("transcript.read", 1, json!({"source": "transcript", "facts": facts}));
        let memory = fold(&[read]);
        let costs: Vec<_> = memory.calls.values().map(|call| call.cost.unwrap().0).collect();
        assert_eq!(costs.len(), 2, "{:?}", memory.calls);
        assert_eq!(costs.iter().sum::<u64>(), whole.0);
        assert_eq!(costs[0], costs[1]);
        assert_eq!(memory.sessions["s"].model.as_deref(), Some("claude-opus-5-5"));
    }
}

#[test]
fn numbers_nobody_can_mean_spoil_no_sum() {
    let mut direct = event("tool.used", 1, json!({"model": "claude-opus-5-5"}));
    (direct.tokens, direct.cost_micros, direct.duration_ms) =
        (Some(u64::MAX), Some(u64::MAX), Some(u64::MAX));
    let most = json!({"input": u64::MAX, "output": u64::MAX, "cache_read": u64::MAX});
    let read = json!({"source": "transcript", "facts": [{"fact": "usage", "message": "m", "request": "r",
        "model": "claude-opus-5-5", "session": "s", "tokens": most}]});
    let mut events = vec![direct.clone(), direct, event("transcript.read", 3, read)];
    for at in 4..9 {
        let mut told = event(
            "model.called",
            at,
            json!({"source": "otlp", "request_id": format!("r{at}"), "usage": most}),
        );
        told.cost_micros = Some(u64::MAX);
        events.push(told);
    }
    let memory = fold(&events);
    let spent = memory.sessions.values().map(|session| session.spent).next().unwrap();
    assert!(spent.tokens.input <= 7 * NewEvent::MOST_TOKENS, "{spent:?}");
    assert!(spent.cost < Usd::from_micros(NewEvent::MOST_MICROS * 1000), "{spent:?}");
}
