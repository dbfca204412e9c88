//! The shepherd: one per execution, inside the sandbox. Starts the command, carries signals to it, watches its clock,
//! says how it ended. Being a child subreaper it also owns whatever the command leaves running, so that killing an
//! execution kills its grandchildren and daemons too.

use alloc::{string::String, vec, vec::Vec};

use belljar_init::{
    journal::Order,
    wire::{
        Exec, Failure, FromShepherd, MAX_FRAME, MAX_REQUEST, Orphan, Recording, Stage, ToShepherd, decode,
        encode,
    },
};

use crate::{
    At, Broken, errand,
    scribe::Scribe,
    sys::{self, CText, EACCES, EINVAL, ENOENT, ENOTDIR, Ended, Fd, SIGCHLD, SIGPIPE},
    tree,
};

const PR_SET_CHILD_SUBREAPER: u32 = 36;
/// How long a shepherd that has told everything waits for its visitor to leave.
const FAREWELL_MS: u64 = 50;

pub(crate) fn tend(connection: Fd) -> ! {
    let outcome = start(&connection);
    match outcome {
        Err(Broken(failure)) => {
            let _visitor_left = sys::send(connection.0, &encode(&FromShepherd::Failed(failure)), None);
            sys::exit(0)
        }
        Ok((flock, None)) => flock.watch(&connection),
        Ok((flock, Some(scribe))) => scribe.watch(flock, connection),
    }
}

/// A command and what belongs to it.
pub(crate) struct Flock {
    pub(crate) pid: i32,
    pub(crate) signals: Fd,
    pub(crate) deadline: Option<u64>,
    orphan: Orphan,
}

fn start(connection: &Fd) -> Result<(Flock, Option<Scribe>), Broken> {
    // Where nobody has spoken yet, what most commands need is made ready before somebody does.
    let [spoke] = sys::wait_readable([connection.0], Some(0));
    let ready = if spoke { None } else { Some(Ready::make()?) };
    let (request, fds) = receive_request(connection)?;
    let Ready { signals, pipes } = ready.map_or_else(Ready::make, Ok)?;
    let Streams { standard, master, scribe } = standard_streams(&request, fds, pipes)?;
    let pid = start_command(&request, &standard)?;
    drop(standard);
    let started = FromShepherd::Started { pid: pid.unsigned_abs() };
    let _visitor_left = sys::send(connection.0, &encode(&started), master.as_ref());
    let deadline = (request.timeout_ms > 0).then(|| sys::now_ms() + request.timeout_ms);
    Ok((Flock { pid, signals, deadline, orphan: request.orphan }, scribe))
}

/// What most commands need.
struct Ready {
    signals: Fd,
    /// For what it writes: our ends, and its own.
    pipes: [(Fd, Fd); 2],
}

impl Ready {
    fn make() -> Result<Self, Broken> {
        sys::prctl(PR_SET_CHILD_SUBREAPER, 1).at(Stage::Fork, "subreaper")?;
        // Writing to a command that reads no more must not end its shepherd.
        let signals = sys::signal_fd(&[SIGCHLD, SIGPIPE]).at(Stage::Fork, "signals")?;
        let pipe = || sys::pipe().at(Stage::Fork, "pipe");
        Ok(Self { signals, pipes: [pipe()?, pipe()?] })
    }
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
        Some(ToShepherd::Errand(errand)) => errand::run(connection, &errand),
        Some(ToShepherd::Large | ToShepherd::Signal(_) | ToShepherd::Kill) | None => {
            Err(EINVAL).at(Stage::Request, "expected an execution")
        }
    }
}

/// A command's streams: its own ends, and ours.
#[derive(Default)]
struct Streams {
    standard: Vec<Fd>,
    /// The master side of its terminal, for the visitor.
    master: Option<Fd>,
    scribe: Option<Scribe>,
}

fn standard_streams(request: &Exec, fds: Vec<Fd>, pipes: [(Fd, Fd); 2]) -> Result<Streams, Broken> {
    if let Some(recording) = request.recording {
        return recorded_streams(request, recording, fds, pipes);
    }
    if let Some((rows, cols)) = request.terminal {
        let (master, slave) = sys::open_terminal(rows, cols).at(Stage::Terminal, "/dev/pts")?;
        return Ok(Streams { standard: Vec::from([slave]), master: Some(master), scribe: None });
    }
    if fds.len() < 3 {
        return Err(EINVAL).at(Stage::Request, "standard streams");
    }
    Ok(Streams { standard: fds, ..Streams::default() })
}

/// Streams that end in the journal. Beside the request: the journal, the orders, and standard input if it is given.
fn recorded_streams(
    request: &Exec,
    recording: Recording,
    fds: Vec<Fd>,
    [(out, stdout), (err, stderr)]: [(Fd, Fd); 2],
) -> Result<Streams, Broken> {
    let is_whole = request.is_whole;
    let mut fds = fds.into_iter();
    let (Some(journal), Some(orders), Some(given)) = (fds.next(), fds.next(), fds.next()) else {
        return Err(EINVAL).at(Stage::Request, "journal");
    };
    if let Some((rows, cols)) = request.terminal {
        let (master, slave) = sys::open_terminal(rows, cols).at(Stage::Terminal, "/dev/pts")?;
        sys::set_nonblocking(&master).at(Stage::Terminal, "/dev/pts")?;
        let input = Some((given, sys::duplicate(&master).at(Stage::Terminal, "/dev/pts")?));
        let output = [Some(master), None];
        let scribe = Scribe { journal, orders, output, input, is_terminal: true, recording, is_whole };
        return Ok(Streams { standard: Vec::from([slave]), scribe: Some(scribe), ..Streams::default() });
    }
    let (stdin, input) = if recording.input {
        let (read, write) = sys::pipe().at(Stage::Fork, "pipe")?;
        sys::set_nonblocking(&write).at(Stage::Fork, "pipe")?;
        (read, Some((given, write)))
    } else {
        (given, None)
    };
    let output = [Some(out), Some(err)];
    let scribe = Scribe { journal, orders, output, input, is_terminal: false, recording, is_whole };
    Ok(Streams { standard: Vec::from([stdin, stdout, stderr]), scribe: Some(scribe), ..Streams::default() })
}

/// What the process that becomes the command is to do, and, if it could not, why.
struct Becoming<'a> {
    request: &'a Exec,
    standard: &'a [Fd],
    failure: Option<Failure>,
}

/// Starts the command. Its process borrows our memory until it has become it, so there is nothing to copy and no pipe for
/// what went wrong.
fn start_command(request: &Exec, standard: &[Fd]) -> Result<i32, Broken> {
    let mut becoming = Becoming { request, standard, failure: None };
    let pid = sys::lend(&mut becoming, run).at(Stage::Fork, "command")?;
    match becoming.failure {
        None => Ok(pid),
        Some(failure) => {
            let _command = sys::reap(pid, true);
            Err(Broken(failure))
        }
    }
}

/// The command's side.
fn run(becoming: &mut Becoming<'_>) -> ! {
    let Err(Broken(failure)) = become_command(becoming.request, becoming.standard);
    becoming.failure = Some(failure);
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
    let named = sys::decimal(u64::from(*uid));
    sys::set_groups_if_allowed(groups).at(Stage::User, &named)?;
    sys::become_user(*uid, *gid).at(Stage::User, &named)?;
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
            if self.is_overdue() {
                timed_out = true;
                self.deadline = None;
                self.kill(connection, timed_out);
            }
        }
    }

    /// Carries out one request; the answer is whether to go on listening.
    fn hear(&self, connection: &Fd) -> bool {
        let order = match Self::listen(connection) {
            Some(order) => order,
            None if self.orphan == Orphan::Keep => return false,
            None => Some(Order::Kill),
        };
        match order {
            Some(Order::Signal(signal)) => sys::kill(-self.pid, i32::from(signal)),
            Some(Order::Kill) => self.kill(connection, false),
            Some(_) | None => {}
        }
        true
    }

    /// What a visitor wants of a running command; `None` when they left, `Some(None)` when it is nothing sensible.
    pub(crate) fn listen(connection: &Fd) -> Option<Option<Order>> {
        let mut frame = [0_u8; 64];
        match sys::receive(connection.0, &mut frame) {
            Ok((count, _)) if count > 0 => Some(match frame.get(..count).and_then(decode::<ToShepherd>) {
                Some(ToShepherd::Signal(signal)) => Some(Order::Signal(signal)),
                Some(ToShepherd::Kill) => Some(Order::Kill),
                Some(ToShepherd::Exec(_) | ToShepherd::Large | ToShepherd::Errand(_)) | None => None,
            }),
            Ok(_) | Err(_) => None,
        }
    }

    pub(crate) fn is_overdue(&self) -> bool {
        self.deadline.is_some_and(|end| sys::now_ms() >= end)
    }

    /// Ends the command and everything it started; how the command ended, unless that was known before.
    pub(crate) fn end(&self) -> Option<Ended> {
        sys::kill(self.pid, sys::SIGKILL);
        let ended = sys::reap(self.pid, true);
        tree::end_descendants();
        ended
    }

    fn kill(&self, connection: &Fd, timed_out: bool) {
        if let Some(ended) = self.end() {
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
        leave(connection)
    }
}

/// Ends, once the visitor has left. Going takes the kernel longer than anything the visitor does with the news, and they
/// would have to wait for it where both are on one processor.
pub(crate) fn leave(connection: &Fd) -> ! {
    let _left = sys::wait_readable([connection.0], Some(FAREWELL_MS));
    sys::exit(0)
}
