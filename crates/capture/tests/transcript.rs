//! Transcripts as they grow: any cut, broken lines, subagents.

use belljar_capture::transcript::{Reader, TranscriptFact, UsageRecord};
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
