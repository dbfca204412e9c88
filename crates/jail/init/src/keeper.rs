//! The keeper: outside the sandbox, one per sandbox. Holds its private disk, watches its clock and its supervisor, and
//! leaves nothing behind.

use alloc::{string::String, vec, vec::Vec};

use belljar_init::{
    plan::{Groundwork, IdMap, Identity, Life, Network, Plan},
    wire::{
        Boot, Cause, Charge, FromKeeper, Ground, MAX_FRAME, MAX_REQUEST, Prelude, Stage, ToKeeper, decode,
        encode, line,
    },
};

use crate::{
    At, Broken, LIFELINE, give_up, lockdown, pid1, root, spare,
    sys::{self, EINVAL, Fd, Side},
    tree,
};

/// What comes to the builder with a plan.
struct Gifts {
    plan: Plan,
    /// How many of its steps are done.
    laid: usize,
    first_client: Fd,
    control_door: Fd,
    cgroups: Vec<Fd>,
}

/// How long a builder that nobody needs any more may take to go.
const PATIENCE_MS: u64 = 2000;

pub(crate) fn keep() {
    sys::umask(0o022);
    // No directory of the supervisor's is kept from being unmounted.
    sys::chdir("/").at(Stage::Boot, "/").unwrap_or_else(|broken| give_up(broken));
    // What the supervisor left open is no business of a process that may outlive it by days.
    sys::close_from(3);
    let (prelude, line) = receive_prelude().unwrap_or_else(|broken| give_up(broken));
    let (disk_in, disk_out) = socket_for_disk().unwrap_or_else(|broken| give_up(broken));
    let userns = prepare_userns(&prelude).unwrap_or_else(|broken| give_up(broken));
    match sys::fork(namespaces(&prelude)) {
        Err(error) => give_up(Broken(failure_of_namespaces(error))),
        Ok(Side::Child) => {
            drop(disk_out);
            become_pid1(&line, userns.as_ref(), &disk_in)
        }
        Ok(Side::Parent(init)) => {
            drop((disk_in, line, userns));
            let keeper = sys::getpid().unsigned_abs();
            let born = FromKeeper::Born { keeper, init: init.unsigned_abs() };
            let _nobody_listens = sys::send(LIFELINE, &encode(&born), None);
            let Some((life, door, _held)) = receive_charge() else {
                // The supervisor died or thought better of it before there was anything to keep. The builder hears of that
                // as well, and takes along what was made ahead; unless it cannot.
                if let Ok(ends) = sys::pidfd(init) {
                    let _ended = sys::wait_readable([ends.0], Some(PATIENCE_MS));
                }
                sys::kill(init, sys::SIGKILL);
                while sys::reap(-1, true).is_some() {}
                sys::exit(0)
            };
            Keeper::new(init, door, &life).watch(&disk_out)
        }
    }
}

fn failure_of_namespaces(error: sys::Errno) -> belljar_init::wire::Failure {
    belljar_init::wire::Failure { stage: Stage::Namespaces, errno: error.0, about: String::new() }
}

fn namespaces(prelude: &Prelude) -> u64 {
    let user = match prelude.map {
        IdMap::Range { .. } => 0,
        IdMap::Single { .. } => sys::NEWUSER,
    };
    let network = match prelude.network {
        Network::Loopback => sys::NEWNET,
        Network::Host => 0,
    };
    sys::NEWNS | sys::NEWPID | sys::NEWIPC | sys::NEWUTS | network | user
}

fn receive_prelude() -> Result<(Prelude, Fd), Broken> {
    let mut frame = [0_u8; 64];
    let (count, fds) = sys::receive(LIFELINE, &mut frame).at(Stage::Boot, "lifeline")?;
    let prelude = frame.get(..count).and_then(decode).ok_or(EINVAL).at(Stage::Boot, "prelude")?;
    let line = fds.into_iter().next().ok_or(EINVAL).at(Stage::Boot, "builder's line")?;
    Ok((prelude, line))
}

/// Waits for what is to be kept; `None` when the supervisor is gone.
fn receive_charge() -> Option<(Life, Fd, Vec<Fd>)> {
    let mut frame = vec![0_u8; MAX_FRAME];
    let (count, fds) = sys::receive(LIFELINE, &mut frame).ok()?;
    let Charge { life } = frame.get(..count).and_then(decode)?;
    let mut fds = fds.into_iter();
    let door = fds.next()?;
    Some((life, door, fds.collect()))
}

/// What the builder is told.
enum Word {
    Ground(Ground),
    Boot(Gifts),
    /// The supervisor is gone; so is the keeper, in a moment.
    Nothing,
}

fn hear(line: &Fd) -> Result<Word, Broken> {
    let mut frame = [0_u8; 16];
    let (count, fds) = sys::receive(line.0, &mut frame).at(Stage::Boot, "builder's line")?;
    if count == 0 {
        return Ok(Word::Nothing);
    }
    let mut fds = fds.into_iter();
    let mut next = |what| fds.next().ok_or(EINVAL).at(Stage::Boot, what);
    let bytes = sys::read_file(&next("plan")?, MAX_REQUEST).at(Stage::Boot, "plan")?;
    if frame.get(..count) == Some(line::GROUND) {
        return decode(&bytes).map(Word::Ground).ok_or(EINVAL).at(Stage::Boot, "groundwork");
    }
    let first_client = next("first client")?;
    let control_door = next("control door")?;
    let Boot { plan, laid } = decode(&bytes).ok_or(EINVAL).at(Stage::Boot, "plan")?;
    Ok(Word::Boot(Gifts { plan, laid: laid as usize, first_client, control_door, cgroups: fds.collect() }))
}

/// A pipe of packets over which the builder hands the private disk to the keeper.
fn socket_for_disk() -> Result<(Fd, Fd), Broken> {
    sys::socket_pair().at(Stage::Boot, "socket pair")
}

/// Makes the user namespace of a sandbox with its own id range: a helper process is born in it, the maps are written
/// from outside (which takes root), and a descriptor keeps it once the helper is gone.
fn prepare_userns(prelude: &Prelude) -> Result<Option<Fd>, Broken> {
    let IdMap::Range { base, count } = prelude.map else { return Ok(None) };
    let helper = match sys::fork(sys::NEWUSER).at(Stage::UserNamespace, "helper")? {
        Side::Child => sys::pause(),
        Side::Parent(pid) => pid,
    };
    let proc = sys::join(&["/proc/", &sys::decimal(u64::from(helper.unsigned_abs())), "/"]);
    let line = sys::join(&["0 ", &sys::decimal(u64::from(base)), " ", &sys::decimal(u64::from(count)), "\n"]);
    let made = (|| {
        sys::put(&sys::join(&[&proc, "uid_map"]), &line).at(Stage::IdMap, "uid_map")?;
        sys::put(&sys::join(&[&proc, "gid_map"]), &line).at(Stage::IdMap, "gid_map")?;
        sys::open(sys::HERE, &sys::join(&[&proc, "ns/user"]), sys::O_RDONLY, 0)
            .at(Stage::UserNamespace, "ns/user")
    })();
    // It is collected with PID 1; waiting for it now would cost a turn of the scheduler.
    sys::kill(helper, sys::SIGKILL);
    made.map(Some)
}

/// The child's whole life: build, give up every power, tell, serve.
fn become_pid1(line: &Fd, userns: Option<&Fd>, disk_in: &Fd) -> ! {
    let built = (|| {
        let (gifts, site) = lay_until_boot(line, userns)?;
        for file in &gifts.cgroups {
            sys::write(file.0, b"0").at(Stage::Cgroup, "join")?;
        }
        let plan = &gifts.plan;
        let site = match site {
            Some(site) => site,
            None => begin(&plan.identity, &plan.stage, line, userns)?,
        };
        let steps = plan.steps.get(gifts.laid..).ok_or(EINVAL).at(Stage::Boot, "laid")?;
        let root::Built { disk, proc } = site.finish(steps, &plan.disk)?;
        let _keeper_is_gone = sys::send(disk_in.0, b"d", Some(&disk));
        lockdown::apply(plan, userns, proc)?;
        let _supervisor_is_gone = sys::send(LIFELINE, &encode(&FromKeeper::Ready), Some(&disk));
        Ok(gifts)
    })();
    match built {
        Err(broken) => give_up(broken),
        Ok(gifts) => pid1::serve(gifts.first_client, gifts.control_door, gifts.plan.life.idle_ms),
    }
}

/// Waits for the plan, and lays the ground meanwhile if there is word of it.
fn lay_until_boot<'a>(
    line: &'a Fd,
    userns: Option<&'a Fd>,
) -> Result<(Gifts, Option<root::Site<'a>>), Broken> {
    let (mut site, mut waiting) = (None, Vec::new());
    loop {
        match hear(line)? {
            Word::Boot(gifts) => return Ok((gifts, site)),
            Word::Ground(Ground { work: Groundwork { identity, stage, steps }, groups }) => {
                waiting = groups;
                let mut begun = begin(&identity, &stage, line, userns)?;
                begun.lay(&steps)?;
                site = Some(begun);
            }
            Word::Nothing => {
                for dir in &waiting {
                    tree::remove_cgroup(dir);
                }
                sys::exit(0)
            }
        }
    }
}

fn begin<'a>(
    identity: &Identity,
    stage: &str,
    line: &'a Fd,
    userns: Option<&'a Fd>,
) -> Result<root::Site<'a>, Broken> {
    lockdown::map_self(identity)?;
    root::Site::open(identity.clone(), stage, line, userns)
}

struct Keeper<'a> {
    init: i32,
    door: Fd,
    disk: Option<Fd>,
    lifeline: bool,
    deadline: Option<u64>,
    life: &'a Life,
}

/// What is left to do after the sandbox is over.
#[derive(PartialEq, Eq)]
enum Traces {
    Keep,
    Remove,
}

impl<'a> Keeper<'a> {
    fn new(init: i32, door: Fd, life: &'a Life) -> Self {
        Self { init, door, disk: None, lifeline: true, deadline: None, life }
    }

    fn watch(mut self, disk_out: &Fd) -> ! {
        sys::setsid();
        let Ok(pidfd) = sys::pidfd(self.init) else { self.end(Cause::Died, &Traces::Remove) };
        let mut waiting_for_disk = disk_out.0;
        loop {
            let lifeline = if self.lifeline { LIFELINE } else { -1 };
            let left = self.deadline.map(|end| end.saturating_sub(sys::now_ms()));
            let [died, asked, knocked, gift] =
                sys::wait_readable([pidfd.0, lifeline, self.door.0, waiting_for_disk], left);
            if gift {
                let mut byte = [0_u8; 1];
                self.disk =
                    sys::receive(disk_out.0, &mut byte).ok().and_then(|(_, fds)| fds.into_iter().next());
                waiting_for_disk = -1;
                // It is built: its time begins now, however long the machine took.
                self.deadline = (self.life.ttl_ms > 0).then(|| sys::now_ms() + self.life.ttl_ms);
            }
            if died {
                let ended = sys::reap(self.init, true);
                let idle = ended.is_some_and(|ended| ended.status == pid1::IDLE_STATUS);
                // With a supervisor listening the record is its business; without one it was kept on purpose.
                self.end(if idle { Cause::Idle } else { Cause::Died }, &Traces::Keep);
            }
            if asked {
                self.answer_lifeline();
            }
            if knocked {
                self.answer_door();
            }
            if self.deadline.is_some_and(|end| sys::now_ms() >= end) {
                self.end(Cause::Ttl, &Traces::Keep);
            }
        }
    }

    fn answer_lifeline(&mut self) {
        let mut frame = [0_u8; 64];
        match sys::receive(LIFELINE, &mut frame) {
            Ok((count, _)) if count > 0 => {
                let request = frame.get(..count).and_then(decode::<ToKeeper>);
                if request == Some(ToKeeper::Release) {
                    self.lifeline = false;
                }
                self.carry_out(request, LIFELINE);
            }
            Ok(_) | Err(_) => self.end(Cause::Orphaned, &Traces::Remove),
        }
    }

    fn answer_door(&mut self) {
        let Ok(visitor) = sys::accept(&self.door) else { return };
        // A visitor that says nothing must not keep the sandbox's clock from being watched.
        let [spoke] = sys::wait_readable([visitor.0], Some(1000));
        let mut frame = [0_u8; 64];
        if let (true, Ok((count, _))) =
            (spoke, if spoke { sys::receive(visitor.0, &mut frame) } else { Err(EINVAL) })
        {
            self.carry_out(frame.get(..count).and_then(decode::<ToKeeper>), visitor.0);
        }
    }

    fn carry_out(&mut self, request: Option<ToKeeper>, answer_to: i32) {
        match request {
            None => {}
            Some(ToKeeper::Disk) => {
                let _visitor_left = sys::send(answer_to, &encode(&FromKeeper::Disk), self.disk.as_ref());
            }
            Some(ToKeeper::Release) => {
                let _visitor_left = sys::send(answer_to, &encode(&FromKeeper::Done), None);
            }
            Some(ToKeeper::Extend { ttl_ms }) => {
                self.deadline = (ttl_ms > 0).then(|| sys::now_ms() + ttl_ms);
                let _visitor_left = sys::send(answer_to, &encode(&FromKeeper::Done), None);
            }
            Some(ToKeeper::Stop { cause }) => self.end_telling(cause, &Traces::Keep, answer_to),
            Some(ToKeeper::Destroy) => self.end_telling(Cause::Stopped, &Traces::Remove, answer_to),
        }
    }

    fn end(&self, cause: Cause, traces: &Traces) -> ! {
        self.clear_away();
        if *traces == Traces::Keep && self.life.disk_in_memory && !self.lifeline {
            self.hold_the_disk(cause);
        }
        self.finish(cause, traces, LIFELINE)
    }

    fn end_telling(&self, cause: Cause, traces: &Traces, answer_to: i32) -> ! {
        self.clear_away();
        self.finish(cause, traces, answer_to)
    }

    /// Nobody was there to copy what the sandbox changed out of memory: holds it until somebody comes.
    fn hold_the_disk(&self, cause: Cause) -> ! {
        self.write_down(cause);
        loop {
            let Ok(visitor) = sys::accept(&self.door) else { sys::exit(0) };
            let [spoke] = sys::wait_readable([visitor.0], Some(1000));
            let mut frame = [0_u8; 64];
            let count =
                if spoke { sys::receive(visitor.0, &mut frame).map_or(0, |(count, _)| count) } else { 0 };
            match frame.get(..count).and_then(decode::<ToKeeper>) {
                Some(ToKeeper::Disk) => {
                    let _visitor_left = sys::send(visitor.0, &encode(&FromKeeper::Disk), self.disk.as_ref());
                }
                Some(ToKeeper::Stop { .. }) => self.finish(cause, &Traces::Keep, visitor.0),
                Some(ToKeeper::Destroy) => self.finish(cause, &Traces::Remove, visitor.0),
                Some(ToKeeper::Release | ToKeeper::Extend { .. }) | None => {}
            }
        }
    }

    /// Kills the sandbox by its PID 1, which takes every process of its pid namespace along, and removes its control
    /// groups.
    fn clear_away(&self) {
        sys::kill(self.init, sys::SIGKILL);
        if let Some((file, text)) = &self.life.thaw {
            // A process frozen by cgroup v1 does not even die.
            let _not_frozen = sys::put(file, text);
        }
        while sys::reap(-1, true).is_some() {}
        for dir in &self.life.cgroup_dirs {
            tree::remove_cgroup(dir);
        }
    }

    fn write_down(&self, cause: Cause) {
        let path = sys::join(&[&self.life.state_dir, "/ended"]);
        let _already = sys::create_file(&path, name_of(cause));
    }

    /// The last act: the record is kept with its cause, or removed.
    fn finish(&self, cause: Cause, traces: &Traces, answer_to: i32) -> ! {
        match traces {
            Traces::Remove => tree::remove(&self.life.state_dir),
            Traces::Keep => self.write_down(cause),
        }
        let _nobody_listens = sys::send(answer_to, &encode(&FromKeeper::Gone { cause }), None);
        if let Some((blank, spare)) = &self.life.spare_disk {
            let _next_time = spare::leave(blank, spare);
        }
        sys::exit(0)
    }
}

fn name_of(cause: Cause) -> &'static str {
    match cause {
        Cause::Stopped => "stopped",
        Cause::Idle => "idle",
        Cause::Ttl => "ttl",
        Cause::Killswitch => "killswitch",
        Cause::Died => "died",
        Cause::Orphaned => "orphaned",
    }
}
