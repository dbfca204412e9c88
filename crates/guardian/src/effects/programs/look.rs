//! What only looks at names, sizes and the system: harmless, and known to be.

use super::call::Call;
use super::options::{Options, Read};
use crate::effects::act::{Act, Datum};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::{Piece, Value};

const LOOK: Options = Options::new(
    "I:L:P:T:w:c:f:d:B:t:",
    "ignore= hide= width= color? format= printf= time-style= sort= time= block-size= max-depth= exclude= \
     file-system directory output? type= level= indicator-style= quoting-style=",
);

const LIST: Options = Options::new(
    "I:T:w:",
    "ignore= hide= width= color? format= time-style= sort= time= block-size= indicator-style= quoting-style= directory",
);

/// `ls`, `stat`, `du` and others that take paths.
pub(super) fn paths(call: &Call<'_>) -> Outcome {
    let read = call.read(if matches!(call.name, "ls" | "dir" | "vdir") { &LIST } else { &LOOK });
    let mut targets = call.targets(&read);
    if targets.is_empty() {
        targets.push(Value::known("."));
    }
    let acts = targets.iter().map(|path| Act::Look { path: call.path(path) });
    let outcome = Outcome::of(acts);
    match call.name {
        // Names, one to a line: what comes next may take them for paths.
        "ls" | "dir" | "vdir" => outcome.saying(Stream::text(listed(&read))),
        "readlink" | "realpath" => match targets.first().map(|path| call.path(path)) {
            Some(path) if targets.len() == 1 => outcome.saying(Stream::text(path)),
            _ => outcome,
        },
        _ => outcome,
    }
}

/// The names `ls` says: those a pattern stands for, or all there are in a directory.
fn listed(read: &Read) -> Value {
    let is_pattern = |path: &Value| path.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)));
    let mut names = Value::default();
    if !read.operands.is_empty() && read.operands.iter().all(is_pattern) {
        for pattern in &read.operands {
            if !names.pieces.is_empty() {
                names.push(Piece::Known(b"\n".to_vec()));
            }
            names.append(pattern.clone());
        }
        return names;
    }
    names.push(Piece::Glob(b"*".to_vec()));
    if read.has("a all A almost-all f") {
        names.push(Piece::Known(b"\n".to_vec()));
        names.push(Piece::Glob(b".*".to_vec()));
    }
    names
}

/// `basename`, `dirname`.
pub(super) fn names(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("s:", "suffix= multiple zero"));
    let cut = |text: &str| {
        let text = text.trim_end_matches('/');
        match call.name {
            "basename" => text.rsplit('/').next().unwrap_or(text).to_owned(),
            _ => match text.rsplit_once('/') {
                Some(("", _)) => "/".to_owned(),
                Some((up, _)) => up.to_owned(),
                None => ".".to_owned(),
            },
        }
    };
    match (read.operands.first().and_then(Value::text), read.operands.len()) {
        (Some(text), 1) if read.options.is_empty() => {
            Outcome::harmless().saying(Stream::text(Value::known(cut(text))))
        }
        _ => Outcome::harmless(),
    }
}

/// `printenv` and `env` alone: the environment is shown.
pub(super) fn environment(call: &Call<'_>) -> Outcome {
    let names: Vec<Datum> = call
        .args
        .iter()
        .filter(|arg| !arg.prefix().starts_with(b"-"))
        .map(|name| Datum::Environment(name.text().map(str::to_owned)))
        .collect();
    let data = if names.is_empty() { vec![Datum::Environment(None)] } else { names };
    Outcome::harmless().saying(Stream { text: None, data })
}

/// `seq`: numbers one below the other; of a long row the first ones are enough to go by.
pub(super) fn numbers(call: &Call<'_>) -> Outcome {
    const MOST: usize = 64;
    let read = call.read(&Options::new("f:s:", "format= separator= equal-width"));
    let numbers: Option<Vec<i64>> =
        read.operands.iter().map(|number| number.text().and_then(|text| text.parse().ok())).collect();
    let known = numbers.filter(|_| read.options.is_empty() && call.invocation.more.is_none());
    let (first, step, last) = match known.as_deref() {
        Some([last]) => (1, 1, *last),
        Some([first, last]) => (*first, 1, *last),
        Some([first, step, last]) if *step != 0 => (*first, *step, *last),
        _ => return Outcome::harmless(),
    };
    let row = std::iter::successors(Some(first), |number| number.checked_add(step))
        .take_while(|number| if step > 0 { *number <= last } else { *number >= last });
    let mut said: Vec<String> = row.take(MOST + 1).map(|number| number.to_string()).collect();
    let is_all = said.len() <= MOST;
    said.truncate(MOST);
    let mut text = Value::known(said.iter().flat_map(|number| [number.as_str(), "\n"]).collect::<String>());
    if !is_all {
        text.push(Piece::Unknown(call.why("the output of seq")));
    }
    Outcome::harmless().saying(Stream::text(text))
}

/// `which`: where a program is; what is started by its answer is that program.
pub(super) fn which(call: &Call<'_>) -> Outcome {
    let names: Vec<&str> = call.words().filter(|word| !word.starts_with('-')).collect();
    match names.as_slice() {
        [name] if !name.contains('/') => {
            Outcome::harmless().saying(Stream::text(Value::known(format!("/usr/bin/{name}"))))
        }
        _ => Outcome::harmless(),
    }
}

/// `/bin/echo`: what the builtin says too.
pub(super) fn echo(call: &Call<'_>) -> Outcome {
    let args = match call.args {
        [first, rest @ ..] if first.text() == Some("-n") => rest,
        args => args,
    };
    let mut output = Stream::text(super::call::joined(args));
    output.data.clone_from(&call.invocation.flows);
    Outcome::harmless().saying(output)
}

/// Programs that take paths and look at them only.
pub(super) const PATHS: &[&str] = &[
    "ls",
    "dir",
    "vdir",
    "exa",
    "eza",
    "lsd",
    "tree",
    "stat",
    "file",
    "du",
    "df",
    "realpath",
    "readlink",
    "namei",
    "lsattr",
    "getfacl",
    "getcap",
    "findmnt",
    "lsblk",
    "blkid",
    "ncdu",
    "dust",
    "duf",
    "pathchk",
    "mountpoint",
    "smartctl",
    "udevadm",
    "dumpe2fs",
    "hwinfo",
    "iotop",
    "blktrace",
    "cdparanoia",
    "fuser",
    "lsof",
    "ldd",
    "size",
    "locate",
    "mlocate",
    "plocate",
];

/// Programs that say something about the system, wait, or count, whatever they are given.
pub(super) const HARMLESS: &[&str] = &[
    "date",
    "cal",
    "ncal",
    "uptime",
    "uname",
    "hostid",
    "whoami",
    "id",
    "groups",
    "users",
    "who",
    "w",
    "last",
    "lastlog",
    "logname",
    "tty",
    "pwd",
    "sleep",
    "usleep",
    "true",
    "false",
    "yes",
    "factor",
    "expr",
    "bc",
    "dc",
    "test",
    "[",
    "nproc",
    "free",
    "vmstat",
    "iostat",
    "mpstat",
    "sar",
    "top",
    "htop",
    "btop",
    "atop",
    "ps",
    "pstree",
    "pgrep",
    "pidof",
    "pidstat",
    "lscpu",
    "lsusb",
    "lspci",
    "lsmod",
    "lshw",
    "lsmem",
    "lsns",
    "lsipc",
    "dmidecode",
    "getconf",
    "getent",
    "locale",
    "localectl",
    "whereis",
    "type",
    "whatis",
    "apropos",
    "info",
    "tldr",
    "help",
    "clear",
    "reset",
    "tput",
    "stty",
    "ss",
    "netstat",
    "route",
    "arp",
    "ifconfig",
    "neofetch",
    "fastfetch",
    "figlet",
    "cowsay",
    "lolcat",
    "fortune",
    "banner",
    "uuidgen",
    "numfmt",
    "nvidia-smi",
    "sensors",
    "acpi",
    "loginctl",
    "hostnamectl",
    "timedatectl",
    "chronyc",
    "infocmp",
    "tic",
    "lsb_release",
    "cloc",
    "tokei",
    "scc",
    "onefetch",
    "jobs",
    "wait",
    "gettext",
    "ngettext",
    "msgfmt",
    "dpkg-query",
    "sw_vers",
    "system_profiler",
    "notify-send",
    "xclip",
    "xsel",
    "pbcopy",
    "pbpaste",
    "xdg-open",
    "open",
    "tabs",
    "cksum",
    "getopt",
    "runlevel",
    "systemd-analyze",
    "systemd-detect-virt",
    "systemd-escape",
    "zdump",
    "ldconfig",
    "fc-list",
    "fc-cache",
    "xrandr",
    "xdpyinfo",
    "xset",
    "glxinfo",
    "vulkaninfo",
    "clinfo",
    "sestatus",
    "getenforce",
    "aa-status",
    "pkg-config",
    "pkgconf",
    "llvm-config",
    "python-config",
    "python3-config",
    "mandb",
    "nettop",
];

#[cfg(test)]
mod tests {
    use super::super::testing::{check, run, said};

    #[test]
    fn looking_is_harmless_and_what_is_said_is_kept() {
        check(&[
            ("ls -la", "look /home/dev/project"),
            ("ls -I x src", "look /home/dev/project/src"),
            ("du -sh /var", "look /var"),
            ("date +%s", "compute"),
            ("ps aux", "compute"),
        ]);
        for (line, text) in [
            ("basename /a/b.txt", "b.txt"),
            ("dirname /a/b.txt", "/a"),
            ("realpath ../x", "/home/dev/x"),
            ("/bin/echo a b", "a b"),
            ("ls", "[*]"),
            ("seq 3", "1\n2\n3\n"),
            ("seq 1 2 5", "1\n3\n5\n"),
            ("seq 2 1", ""),
        ] {
            assert_eq!(said(&run(line).output.text.unwrap()), text, "{line}");
        }
    }
}
