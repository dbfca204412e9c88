//! Events as text for other programs: JSON lines, which are exact, and CSV, which spreadsheets open.

use std::io::{self, Write};

use belljar_domain::Event;
use belljar_ports::store::ExportFormat;

const HEADER: &str = "seq,recv_time,id,time,project,kind,agent_id,agent_name,agent_role,session,sandbox,execution,run,\
operation,tool,target,target_type,decision,reason,risk,status,error,cost_usd,tokens,duration_ms,payload,prev_hash,hash\r\n";

/// Writes what comes before the first event.
pub(crate) fn begin(format: ExportFormat, to: &mut dyn Write) -> io::Result<()> {
    match format {
        ExportFormat::JsonLines => Ok(()),
        ExportFormat::Csv => to.write_all(HEADER.as_bytes()),
    }
}

/// Writes one event.
pub(crate) fn event(event: &Event, format: ExportFormat, to: &mut dyn Write) -> io::Result<()> {
    match format {
        ExportFormat::JsonLines => {
            serde_json::to_writer(&mut *to, event)?;
            to.write_all(b"\n")
        }
        ExportFormat::Csv => {
            let cells: Vec<String> =
                cells(event).into_iter().map(|cell| cell.map_or_else(String::new, quoted)).collect();
            write!(to, "{}\r\n", cells.join(","))
        }
    }
}

fn cells(event: &Event) -> [Option<String>; 28] {
    let what = &event.what;
    let number = |value: Option<u64>| value.map(|value| value.to_string());
    [
        Some(event.seq.to_string()),
        Some(event.received.to_string()),
        Some(what.id.to_string()),
        Some(what.time.to_string()),
        Some(what.project.to_string()),
        Some(what.kind.to_string()),
        what.actor.id.clone(),
        what.actor.name.clone(),
        what.actor.role.clone(),
        what.session.clone(),
        what.sandbox.map(|id| id.to_string()),
        what.execution.map(|id| id.to_string()),
        what.run.map(|id| id.to_string()),
        what.operation.clone(),
        what.tool.clone(),
        what.target.clone(),
        what.target_type.clone(),
        what.decision.map(|word| word.to_string()),
        what.reason.clone(),
        what.risk.map(|word| word.to_string()),
        what.status.map(|word| word.to_string()),
        what.error.clone(),
        what.cost_micros.map(|micros| format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)),
        number(what.tokens),
        number(what.duration_ms),
        (!what.payload.is_null()).then(|| what.payload.to_string()),
        Some(event.prev_hash.to_string()),
        Some(event.hash.to_string()),
    ]
}

/// Quotes a cell where RFC 4180 asks for it. A cell that a spreadsheet would run as a formula is an agent's to choose,
/// so it gets an apostrophe in front.
fn quoted(cell: String) -> String {
    let cell = if cell.starts_with(['=', '+', '-', '@', '\t', '\r']) { format!("'{cell}") } else { cell };
    if cell.contains([',', '"', '\n', '\r', '\'']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_defused() {
        for (cell, wanted) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=1+1", "\"'=1+1\""),
        ] {
            assert_eq!(quoted(cell.to_owned()), wanted);
        }
    }

    #[test]
    fn the_header_names_every_cell() {
        assert_eq!(HEADER.trim_end().split(',').count(), 28);
    }
}
