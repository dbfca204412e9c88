//! Commands and what they wrote, as they travel.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use belljar_api as api;
use belljar_domain::{ExitReport, KillCause, Outcome, Terminal};
use belljar_engine::service::{ExecutionView, Finished, OutputChunk};
use belljar_ports::store::{LogRow, LogStream};

pub(crate) fn answer(finished: Finished) -> api::ExecAnswer {
    let report = finished.execution.report.as_ref();
    api::ExecAnswer {
        execution_id: finished.execution.id.to_string(),
        exit_code: report.map_or(belljar_domain::EXIT_BELLJAR_FAILED, ExitReport::exit_code),
        stdout: lossy(finished.stdout),
        stderr: lossy(finished.stderr),
        duration_ms: report.map_or(0, |report| report.duration.as_millis()),
        timed_out: report.is_some_and(is_timed_out),
        oom: report.is_some_and(is_oom),
        signal: report.and_then(signal),
        truncated: finished.execution.truncated,
        cause: report.and_then(cause),
    }
}

pub(crate) fn execution(view: ExecutionView) -> api::Execution {
    let (report, id) = (view.report.as_ref(), view.id.to_string());
    let written = |stream| view.written.get(&stream).copied().unwrap_or(0);
    api::Execution {
        execution_id: id.clone(),
        id,
        sandbox_id: view.sandbox.to_string(),
        status: report.map_or(api::ExecutionStatus::Running, status),
        cwd: view.cwd.clone(),
        env: view.env.clone(),
        user: view.user.clone(),
        terminal: view.terminal.map(|Terminal { rows, cols }| api::TerminalSize { rows, cols }),
        started_by: view.started_by.clone(),
        started_at: view.started.to_string(),
        completed_at: view.ended.map(|time| time.to_string()),
        exit_code: report.map(ExitReport::exit_code),
        signal: report.and_then(signal),
        timed_out: report.is_some_and(is_timed_out),
        oom: report.is_some_and(is_oom),
        cause: report.and_then(cause),
        reached: report.map_or_else(Vec::new, reached),
        duration_ms: report.map(|report| report.duration.as_millis()),
        stdout_bytes: written(LogStream::Stdout),
        stderr_bytes: written(LogStream::Stderr),
        truncated: view.truncated,
        command: view.argv,
        stdout: None,
        stderr: None,
    }
}

/// A command with what it wrote.
pub(crate) fn whole(view: ExecutionView, (stdout, stderr): (Vec<u8>, Vec<u8>)) -> api::Execution {
    api::Execution { stdout: Some(lossy(stdout)), stderr: Some(lossy(stderr)), ..execution(view) }
}

pub(crate) fn exit(view: &ExecutionView) -> api::Exit {
    let report = view.report.as_ref();
    api::Exit {
        execution_id: view.id.to_string(),
        exit_code: report.map(ExitReport::exit_code),
        signal: report.and_then(signal),
        duration_ms: report.map(|report| report.duration.as_millis()),
        timed_out: report.is_some_and(is_timed_out),
        oom: report.is_some_and(is_oom),
        truncated: view.truncated,
        cause: report.and_then(cause),
        reached: report.map_or_else(Vec::new, reached),
        usage: report.map(|report| super::usage(&report.usage)),
    }
}

fn reached(report: &ExitReport) -> Vec<String> {
    report.reached.iter().map(KillCause::to_string).collect()
}

const fn status(report: &ExitReport) -> api::ExecutionStatus {
    match report.cause {
        Some(KillCause::Timeout | KillCause::Ttl | KillCause::Idle) => api::ExecutionStatus::Timeout,
        Some(KillCause::Killswitch) => api::ExecutionStatus::Cancelled,
        Some(KillCause::Oom | KillCause::Disk | KillCause::Pids) => api::ExecutionStatus::Failure,
        None if report.is_success() => api::ExecutionStatus::Success,
        None => api::ExecutionStatus::Failure,
    }
}

fn cause(report: &ExitReport) -> Option<String> {
    report.cause.map(|cause| cause.to_string())
}

fn is_timed_out(report: &ExitReport) -> bool {
    matches!(report.cause, Some(KillCause::Timeout | KillCause::Ttl))
}

fn is_oom(report: &ExitReport) -> bool {
    report.cause == Some(KillCause::Oom)
}

const fn signal(report: &ExitReport) -> Option<u8> {
    match report.outcome {
        Outcome::Signal(signal) => Some(signal),
        Outcome::Code(_) => None,
    }
}

pub(crate) fn output_piece(chunk: OutputChunk) -> api::OutputPiece {
    let (text, base64) = texts(chunk.bytes);
    api::OutputPiece {
        place: chunk.place,
        stream: stream(chunk.stream),
        offset: chunk.offset,
        time: chunk.time.to_string(),
        text,
        base64,
    }
}

pub(crate) fn log_piece(row: LogRow) -> api::LogPiece {
    let (text, base64) = texts(row.chunk.bytes);
    api::LogPiece {
        seq: row.seq,
        execution_id: row.chunk.execution.map(|id| id.to_string()),
        stream: stream(row.chunk.stream),
        offset: row.chunk.offset,
        time: row.chunk.time.to_string(),
        text,
        base64,
        cut: row.cut,
    }
}

pub(crate) const fn stream_name(stream: api::OutputStream) -> &'static str {
    match stream {
        api::OutputStream::Stdout => "stdout",
        api::OutputStream::Stderr => "stderr",
        api::OutputStream::System => "system",
    }
}

const fn stream(stream: LogStream) -> api::OutputStream {
    match stream {
        LogStream::Stdout => api::OutputStream::Stdout,
        LogStream::Stderr => api::OutputStream::Stderr,
        LogStream::System => api::OutputStream::System,
    }
}

pub(crate) const fn log_stream(stream: api::OutputStream) -> LogStream {
    match stream {
        api::OutputStream::Stdout => LogStream::Stdout,
        api::OutputStream::Stderr => LogStream::Stderr,
        api::OutputStream::System => LogStream::System,
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// As text, and exactly where text is not exact.
fn texts(bytes: Vec<u8>) -> (String, Option<String>) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let exact = STANDARD.encode(error.as_bytes());
            (String::from_utf8_lossy(error.as_bytes()).into_owned(), Some(exact))
        }
    }
}
