//! The shepherd: one per execution, inside the sandbox. Starts the command, carries signals to it, watches its clock,
//! says how it ended. Being a child subreaper it also owns whatever the command leaves running, so that killing an
//! execution kills its grandchildren and daemons too.

use alloc::{string::String, vec, vec::Vec};

use belljar_init::wire::{
    Exec, Failure, FromShepherd, MAX_FRAME, MAX_REQUEST, Orphan, Stage, ToShepherd, decode, encode,
};

use crate::{
    At, Broken,
    sys::{self, CText, EACCES, EINVAL, ENOENT, ENOTDIR, Ended, Fd, SIGCHLD, Side},
    tree,
};

const PR_SET_CHILD_SUBREAPER: u32 = 36;

pub(crate) fn tend(connection: Fd) -> ! {
    let outcome = start(&connection);
    match outcome {
        Err(Broken(failure)) => {
            let _visitor_left = sys::send(connection.0, &encode(&FromShepherd::Failed(failure)), None);
            sys::exit(0)
        }
        Ok(flock) => flock.watch(&connection),
    }
}

struct Flock {
    pid: i32,
    signals: Fd,
    deadline: Option<u64>,
    orphan: Orphan,
}

fn start(connection: &Fd) -> Result<Flock, Broken> {
    let (request, fds) = receive_request(connection)?;
    sys::prctl(PR_SET_CHILD_SUBREAPER, 1).at(Stage::Fork, "subreaper")?;
    let signals = sys::signal_fd(&[SIGCHLD]).at(Stage::Fork, "signals")?;
    let (standard, master) = standard_streams(&request, fds)?;
    let (trouble, report) = sys::pipe().at(Stage::Fork, "pipe")?;
    let pid = match sys::fork(0).at(Stage::Fork, "command")? {
        Side::Child => run(&request, &standard, &report),
        Side::Parent(pid) => pid,
    };
    drop((report, standard));
    let failure = sys::read_file_stream(&trouble, MAX_FRAME);
    if let Some(failure) = decode::<Failure>(&failure) {
        let _command = sys::reap(pid, true);
        return Err(Broken(failure));
    }
    let started = FromShepherd::Started { pid: pid.unsigned_abs() };
    let _visitor_left = sys::send(connection.0, &encode(&started), master.as_ref());
    let deadline = (request.timeout_ms > 0).then(|| sys::now_ms() + request.timeout_ms);
    Ok(Flock { pid, signals, deadline, orphan: request.orphan })
}

fn receive_request(connection: &Fd) -> Result<(Exec, Vec<Fd>), Broken> {
    let mut frame = vec![0_u8; MAX_FRAME];
    let (count, mut fds) = sys::receive(connection.0, &mut frame).at(Stage::Request, "receive")?;
    if count == 0 {
        // Whoever connected left without a word, as a health check does.
        sys::exit(0);
    }
    match frame.get(..count).and_then(decode::<ToShepherd>) {
        Some(ToShepherd::Exec(exec)) => Ok((exec, fds)),
        Some(ToShepherd::Large) if !fds.is_empty() => {
            let file = fds.remove(0);
            let bytes = sys::read_file(&file, MAX_REQUEST).at(Stage::Request, "large request")?;
            let exec = decode::<Exec>(&bytes).ok_or(EINVAL).at(Stage::Request, "large request")?;
            Ok((exec, fds))
        }
        Some(ToShepherd::Large | ToShepherd::Signal(_) | ToShepherd::Kill) | None => {
            Err(EINVAL).at(Stage::Request, "expected an execution")
        }
    }
}

/// The command's three streams, and the master side of its terminal if it has one.
fn standard_streams(request: &Exec, fds: Vec<Fd>) -> Result<(Vec<Fd>, Option<Fd>), Broken> {
    if let Some((rows, cols)) = request.terminal {
        let (master, slave) = sys::open_terminal(rows, cols).at(Stage::Terminal, "/dev/pts")?;
        return Ok((Vec::from([slave]), Some(master)));
    }
    if fds.len() < 3 {
        return Err(EINVAL).at(Stage::Request, "standard streams");
    }
    Ok((fds, None))
}

/// The command's side of the fork: never returns.
fn run(request: &Exec, standard: &[Fd], report: &Fd) -> ! {
    let Err(Broken(failure)) = become_command(request, standard);
    sys::write_all(report.0, &encode(&failure));
    sys::exit(127)
}

fn become_command(request: &Exec, standard: &[Fd]) -> Result<core::convert::Infallible, Broken> {
    sys::setsid();
    let last = standard.last().map_or(-1, |fd| fd.0);
    for number in 0..3_i32 {
        let from = standard.get(number.unsigned_abs() as usize).map_or(last, |fd| fd.0);
        sys::duplicate_as(from, number).at(Stage::Request, "standard streams")?;
    }
    // Each is marked where it is opened; this is for the one somebody forgets.
    sys::close_at_exec_from(3);
    if request.terminal.is_some() {
        sys::take_terminal(0).at(Stage::Terminal, "controlling terminal")?;
    }
    let (uid, gid, groups) = &request.user;
    let groups = sys::may_change_groups().then_some(groups.as_slice());
    sys::become_user(*uid, *gid, groups).at(Stage::User, &sys::decimal(u64::from(*uid)))?;
    sys::set_capabilities(0).at(Stage::Capabilities, "")?;
    // After the change of user: whether the directory can be entered is the user's question.
    sys::chdir(&request.cwd).at(Stage::Workdir, &request.cwd)?;
    sys::set_signal_mask(0).at(Stage::Exec, "signal mask")?;
    sys::umask(0o022);
    Err(search_and_exec(request))
}

/// Looks the program up along `PATH`, as a shell does, with the sandbox's own files.
fn search_and_exec(request: &Exec) -> Broken {
    let program = request.argv.first().map_or("", String::as_str);
    let argv: Vec<CText> = request.argv.iter().map(|text| CText::new(text)).collect();
    let env: Vec<CText> = request.env.iter().map(|text| CText::new(text)).collect();
    let broken = |error: sys::Errno| {
        Broken(Failure { stage: Stage::Exec, errno: error.0, about: String::from(program) })
    };
    if program.contains('/') {
        return broken(sys::exec(program, &argv, &env));
    }
    let path = request.env.iter().find_map(|pair| pair.strip_prefix("PATH=")).unwrap_or("/usr/bin:/bin");
    let mut answer = ENOENT;
    for dir in path.split(':').filter(|dir| dir.starts_with('/')) {
        match sys::exec(&sys::join(&[dir, "/", program]), &argv, &env) {
            ENOENT | ENOTDIR => {}
            // Somebody else's unreadable file must not hide a good one further along.
            EACCES => answer = EACCES,
            other => return broken(other),
        }
    }
    broken(answer)
}

impl Flock {
    fn watch(mut self, connection: &Fd) -> ! {
        let mut timed_out = false;
        let mut listening = true;
        loop {
            let left = self.deadline.map(|end| end.saturating_sub(sys::now_ms()));
            let socket = if listening { connection.0 } else { -1 };
            let [spoke, child] = sys::wait_readable([socket, self.signals.0], left);
            if child {
                let _drained = sys::next_signal(&self.signals);
                while let Some(ended) = sys::reap(-1, false) {
                    if ended.pid == self.pid {
                        Self::tell(connection, &ended, timed_out);
                    }
                }
            }
            if spoke {
                listening = self.hear(connection);
            }
            if self.deadline.is_some_and(|end| sys::now_ms() >= end) {
                timed_out = true;
                self.deadline = None;
                self.kill(connection, timed_out);
            }
        }
    }

    /// Carries out one request; the answer is whether to go on listening.
    fn hear(&self, connection: &Fd) -> bool {
        let mut frame = [0_u8; 64];
        let request = match sys::receive(connection.0, &mut frame) {
            Ok((count, _)) if count > 0 => frame.get(..count).and_then(decode::<ToShepherd>),
            Ok(_) | Err(_) if self.orphan == Orphan::Keep => return false,
            Ok(_) | Err(_) => Some(ToShepherd::Kill),
        };
        match request {
            Some(ToShepherd::Signal(signal)) => sys::kill(-self.pid, i32::from(signal)),
            Some(ToShepherd::Kill) => self.kill(connection, false),
            Some(ToShepherd::Exec(_) | ToShepherd::Large) | None => {}
        }
        true
    }

    fn kill(&self, connection: &Fd, timed_out: bool) {
        sys::kill(self.pid, sys::SIGKILL);
        let ended = sys::reap(self.pid, true);
        tree::end_descendants();
        if let Some(ended) = ended {
            Self::tell(connection, &ended, timed_out);
        }
    }

    fn tell(connection: &Fd, ended: &Ended, timed_out: bool) -> ! {
        let frame = FromShepherd::Exited {
            status: ended.status,
            timed_out,
            max_rss_kib: ended.max_rss_kib,
            cpu_micros: ended.cpu_micros,
        };
        let _visitor_left = sys::send(connection.0, &encode(&frame), None);
        sys::exit(0)
    }
}
