//! Running code and commands: followed to the end, told about on the way, killed when nobody wants the answer.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use belljar_domain::{EXIT_BELLJAR_FAILED, ExecutionId, ExitReport, KillCause, Principal, SandboxId, Span};
use belljar_engine::service::{ExecutionView, Service, StartExecution};
use belljar_ports::store::LogStream;
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, ProgressNotificationParam, ProgressToken},
};
use serde_json::json;

use super::{
    arguments::{Execute, Language},
    clip::Clip,
    failure::{Outcome, ToolFailure},
    results::{Executed, Step},
    sandboxes::{path, sandbox},
    tools::{Call, shown},
};

/// The most bytes of a program on a command line; the kernel's own limit for one word is 128 KiB.
const LONGEST_CODE: usize = 100_000;
/// Bytes read at once.
const PAGE: usize = 256 * 1024;
/// How often progress is told.
const BEAT: Duration = Duration::from_secs(1);
/// How long to wait where nobody tells of news.
const POLL: Duration = Duration::from_millis(250);
/// How much of the output is told with progress.
const GLIMPSE: usize = 2000;

/// How a command went.
struct Ran {
    view: ExecutionView,
    stdout: Clip,
    stderr: Clip,
}

/// Why there is no answer.
enum Cut {
    Failed(ToolFailure),
    Cancelled,
}

impl From<ToolFailure> for Cut {
    fn from(failure: ToolFailure) -> Self {
        Self::Failed(failure)
    }
}

impl Call {
    pub(super) async fn execute(&self, asked: Execute) -> Result<CallToolResult, ErrorData> {
        let captures = asked.capture_output;
        let (id, order) = match order(asked) {
            Ok(found) => found,
            Err(failure) => return Ok(failure.answer()),
        };
        match self.run(id, order).await {
            Ok(ran) => Ok(answer(ran, captures)),
            Err(Cut::Failed(failure)) => Ok(failure.answer()),
            Err(Cut::Cancelled) => Err(ErrorData::internal_error("the call was cancelled", None)),
        }
    }

    /// Runs a command on behalf of another tool.
    pub(super) async fn step(&self, id: SandboxId, command: String, timeout: Span) -> Outcome<Step> {
        let argv = ["sh", "-c", &command].map(str::to_owned).into();
        let order = StartExecution { argv, timeout: Some(timeout), ..StartExecution::default() };
        match self.run(id, order).await {
            Ok(ran) => {
                let exit_code = exit_code(&ran.view);
                Ok(Step { command, exit_code, output: [ran.stdout.text(), ran.stderr.text()].concat() })
            }
            Err(Cut::Failed(failure)) => Err(failure),
            Err(Cut::Cancelled) => Err(ToolFailure::new("CANCELLED", "the call was cancelled")),
        }
    }

    async fn run(&self, id: SandboxId, order: StartExecution) -> Result<Ran, Cut> {
        let began = Instant::now();
        let limit = order.timeout;
        let started = self.ask(move |service, who| service.start(who, id, order)).await?;
        let exe = started.id;
        let mut running =
            Running { service: self.service().clone(), who: Arc::clone(&self.who), id: exe, is_over: false };
        let mut news = self.ask(move |service, who| service.watch(who, exe)).await?;
        let (mut stdout, mut stderr, mut after) = (Clip::default(), Clip::default(), 0);
        let mut progress = Progress::new(self, began, limit);
        loop {
            // Seen before reading, so that what comes while reading wakes the wait below.
            news.borrow_and_update();
            let page = self.ask(move |service, who| service.output(who, exe, after, PAGE)).await?;
            for chunk in &page.chunks {
                after = chunk.place;
                match chunk.stream {
                    LogStream::Stderr => stderr.push(&chunk.bytes),
                    _ => stdout.push(&chunk.bytes),
                }
            }
            if page.end {
                break;
            }
            progress.tell(&stdout, &stderr).await;
            if !page.chunks.is_empty() {
                continue;
            }
            tokio::select! {
                () = self.context.ct.cancelled() => return Err(Cut::Cancelled),
                changed = news.changed() => if changed.is_err() { tokio::time::sleep(POLL).await },
                () = tokio::time::sleep_until(progress.due()) => {}
            }
        }
        running.is_over = true;
        let view = self.ask(move |service, who| service.execution(who, exe)).await?;
        Ok(Ran { view, stdout, stderr })
    }
}

/// A command somebody waits for. When they no longer do, it is killed.
struct Running {
    service: Service,
    who: Arc<Principal>,
    id: ExecutionId,
    is_over: bool,
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.is_over {
            // One that ended meanwhile needs no killing.
            let _over = self.service.kill(&self.who, self.id);
        }
    }
}

/// Tells a client that wants to know how far a command is, at most once a beat.
struct Progress<'a> {
    call: &'a Call,
    token: Option<ProgressToken>,
    began: Instant,
    told: Instant,
    total: Option<f64>,
}

impl<'a> Progress<'a> {
    fn new(call: &'a Call, began: Instant, limit: Option<Span>) -> Self {
        let token = call.context.meta.get_progress_token();
        let total = limit.map(|limit| limit.as_duration().as_secs_f64());
        Self { call, token, began, told: began, total }
    }

    /// When there is something to tell next.
    fn due(&self) -> tokio::time::Instant {
        (self.told + BEAT).into()
    }

    async fn tell(&mut self, stdout: &Clip, stderr: &Clip) {
        if self.told.elapsed() < BEAT {
            return;
        }
        self.told = Instant::now();
        let Some(token) = &self.token else { return };
        let glimpse = [stdout.end(GLIMPSE), stderr.end(GLIMPSE)].concat();
        let mut told = ProgressNotificationParam::new(token.clone(), self.began.elapsed().as_secs_f64())
            .with_message(glimpse);
        told.total = self.total;
        // A client that does not listen misses the progress, not the answer.
        let _unheard = self.call.context.peer.notify_progress(told).await;
    }
}

fn order(asked: Execute) -> Outcome<(SandboxId, StartExecution)> {
    let id = sandbox(&asked.sandbox_id)?;
    let argv = match (asked.code, asked.command) {
        (Some(code), None) if code.len() <= LONGEST_CODE => words(asked.language, code),
        (None, Some(command)) if command.len() <= LONGEST_CODE => {
            vec!["sh".to_owned(), "-c".to_owned(), command]
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(ToolFailure::invalid("give either `code` or `command`"));
        }
        _ => {
            return Err(ToolFailure::invalid(format!(
                "it is longer than {LONGEST_CODE} bytes; write it to a file with sandbox_write_file and run that"
            )));
        }
    };
    if !(1..=86_400).contains(&asked.timeout) {
        return Err(ToolFailure::invalid("`timeout` must be from 1 to 86400 seconds"));
    }
    let cwd = asked.working_dir.map(|dir| path(&dir)).transpose()?;
    let timeout = Some(Span::seconds(asked.timeout));
    Ok((id, StartExecution { argv, cwd, env: asked.env_vars, timeout, ..StartExecution::default() }))
}

fn words(language: Language, code: String) -> Vec<String> {
    let program: &[&str] = match language {
        Language::Javascript => &["node", "-e"],
        // Since node 22.7; an older one says that it does not know the option.
        Language::Typescript => {
            &["node", "--experimental-strip-types", "--input-type=module-typescript", "-e"]
        }
        Language::Python => &["python3", "-c"],
        Language::Bash => &["bash", "-c"],
        Language::Sh => &["sh", "-c"],
    };
    program.iter().map(|word| (*word).to_owned()).chain([code]).collect()
}

fn exit_code(view: &ExecutionView) -> u8 {
    view.report.as_ref().map_or(EXIT_BELLJAR_FAILED, ExitReport::exit_code)
}

/// Seconds of processor time, from what the kernel counts.
pub(super) fn cpu_seconds(micros: Option<u64>) -> Option<f64> {
    micros.map(|micros| Duration::from_micros(micros).as_secs_f64())
}

fn answer(ran: Ran, captures: bool) -> CallToolResult {
    let Ran { view, stdout, stderr } = ran;
    let report = view.report.as_ref();
    let cause = report.and_then(|report| report.cause);
    let status = match (cause, exit_code(&view)) {
        (Some(KillCause::Timeout), _) => "timeout",
        (Some(_), _) => "killed",
        (None, 0) => "completed",
        (None, _) => "failed",
    };
    let truncated = view.truncated || stdout.is_clipped() || stderr.is_clipped();
    let text = |clip: Clip| if captures { clip.text() } else { String::new() };
    let executed = Executed {
        execution_id: view.id.to_string(),
        output: text(stdout),
        error: text(stderr),
        exit_code: exit_code(&view),
        status: status.to_owned(),
        cause: cause.map(|cause| cause.to_string()),
        execution_time: report.map_or(0.0, |report| report.duration.as_duration().as_secs_f64()),
        memory_used: report.and_then(|report| report.usage.memory_peak_bytes),
        cpu_time: cpu_seconds(report.and_then(|report| report.usage.cpu_micros)),
        truncated: captures && truncated,
    };
    let answer = shown(Ok(executed));
    let code = match cause {
        Some(KillCause::Timeout) => "EXECUTION_TIMEOUT",
        Some(KillCause::Oom | KillCause::Disk | KillCause::Pids) => "INSUFFICIENT_RESOURCES",
        Some(_) => "EXECUTION_ERROR",
        None => return answer,
    };
    failed(answer, code)
}

/// What was cut short is told as a failure, with all there is.
fn failed(mut answer: CallToolResult, code: &str) -> CallToolResult {
    if let Some(fields) = answer.structured_content.as_mut().and_then(|content| content.as_object_mut()) {
        fields.insert("error_code".to_owned(), json!(code));
    }
    let text = answer.structured_content.as_ref().map(ToString::to_string).unwrap_or_default();
    answer.content = vec![ContentBlock::text(text)];
    answer.is_error = Some(true);
    answer
}
