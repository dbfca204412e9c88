//! Commands of the user's, run when an agent stops: without a terminal, in a group of their own, and not for ever.

use std::{
    io::{self, Read as _, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use belljar_domain::{EventStatus, NewEvent, Timestamp};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::json;

use super::{
    super::{Service, now},
    archive::about,
};

/// How long telling somebody may take, and how long a command may.
const TELLING: Duration = Duration::from_secs(30);
const RUNNING: Duration = Duration::from_secs(600);
/// How much of what a command prints is kept.
const GLIMPSE: u64 = 4096;

impl Service {
    /// Runs the user's commands, one after the other. What became of each is recorded.
    pub(super) fn run_commands(&self, event: &NewEvent) {
        let facts = self.facts(event);
        let variables: Vec<(String, &String)> = facts
            .iter()
            .map(|(name, value)| (format!("BELLJAR_{}", name.to_ascii_uppercase()), value))
            .collect();
        let told = json!({
            "event": event.kind.as_str(), "id": event.id, "time": event.time.to_string(), "session_id": event.session,
            "sandbox_id": event.sandbox, "agent": event.actor.name, "message": facts.get("message"),
        });
        for line in &self.0.settings.stop.run {
            let began = Instant::now();
            let mut command = Command::new("sh");
            command.args(["-c", line]).envs(variables.iter().map(|(name, value)| (name, value)));
            let ran = run(command, &format!("{told}\n"), RUNNING);
            let mut done = about(event, "session.processed");
            done.target = Some(line.clone());
            done.target_type = Some("command".to_owned());
            done.duration_ms = u64::try_from(began.elapsed().as_millis()).ok();
            (done.status, done.error, done.payload) = match ran {
                Ok((Some(status), said)) => {
                    let outcome = if status.success() { EventStatus::Success } else { EventStatus::Failure };
                    (Some(outcome), None, json!({"exit_code": status.code(), "output": said}))
                }
                Ok((None, said)) => (Some(EventStatus::Timeout), None, json!({"output": said})),
                Err(error) => (Some(EventStatus::Failure), Some(error.to_string()), json!({})),
            };
            drop(self.record(done));
        }
    }

    /// Somebody who could not be told is worth a record.
    pub(super) fn note_failure(&self, event: &NewEvent, program: &str, done: Result<(), String>) {
        let Err(error) = done else { return };
        let mut failed = about(event, "session.notice_failed");
        failed.target = Some(program.to_owned());
        failed.status = Some(EventStatus::Failure);
        failed.error = Some(error);
        failed.time = Timestamp::max(now(), event.time);
        drop(self.record(failed));
    }
}

/// Runs something that tells somebody.
pub(super) fn tell(program: &str, arguments: &[String]) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(arguments);
    match run(command, "", TELLING) {
        Ok((Some(status), _)) if status.success() => Ok(()),
        Ok((Some(status), said)) => Err(format!("it ended with {status}: {said}")),
        Ok((None, _)) => Err("it took too long".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Runs to the end or until its time is over; the answer is how it ended and the beginning of what it said.
fn run(mut command: Command, input: &str, time: Duration) -> io::Result<(Option<ExitStatus>, String)> {
    let mut child = command
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let said = child.stdout.take().map(|mut out| {
        thread::spawn(move || {
            let mut text = Vec::new();
            // All of it is taken, so that nobody waits; little of it is kept.
            let _broken = out.by_ref().take(GLIMPSE).read_to_end(&mut text);
            let _broken = io::copy(&mut out, &mut io::sink());
            String::from_utf8_lossy(&text).into_owned()
        })
    });
    if let Some(mut stdin) = child.stdin.take() {
        // It may not care to read.
        let _unread = stdin.write_all(input.as_bytes());
    }
    let ended = wait(&mut child, time)?;
    let said = said.and_then(|said| said.join().ok()).unwrap_or_default();
    Ok((ended, said))
}

fn wait(child: &mut Child, time: Duration) -> io::Result<Option<ExitStatus>> {
    let until = Instant::now() + time;
    let mut pause = Duration::from_millis(2);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _gone = kill_process_group(group, Signal::KILL);
            }
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(100));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(line: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", line]);
        command
    }

    #[test]
    fn a_command_hears_and_is_heard_and_ends_in_time() {
        let (ended, said) = run(sh("cat; exit 3"), "hello", RUNNING).unwrap();
        assert_eq!((ended.and_then(|status| status.code()), said.as_str()), (Some(3), "hello"));
        let (ended, said) = run(sh("head -c 100000 /dev/zero | tr '\\0' x"), "", RUNNING).unwrap();
        assert!(ended.unwrap().success() && said.len() == 4096);
        let (ended, _) = run(sh("sleep 1000 & sleep 1000"), "", Duration::from_millis(50)).unwrap();
        assert!(ended.is_none());
        assert!(tell("/nonexistent", &[]).is_err() && tell("true", &[]).is_ok());
    }
}
