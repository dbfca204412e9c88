//! Programs whose only work is to start another: `nice`, `timeout`, `nohup`, `strace`, …
//!
//! Owns: where the wrapped command begins. Refuses: those that change who runs it or where (`sudo`, `ssh`, containers).

use super::call::{Call, joined};
use super::options::{Options, after, split};
use crate::effects::act::{Act, Change, Datum, Power};
use crate::effects::invocation::{Next, Outcome, Stream};
use crate::shell::value::Value;

/// Options of a wrapper, and how many operands stand before the command.
fn table(name: &str) -> Option<(Options, usize)> {
    let (short, long, skip) =
        match name {
            "nice" => ("n:", "adjustment=", 0),
            "ionice" => ("c:n:p:P:u:", "class= classdata= pid= pgid= uid=", 0),
            "chrt" => ("T:P:D:", "sched-runtime= sched-period= sched-deadline=", 1),
            "taskset" => ("", "all-tasks pid cpu-list", 1),
            "timeout" | "gtimeout" => ("k:s:", "kill-after= signal= preserve-status foreground verbose", 1),
            "nohup" | "unbuffer" | "chronic" | "eatmydata" | "dbus-run-session" | "catchsegv"
            | "torsocks" | "torify" | "proxychains" | "proxychains4" | "tsocks" | "linux32" | "linux64"
            | "i386" | "x86_64" | "setarch" | "arch" | "ifne" | "aa-exec" | "dumb-init" | "tini"
            | "catatonit" | "tsp" | "nq" | "bear" | "intercept-build" | "scan-build" | "daemonize"
            | "daemon" | "abduco" => ("f:p:g:e:n:o:c:l:L:S:", "profile= output= config= name=", 0),
            "setsid" => ("", "ctty fork wait", 0),
            "stdbuf" => ("i:o:e:", "input= output= error=", 0),
            "time" | "gtime" => ("f:o:", "format= output= append verbose portability quiet", 0),
            "strace" | "ltrace" => (
                "e:o:p:s:u:a:E:I:O:S:X:b:P:n:l:A:x:F:D:",
                "trace= output= attach= string-limit= user= env= signal= status= abbrev=",
                0,
            ),
            "caffeinate" => ("t:w:", "", 0),
            "fakeroot" | "fakechroot" | "pseudo" => ("l:s:i:b:", "lib= faked= fd-base= save= load=", 0),
            "faketime" => ("f:p:", "", 1),
            "numactl" => ("N:C:m:i:p:", "cpunodebind= physcpubind= membind= interleave= preferred=", 0),
            "cgexec" => ("g:", "", 0),
            "prlimit" => ("p:", "pid= nofile? nproc? as? core? cpu? data? fsize? memlock? stack?", 0),
            "cpulimit" => ("l:p:e:c:P:", "limit= pid= exe= path=", 0),
            "valgrind" | "perf" | "xvfb-run" | "rr" | "heaptrack" | "ltrace-run" => {
                ("a:s:e:n:f:p:w:o:", "server-args= server-num= auth-file= error-file=", 0)
            }
            "rlwrap" => ("a?b:C:D:e:f:g:H:l:M:m?O:P:q:S:s:t:w:z:", "", 0),
            "entr" => ("", "", 0),
            "setpriv" => (
                "",
                "reuid= regid= groups= inh-caps= ambient-caps= bounding-set= securebits= pdeathsig= \
             selinux-label= apparmor-profile= init-groups clear-groups keep-groups no-new-privs reset-env",
                0,
            ),
            "envdir" | "setlock" | "s6-setuidgid" | "s6-envdir" | "s6-setlock" => ("t:", "", 1),
            "softlimit" | "s6-softlimit" => ("a:c:d:f:l:m:o:p:r:s:t:h:H:", "", 0),
            "chpst" => ("u:U:b:e:/:n:l:L:m:d:o:p:f:c:r:t:", "", 0),
            "dtach" => ("e:r:", "", 1),
            "sshpass" => ("p:f:d:P:", "", 0),
            "xdg-run" | "gio-launch" | "uwsm-app" | "firejail" | "proot" | "bindfs-run" => {
                ("b:r:w:q:k:", "bind= rootfs= cwd=", 0)
            }
            "dotenv" | "direnv-exec" | "doppler-run" | "op-run" | "infisical-run" | "aws-vault-exec"
            | "retry" | "parallel-run" | "with-env" | "cross-env" | "cross-env-shell" | "dotenvx"
            | "env-cmd" => ("e:f:", "env-file=", 0),
            _ => return None,
        };
    Some((Options::new(short, long).stops(), skip))
}

/// Whether a program is of this family.
pub(super) fn knows(name: &str) -> bool {
    table(name).is_some()
}

/// A wrapper by its table.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let shows = matches!(call.words().next(), Some("list" | "get")) || call.words().next() == Some("-p");
    if call.name == "dotenv" && shows {
        let read = call.read(&Options::new("f:e:p:", "file="));
        let file = read.value("f e file").cloned().unwrap_or_else(|| Value::known(".env"));
        return Outcome::of([call.reads(&file)]);
    }
    let Some((options, skip)) = table(call.name) else { return Outcome::harmless() };
    let read = call.read(&options);
    let mut rest = read.operands.as_slice();
    for _ in 0..skip {
        rest = rest.get(1..).unwrap_or_default();
    }
    // `perf stat cmd`, `valgrind cmd`, `cross-env A=1 cmd`.
    let words = match call.name {
        "perf" | "rr" => &["stat", "record", "trace"][..],
        "dotenv" | "dotenvx" => &["run", "--"][..],
        "setarch" => &["x86_64", "i386", "linux32", "linux64"][..],
        _ => &[],
    };
    while let [first, more @ ..] = rest {
        let skipped = first.text().is_some_and(|word| words.contains(&word))
            || call.name.starts_with("cross-env") && split(first, b'=').is_some();
        if !skipped {
            break;
        }
        rest = more;
    }
    let mut outcome = Outcome::default();
    if matches!(call.name, "strace" | "ltrace" | "time" | "gtime")
        && let Some(file) = read.value("o output")
    {
        outcome.push(call.writes(file, Change::Replace));
    }
    if matches!(call.name, "sshpass")
        && let Some(file) = read.value("f")
    {
        outcome.push(call.reads(file));
    }
    if call.name == "setpriv" && read.has("reuid regid groups ambient-caps inh-caps") {
        outcome.push(Act::Privilege { how: "setpriv".to_owned() });
    }
    if call.name == "perf" && call.says(&["-a", "--all-cpus", "-p", "--pid"]) {
        outcome.push(Act::Privilege { how: "perf on processes of others".to_owned() });
    }
    let rest = Options::new("", "").stops().read(rest).operands;
    if call.name == "entr" {
        return entr(call, &rest);
    }
    if rest.is_empty() {
        outcome.push(match (call.name, read.has("p pid")) {
            ("nice" | "ionice" | "taskset" | "chrt" | "prlimit" | "perf", _) => Act::Compute,
            (_, true) => call.unknown(format!("what {} is attached to", call.name)),
            _ => Act::Compute,
        });
        return outcome;
    }
    outcome.then(call.next(rest))
}

fn entr(call: &Call<'_>, rest: &[Value]) -> Outcome {
    let shell =
        call.args.iter().any(|arg| arg.text().is_some_and(|arg| arg.starts_with('-') && arg.contains('s')));
    let next = if shell { call.shell(joined(rest)) } else { call.next(rest.to_vec()) };
    Outcome::default().then(next)
}

/// What `env -S` makes of its arguments.
enum Line {
    None,
    Words(Vec<Value>),
    Unknown,
}

fn split_line(args: &[Value]) -> Line {
    let mut at = 0;
    while let Some(arg) = args.get(at).filter(|arg| arg.prefix().starts_with(b"-")) {
        let prefix = arg.prefix();
        let letter =
            if prefix.starts_with(b"--") { None } else { prefix.iter().position(|byte| *byte == b'S') };
        let (line, taken) = if prefix.starts_with(b"--split-string=") {
            (Some(after(arg, b"--split-string=".len())), 1)
        } else if arg.text() == Some("--split-string")
            || letter.is_some_and(|place| place + 1 == prefix.len())
        {
            (args.get(at + 1).cloned(), 2)
        } else {
            (letter.map(|place| after(arg, place + 1)), 1)
        };
        if let Some(line) = line {
            let Some(text) = line.text() else { return Line::Unknown };
            let words = super::xargs::words(text.as_bytes()).into_iter().map(Value::known);
            let rest = args.iter().skip(at + taken).cloned();
            return Line::Words(args.iter().take(at).cloned().chain(words).chain(rest).collect());
        }
        at += if matches!(arg.text(), Some("-u" | "-C" | "-a")) { 2 } else { 1 };
    }
    Line::None
}

/// `env`: assignments, another directory, a line to split, or the environment shown.
pub(super) fn env(call: &Call<'_>) -> Outcome {
    let options = Options::new(
        "u:C:S:a:",
        "unset= chdir= split-string= argv0= ignore-environment null block-signal? default-signal? ignore-signal?",
    )
    .stops();
    // A line is split where it stands, and read on with what is behind it.
    let args = match split_line(call.args) {
        Line::None => call.args.to_vec(),
        Line::Words(words) => words,
        Line::Unknown => return Outcome::of([call.unknown("what env -S splits")]),
    };
    let read = options.read(&args);
    let mut invocation = call.invocation.clone();
    if let Some(directory) = read.value("C chdir") {
        invocation.cwd = call.path(directory);
    }
    let mut argv = read.operands.clone();
    if argv.first().and_then(Value::text) == Some("-") {
        argv.remove(0);
        invocation.environment.clear();
    }
    if read.has("i ignore-environment") {
        invocation.environment.clear();
    }
    for gone in read.values("u unset").filter_map(Value::bytes) {
        invocation.environment.retain(|(name, _)| name != gone);
    }
    while let Some((name, value)) = argv.first().and_then(|arg| split(arg, b'=')) {
        invocation.environment.push((name.into_bytes(), value));
        argv.remove(0);
    }
    if argv.is_empty() {
        let output = Stream::data([Datum::Environment(None)]);
        return Outcome::harmless().saying(output);
    }
    invocation.argv = argv;
    Outcome::default().then(Next::Program { invocation, elsewhere: None })
}

/// `ld-linux.so program`, `busybox applet`, `gdb --args program`.
pub(super) fn renamed(call: &Call<'_>) -> Outcome {
    match call.name {
        "busybox" | "toybox" => match call.args.first().and_then(Value::text) {
            None if call.args.is_empty() => Outcome::harmless(),
            Some("--list" | "--help" | "--list-full") => Outcome::harmless(),
            Some("httpd") => {
                let options = Options::new("p:u:c:h:r:d:e:m:", "");
                call.serves(options.read(call.args.get(1..).unwrap_or_default()).value("h"))
            }
            Some(_) | None => Outcome::default().then(call.next(call.args.to_vec())),
        },
        "gdb" | "lldb" => debugger(call),
        _ => {
            let options = Options::new(
                "",
                "library-path= preload= argv0= inhibit-rpath= audit= inhibit-cache list verify",
            )
            .stops();
            let read = call.read(&options);
            if read.operands.is_empty() {
                return Outcome::harmless();
            }
            let mut outcome = Outcome::default().then(call.next(read.operands.clone()));
            if let Some(library) = read.value("preload") {
                let code = crate::effects::act::Code::File(call.path(library));
                outcome.push(Act::Run { code, with: call.name.to_owned() });
            }
            outcome
        }
    }
}

fn debugger(call: &Call<'_>) -> Outcome {
    let options = Options::new(
        "x:d:c:p:o:s:O:k:",
        "ex= eval-command= command= args batch nx core= c= pid= p= directory= one-line= o= source= s= file= x=",
    )
    .one_dash();
    let at = call.args.iter().position(|arg| matches!(arg.text(), Some("--args" | "-args" | "--")));
    let read = options.read(call.args.get(..at.unwrap_or(call.args.len())).unwrap_or_default());
    let mut outcome = Outcome::default();
    for line in read.values("ex eval-command o one-line") {
        let text = line.text().unwrap_or_default().trim();
        let shell = ["shell ", "platform shell ", "!"].iter().find_map(|word| text.strip_prefix(word));
        if let Some(command) = shell {
            outcome.next.push(call.shell(Value::known(command)));
        } else if text.starts_with("python")
            || text.starts_with("script")
            || text.starts_with("pipe")
            || line.text().is_none()
        {
            outcome.push(call.unknown("a debugger's command"));
        }
    }
    if let Some(pid) = read.value("p pid") {
        outcome.push(super::machine::processes::killed(pid));
    }
    let rest = at.and_then(|at| call.args.get(at + 1..)).unwrap_or_default();
    let program = if rest.is_empty() { read.operands.get(..1).unwrap_or_default() } else { rest };
    if !program.is_empty() {
        outcome.next.push(call.next(program.to_vec()));
    }
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// `chroot`, `unshare`, `nsenter`, `bwrap`: other files, or the same ones with other rights.
pub(super) fn rooms(call: &Call<'_>) -> Outcome {
    let options = match call.name {
        "chroot" => Options::new("", "userspec= groups= skip-chdir"),
        "unshare" => Options::new(
            "S:G:R:w:l:",
            "setuid= setgid= root= wd= propagation= setgroups= map-user= map-group= \
             mount-proc? fork user? map-root-user kill-child? pid? net? mount? ipc? uts? cgroup? time?",
        ),
        "nsenter" => Options::new(
            "t:S:G:",
            "target= setuid= setgid= all mount? uts? ipc? net? pid? cgroup? user? root? wd?",
        ),
        _ => return bubble(call),
    }
    .stops();
    let read = call.read(&options);
    let mut rest = read.operands.clone();
    let root = if call.name == "chroot" && !rest.is_empty() {
        Some(rest.remove(0))
    } else {
        read.value("R root").cloned()
    };
    let mut outcome = Outcome::default();
    if call.name != "unshare" {
        outcome.push(Act::Privilege { how: call.name.to_owned() });
    }
    if rest.is_empty() {
        rest.push(Value::known("sh"));
    }
    let here = root.as_ref().is_none_or(|root| call.path(root).bytes() == Some(b"/"));
    let next = if here { call.next(rest) } else { call.elsewhere(rest, "another root") };
    outcome.then(next)
}

fn bubble(call: &Call<'_>) -> Outcome {
    // Options of one, two or no values; the first word that is none of them is the program.
    const ONE: [&str; 17] = [
        "--chdir",
        "--unsetenv",
        "--dev",
        "--proc",
        "--tmpfs",
        "--mqueue",
        "--dir",
        "--hostname",
        "--uid",
        "--gid",
        "--lock-file",
        "--seccomp",
        "--cap-add",
        "--cap-drop",
        "--remount-ro",
        "--perms",
        "--size",
    ];
    let mut writable = Vec::new();
    let mut args = call.args;
    while let [first, rest @ ..] = args {
        let Some(option) = first.text().filter(|text| text.starts_with("--")) else { break };
        let count = match option {
            "--" => {
                args = rest;
                break;
            }
            option if ONE.contains(&option) => 1,
            option
                if option.contains("bind")
                    || matches!(option, "--setenv" | "--symlink" | "--file" | "--chmod") =>
            {
                2
            }
            _ => 0,
        };
        if matches!(option, "--bind" | "--bind-try" | "--dev-bind" | "--dev-bind-try") {
            writable.extend(rest.first().zip(rest.get(1)));
        }
        args = rest.get(count..).unwrap_or_default();
    }
    if args.is_empty() {
        return Outcome::harmless();
    }
    let here = writable.iter().any(|(from, _)| from.text() == Some("/"));
    let next = if here { call.next(args.to_vec()) } else { call.elsewhere(args.to_vec(), "a sandbox") };
    let mut outcome = Outcome::default();
    for (from, to) in writable {
        if from != to && from.text() != Some("/") {
            outcome.push(call.unknown(format!("what is done to {}", from.text().unwrap_or("a directory"))));
        }
    }
    if call.name == "systemd-nspawn" {
        outcome.push(Act::Power(Power::Kernel("systemd-nspawn".to_owned())));
    }
    outcome.then(next)
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn the_wrapped_command_is_found() {
        check(&[
            ("nice -n 5 rm -rf /", "> rm -rf /"),
            ("nohup rm x", "> rm x"),
            ("timeout -k 5 10s rm x", "> rm x"),
            ("timeout --signal=KILL 1 -- rm x", "> rm x"),
            ("stdbuf -oL rm x", "> rm x"),
            ("strace -f -o /tmp/t rm x", "write:Replace /tmp/t; > rm x"),
            ("env A=1 -u B rm x", "> -u B rm x"),
            ("env -i A=1 PATH=/x rm x", "> rm x"),
            ("env -S 'rm -rf' /", "> rm -rf /"),
            ("env", "compute"),
            ("watch -n 1 ls -l", "$ ls -l"),
            ("script -qc 'rm -rf /' /dev/null", "write:Replace /dev/null; $ rm -rf /"),
            ("flock /tmp/l rm x", "write:Make /tmp/l; > rm x"),
            ("flock /tmp/l -c 'rm x'", "write:Make /tmp/l; $ rm x"),
            ("busybox rm -rf /", "> rm -rf /"),
            ("/lib64/ld-linux-x86-64.so.2 /bin/rm -rf /", "> /bin/rm -rf /"),
            ("gdb --args rm -rf /", "> rm -rf /"),
            ("gdb -batch -ex '!id'", "$ id"),
            ("chroot /mnt rm -rf /", "privilege chroot; > @another root rm -rf /"),
            ("unshare -r rm -rf /", "> rm -rf /"),
            ("bwrap --ro-bind / / --dev /dev rm -rf /", "> @a sandbox rm -rf /"),
            ("bwrap --bind / / rm -rf /", "> rm -rf /"),
            ("setsid -f rm x", "> rm x"),
            ("taskset 0x1 rm x", "> rm x"),
            ("hyperfine 'rm -rf /'", "$ rm -rf /"),
            ("cross-env A=1 rm x", "> rm x"),
        ]);
    }
}
