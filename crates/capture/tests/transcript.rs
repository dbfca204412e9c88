//! Transcripts as they grow: any cut, broken lines, subagents.

use belljar_capture::transcript::{BrokenTurn, Reader, TranscriptFact, UsageRecord};
use serde_json::json;

fn assistant(message: &str, output: u64, content: &serde_json::Value) -> String {
    let line = json!({
        "type": "assistant", "sessionId": "s1", "isSidechain": false, "requestId": format!("req_{message}"),
        "uuid": "u", "timestamp": "2026-11-15T18:38:18.585Z",
        "message": {"id": message, "role": "assistant", "model": "claude-opus-5-5", "content": content, "usage": {
            "input_tokens": 1200, "output_tokens": output, "cache_read_input_tokens": 900,
            "cache_creation_input_tokens": 300,
            "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200}
        }}
    });
    format!("{line}\n")
}

fn session() -> String {
    let text = json!([{"type": "text", "text": "I look."}]);
    let call = json!([{"type": "tool_use", "id": "toolu_1", "name": "Task", "input": {"prompt": "go"}}]);
    let answer = json!({
        "type": "user", "sessionId": "s1",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "done"}]},
        "toolUseResult": {"agentId": "a1", "totalTokens": 99, "usage": {"input_tokens": 5}}
    });
    [
        "{\"type\":\"summary\",\"summary\":\"x\"}\n".to_owned(),
        assistant("msg_1", 1, &text),
        assistant("msg_1", 42, &call),
        format!("{answer}\n"),
    ]
    .concat()
}

fn usages(facts: &[TranscriptFact]) -> Vec<&UsageRecord> {
    let mut usages = Vec::new();
    for fact in facts {
        if let TranscriptFact::Usage(usage) = fact {
            usages.push(usage);
        }
    }
    usages
}

#[test]
fn a_turn_that_broke_off_is_told_once_and_a_subagents_is_not() {
    let line = |is_aside: bool| {
        let line = json!({
            "type": "assistant", "sessionId": "s1", "isSidechain": is_aside, "uuid": "u7", "isApiErrorMessage": true,
            "timestamp": "2026-11-15T18:38:18.585Z", "error": "unknown", "apiErrorStatus": 400,
            "apiErrorType": "invalid_request_error",
            "message": {"id": "m", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 400"}]}
        });
        format!("{line}\n")
    };
    let mut reader = Reader::new(0);
    reader.feed([session(), line(true), line(false)].concat().as_bytes());
    let broken = reader.broken_turns();
    assert_eq!(
        broken.iter().map(BrokenTurn::said).collect::<Vec<_>>(),
        ["unknown (400 invalid_request_error)"]
    );
    assert_eq!((broken[0].id.as_str(), broken[0].time.as_str()), ("u7", "2026-11-15T18:38:18.585Z"));
    assert!(reader.broken_turns().is_empty());
    let mut aside = Reader::of_agent("a1", 0);
    aside.feed(line(false).as_bytes());
    assert!(aside.broken_turns().is_empty());
}

#[test]
fn lines_become_facts() {
    let mut reader = Reader::new(0);
    let facts = reader.feed(session().as_bytes());
    let usages = usages(&facts);
    assert_eq!(usages.len(), 2);
    assert_eq!(
        (usages[1].tokens.output, usages[1].tokens.cache_write_5m, usages[1].tokens.cache_write_1h),
        (42, 100, 200)
    );
    assert!(facts.iter().any(|fact| matches!(fact, TranscriptFact::ToolUse { tool_use_id, tool_name, .. }
        if tool_use_id == "toolu_1" && tool_name == "Task")));
    assert!(
        facts.iter().any(
            |fact| matches!(fact, TranscriptFact::ToolResult { started: Some(agent), is_error: false, .. }
        if agent == "a1")
        )
    );
    assert_eq!(reader.skipped(), 0);
}

#[test]
fn any_cut_gives_the_same_facts() {
    let text = session();
    let whole = Reader::new(0).feed(text.as_bytes());
    for size in [1, 3, 100, 1000] {
        let mut reader = Reader::new(0);
        let pieces: Vec<_> = text.as_bytes().chunks(size).flat_map(|piece| reader.feed(piece)).collect();
        assert_eq!(pieces, whole, "in pieces of {size}");
        assert_eq!(reader.offset(), u64::try_from(text.len()).unwrap());
    }
}

#[test]
fn a_reader_continues_after_the_last_complete_line() {
    let text = session();
    let half = text.len() / 2;
    let mut first = Reader::new(0);
    let mut facts = first.feed(&text.as_bytes()[..half]);
    let offset = first.offset();
    let mut second = Reader::new(offset);
    facts.extend(second.feed(&text.as_bytes()[usize::try_from(offset).unwrap()..]));
    assert_eq!(facts, Reader::new(0).feed(text.as_bytes()));
}

#[test]
fn broken_lines_are_skipped_and_counted() {
    let text = format!("{{\"type\": \nnot json\n\n[1]\n{}\u{0}\n", session());
    let mut reader = Reader::new(0);
    let facts = reader.feed(text.as_bytes());
    assert_eq!(usages(&facts).len(), 2);
    assert_eq!(reader.skipped(), 3);
}

#[test]
fn a_subagents_file_names_its_agent() {
    assert_eq!(Reader::agent_of("agent-ace8d6989bd07e51c.jsonl"), Some("ace8d6989bd07e51c"));
    assert_eq!(Reader::agent_of("01670efa.jsonl"), None);
    let line = assistant("msg_9", 5, &json!([]));
    let facts = Reader::of_agent("a1", 0).feed(line.as_bytes());
    assert_eq!(usages(&facts)[0].agent_id.as_deref(), Some("a1"));
}

fn rollout(second: u32, sort: &str, payload: &serde_json::Value) -> String {
    let time = format!("2026-11-18T14:00:{second:02}.120Z");
    format!("{}\n", json!({"timestamp": time, "type": sort, "payload": payload}))
}

fn counted(second: u32, total: u64, last: (u64, u64, u64)) -> String {
    let used = |total: u64, (input, cached, output): (u64, u64, u64)| {
        json!({"input_tokens": input, "cached_input_tokens": cached, "output_tokens": output,
            "reasoning_output_tokens": 1, "total_tokens": total})
    };
    let info = json!({"total_token_usage": used(total, last), "last_token_usage": used(0, last)});
    rollout(second, "event_msg", &json!({"type": "token_count", "info": info, "rate_limits": null}))
}

fn codex() -> String {
    let call = json!({"type": "function_call", "name": "exec_command", "call_id": "c1", "arguments": "{}"});
    let result = json!({"type": "function_call_output", "call_id": "c1",
        "output": "{\"output\": \"\", \"metadata\": {\"exit_code\": 3}}"});
    [
        rollout(1, "session_meta", &json!({"id": "s1", "cwd": "/w"})),
        rollout(1, "turn_context", &json!({"model": "gpt-5.3-codex"})),
        rollout(2, "event_msg", &json!({"type": "token_count", "info": null})),
        rollout(2, "response_item", &call),
        counted(3, 1_100, (1_000, 600, 100)),
        rollout(4, "response_item", &result),
        // The same, told again because of something else.
        counted(5, 1_100, (1_000, 600, 100)),
        counted(6, 2_300, (1_150, 1_000, 50)),
    ]
    .concat()
}

#[test]
fn codexs_rollouts_tell_each_request_and_what_it_asked_for() {
    let text = codex();
    // Wherever another reader goes on.
    for cut in 0..text.len() {
        let mut first = Reader::new(0);
        let mut facts = first.feed(&text.as_bytes()[..cut]);
        let mut second = Reader::new(first.offset()).after(first.rollout().clone());
        facts.extend(second.feed(&text.as_bytes()[usize::try_from(first.offset()).unwrap()..]));
        let ids: Vec<&str> = usages(&facts).iter().map(|usage| usage.message_id.as_str()).collect();
        assert_eq!(ids, ["s1/1100", "s1/1100", "s1/2300"]);
        let tokens = usages(&facts)[0].tokens;
        assert_eq!((tokens.input, tokens.cache_read, tokens.output), (400, 600, 100));
        assert!(usages(&facts).iter().all(|usage| usage.model == "gpt-5.3-codex"));
        let calls = facts.iter().filter_map(|fact| match fact {
            TranscriptFact::ToolUse { tool_use_id, message_id, .. } => {
                Some((tool_use_id, message_id.clone()))
            }
            _ => None,
        });
        assert_eq!(calls.collect::<Vec<_>>(), [(&"c1".to_owned(), Some("s1/1100".to_owned()))]);
        assert!(facts.iter().any(|fact| matches!(fact, TranscriptFact::ToolResult { is_error: true, .. })));
    }
}

#[test]
fn what_a_forked_rollout_copied_was_paid_for_elsewhere() {
    let mut copied = codex();
    for second in 1..7 {
        copied = copied.replace(&format!("14:00:0{second}"), "14:00:09");
    }
    let text = [
        rollout(9, "session_meta", &json!({"id": "s2", "forked_from_id": "s1"})),
        copied,
        rollout(30, "turn_context", &json!({"model": "gpt-5.4"})),
        counted(31, 3_000, (700, 0, 10)),
    ]
    .concat();
    let facts = Reader::new(0).feed(text.as_bytes());
    let told: Vec<(&str, &str)> =
        usages(&facts).iter().map(|usage| (usage.message_id.as_str(), usage.model.as_str())).collect();
    assert_eq!(told, [("s2/3000", "gpt-5.4")]);
    assert_eq!(facts.len(), 1, "{facts:?}");
}
