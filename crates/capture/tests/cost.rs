//! Every way cost is known to be miscounted, each as a test.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use belljar_capture::{
    cost::{Basis, CostLedger, Prices, Request, Source, Tokens, Usd},
    transcript::{Reader, TranscriptFact},
};
use serde_json::json;

const ONE: Tokens =
    Tokens { input: 1200, output: 42, cache_read: 900, cache_write_5m: 300, cache_write_1h: 0 };

fn ledger() -> CostLedger {
    CostLedger::new(Prices::embedded().unwrap(), 100)
}

fn told(source: Source, request: Option<&str>, message: Option<&str>) -> Request {
    Request {
        source,
        session_id: "s1".to_owned(),
        agent_id: None,
        request_id: request.map(str::to_owned),
        message_id: message.map(str::to_owned),
        model: "claude-opus-5-5".to_owned(),
        tokens: ONE,
        cost: (source == Source::Telemetry).then(|| Usd::from_micros(7320)),
    }
}

fn line(session: &str, message: &str, request: &str, model: &str, output: u64) -> String {
    let line = json!({"type": "assistant", "sessionId": session, "requestId": request, "message": {
        "id": message, "model": model, "content": [],
        "usage": {"input_tokens": 1200, "output_tokens": output, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 300}
    }});
    format!("{line}\n")
}

fn read(ledger: &mut CostLedger, mut reader: Reader, text: &str) {
    for fact in reader.feed(text.as_bytes()) {
        if let TranscriptFact::Usage(usage) = fact {
            ledger.hear(usage.request());
        }
    }
}

#[test]
fn the_list_agrees_with_what_the_agent_reported() {
    let prices = Prices::embedded().unwrap();
    let (cost, is_own) = prices.reckon("claude-opus-5-5", ONE).unwrap();
    assert_eq!((cost.micros(), is_own), (7320, true));
    assert_eq!(prices.as_of().len(), 10);
}

#[test]
fn cache_writes_for_an_hour_cost_twice_the_input() {
    let prices = Prices::embedded().unwrap();
    let of = |tokens| prices.reckon("claude-opus-4-5", tokens).unwrap().0;
    let million = 1_000_000;
    assert_eq!(of(Tokens { input: million, ..Tokens::default() }).to_string(), "$5.00");
    assert_eq!(of(Tokens { cache_write_5m: million, ..Tokens::default() }).to_string(), "$6.25");
    assert_eq!(of(Tokens { cache_write_1h: million, ..Tokens::default() }).to_string(), "$10.00");
    assert_eq!(of(Tokens { cache_read: million, ..Tokens::default() }).to_string(), "$0.5000");
}

#[test]
fn every_listed_model_prices_cache_writes_by_the_rule() {
    let list: serde_json::Value = serde_json::from_str(include_str!("../src/cost/prices.json")).unwrap();
    let models = list["models"].as_array().unwrap();
    for model in models.iter().filter(|model| model["name"].as_str().unwrap().starts_with("claude")) {
        let price = |name: &str| model[name].as_f64().unwrap();
        assert!((price("cache_write_5m") - price("input") * 1.25).abs() < 1e-9, "{model}");
        assert!((price("cache_write_1h") - price("input") * 2.0).abs() < 1e-9, "{model}");
        assert!((price("output") - price("input") * 5.0).abs() < 1e-9, "{model}");
    }
}

#[test]
fn models_of_other_vendors_have_their_own_prices() {
    let prices = Prices::embedded().unwrap();
    let million = Tokens { input: 100_000, cache_read: 100_000, output: 100_000, ..Tokens::default() };
    for (model, micros) in [
        ("gpt-5", 1_137_500),
        ("openai/gpt-5-mini-2025-08-07", 227_500),
        ("gpt-5.1-codex-max", 1_137_500),
        ("gpt-5.3-codex", 1_592_500),
        ("gemini-3.1-pro-preview", 1_420_000),
    ] {
        let (cost, is_own) = prices.reckon(model, million).unwrap();
        assert_eq!((cost.micros(), is_own), (micros, true), "{model}");
    }
    assert!(prices.reckon("gpt-7", million).is_none());
}

#[test]
fn a_list_of_ones_own_goes_before_ours_and_may_leave_out_caches() {
    let own = r#"{"as_of": "2027-01-01", "models": [
        {"name": "acme/gpt-7.1", "input": 2, "output": 4}, {"name": "claude-opus-5-5", "input": 1, "output": 1}]}"#;
    let prices = Prices::read(own).unwrap().or(Prices::embedded().unwrap());
    assert_eq!(prices.as_of(), "2027-01-01");
    let tokens = Tokens { input: 1_000_000, cache_read: 1_000_000, ..Tokens::default() };
    let of = |model| prices.reckon(model, tokens).unwrap().0.to_string();
    assert_eq!((of("gpt-7.1-2027-01-01").as_str(), of("claude-opus-5-5").as_str()), ("$4.00", "$2.00"));
    assert_eq!(of("claude-opus-5"), "$5.50");
    assert!(Prices::read(r#"{"models": []}"#).is_err());
}

#[test]
fn a_prompt_beyond_a_models_threshold_costs_its_long_price() {
    let prices = Prices::embedded().unwrap();
    let of =
        |input| prices.reckon("claude-haiku-5-5", Tokens { input, ..Tokens::default() }).unwrap().0.micros();
    assert_eq!((of(100_000), of(200_000)), (10_000, 100_000));
}

#[test]
fn a_message_written_many_times_counts_once_with_its_last_record() {
    let mut ledger = ledger();
    let text: String =
        [1, 1, 20, 42].map(|output| line("s1", "msg_1", "req_1", "claude-opus-5-5", output)).concat();
    read(&mut ledger, Reader::new(0), &text);
    let total = ledger.session("s1");
    assert_eq!((total.requests, total.tokens.output, total.cost.micros()), (1, 42, 7320));
    assert_eq!(total.basis, Basis::ListPrice);
}

#[test]
fn telemetry_and_transcript_of_one_request_are_one_request() {
    for telemetry_first in [true, false] {
        let mut ledger = ledger();
        let heard = told(Source::Telemetry, Some("req_1"), None);
        if telemetry_first {
            ledger.hear(heard.clone());
        }
        read(&mut ledger, Reader::new(0), &line("s1", "msg_1", "req_1", "claude-opus-5-5", 1));
        if !telemetry_first {
            ledger.hear(heard);
        }
        let total = ledger.session("s1");
        assert_eq!((total.requests, total.tokens.output, total.cost.micros()), (1, 42, 7320));
        assert_eq!(total.basis, Basis::Reported);
    }
}

#[test]
fn telemetry_that_names_no_requests_silences_the_transcript() {
    let mut ledger = ledger();
    read(&mut ledger, Reader::new(0), &line("s1", "msg_1", "req_1", "claude-opus-5-5", 42));
    ledger.hear(told(Source::Telemetry, None, None));
    assert_eq!(ledger.session("s1").cost.micros(), 7320);
}

#[test]
fn what_telemetry_missed_is_taken_from_the_transcript() {
    let mut ledger = ledger();
    ledger.hear(told(Source::Telemetry, Some("req_2"), None));
    let text = [
        line("s1", "msg_1", "req_1", "claude-opus-5-5", 42),
        line("s1", "msg_2", "req_2", "claude-opus-5-5", 42),
    ];
    read(&mut ledger, Reader::new(0), &text.concat());
    assert_eq!((ledger.session("s1").requests, ledger.session("s1").cost.micros()), (2, 14_640));
}

#[test]
fn answers_the_agent_made_up_cost_nothing() {
    let mut ledger = ledger();
    read(&mut ledger, Reader::new(0), &line("s1", "msg_1", "req_1", "<synthetic>", 42));
    assert_eq!(ledger.session("s1").requests, 0);
}

#[test]
fn a_fork_or_resume_replays_without_paying_again() {
    let mut ledger = ledger();
    read(&mut ledger, Reader::new(0), &line("s1", "msg_1", "req_1", "claude-opus-5-5", 42));
    let fork = [
        line("s2", "msg_1", "req_1", "claude-opus-5-5", 42),
        line("s2", "msg_2", "req_2", "claude-opus-5-5", 42),
    ];
    read(&mut ledger, Reader::new(0), &fork.concat());
    assert_eq!((ledger.session("s1").requests, ledger.session("s2").requests), (1, 1));
}

#[test]
fn subagents_are_counted_and_their_copies_are_not() {
    let mut ledger = ledger();
    read(&mut ledger, Reader::new(0), &line("s1", "msg_1", "req_1", "claude-opus-5-5", 42));
    // An aside begins with the whole conversation again, under other request ids.
    let aside = [
        line("s1", "msg_1", "req_9", "claude-opus-5-5", 42),
        line("s1", "msg_2", "req_2", "claude-opus-5-5", 42),
    ];
    read(&mut ledger, Reader::of_agent("a1", 0), &aside.concat());
    assert_eq!(ledger.session("s1").requests, 2);
    assert_eq!(ledger.session_own("s1").requests, 1);
    assert_eq!(ledger.agent_own("a1").cost.micros(), 7320);
}

#[test]
fn own_and_total_differ_by_what_was_delegated() {
    let mut ledger = ledger();
    for (request, agent) in [("r1", None), ("r2", Some("a1")), ("r3", Some("a2")), ("r4", Some("a2"))] {
        let agent_id = agent.map(str::to_owned);
        ledger.hear(Request { agent_id, ..told(Source::Telemetry, Some(request), None) });
    }
    ledger.adopt("a2", "a1");
    assert_eq!((ledger.agent_own("a1").requests, ledger.agent("a1").requests), (1, 3));
    assert_eq!((ledger.session_own("s1").requests, ledger.session("s1").requests), (1, 4));
    assert_eq!(ledger.request("r3").unwrap().cost.micros(), 7320);
    // A circle ends.
    ledger.adopt("a1", "a2");
    assert_eq!(ledger.agent("a1").requests, 3);
}

/// A tool's answer repeats the subagent's last usage, and `totalTokens` is its context: neither is usage.
#[test]
fn a_parents_report_of_its_subagent_is_not_usage() {
    let report = json!({"type": "user", "sessionId": "s1",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]},
        "toolUseResult": {"agentId": "a1", "totalTokens": 2442, "usage": {"input_tokens": 1200, "output_tokens": 42}}});
    let mut ledger = ledger();
    read(&mut ledger, Reader::new(0), &format!("{report}\n"));
    assert_eq!(ledger.session("s1").requests, 0);
}

#[test]
fn estimates_are_marked_and_give_way() {
    let mut ledger = ledger();
    ledger.hear(told(Source::Estimate, None, None));
    assert_eq!(ledger.session("s1").basis, Basis::Estimated);
    ledger.hear(told(Source::Telemetry, Some("req_1"), None));
    assert_eq!((ledger.session("s1").requests, ledger.session("s1").basis), (1, Basis::Reported));
}

#[test]
fn an_unknown_model_is_priced_like_its_family_and_marked() {
    let prices = Prices::embedded().unwrap();
    assert!(!prices.reckon("claude-opus-4-9", ONE).unwrap().1, "not opus 4");
    assert!(prices.reckon("gpt-unheard-of", ONE).is_none());
    let mut ledger = ledger();
    ledger.hear(Request { model: "gpt-unheard-of".to_owned(), ..told(Source::Transcript, None, Some("m")) });
    let total = ledger.session("s1");
    assert_eq!((total.unpriced, total.cost, total.basis), (1, Usd::default(), Basis::Estimated));
    assert_eq!(total.tokens, ONE);
}

#[test]
fn a_full_ledger_says_what_it_left_out() {
    let mut ledger = CostLedger::new(Prices::embedded().unwrap(), 1);
    for request in ["r1", "r2", "r1"] {
        ledger.hear(told(Source::Telemetry, Some(request), None));
    }
    assert_eq!((ledger.session("s1").requests, ledger.refused()), (1, 1));
}

/// The agent's own running totals stand in the transcript too; they are sums of what was already counted.
#[test]
fn rows_of_totals_are_not_requests() {
    let mut ledger = ledger();
    let row =
        json!({"type": "cost-state", "sessionId": "s1", "totalCostUSD": 9.5, "usage": {"input_tokens": 7}});
    read(&mut ledger, Reader::new(0), &format!("{row}\n"));
    assert_eq!(ledger.session("s1").requests, 0);
}
