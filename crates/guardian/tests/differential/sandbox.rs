//! What bash really does with a script: in a sandbox with nothing but itself and a small world of files.
//!
//! Every program on the search path is a stand-in that notes its name, arguments and directory before it becomes the real one.
//! Many scripts share one sandbox, each with a world of its own; times of files tell afterwards what was read and written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a script did.
#[derive(Debug, Default, Clone)]
pub(crate) struct Deeds {
    /// The directory it began in.
    pub(crate) cwd: String,
    /// The programs that were started.
    pub(crate) started: Vec<Started>,
    /// Files that are there and were not, or were changed.
    pub(crate) written: Vec<Vec<u8>>,
    /// Files of the world that are gone.
    pub(crate) removed: Vec<Vec<u8>>,
    /// Files of the world that were read.
    pub(crate) read: Vec<Vec<u8>>,
    /// Whether it had to be stopped.
    pub(crate) stopped: bool,
    /// Whether it failed to go where it wanted to.
    pub(crate) astray: bool,
}

/// A program that was started.
#[derive(Debug, Clone)]
pub(crate) struct Started {
    pub(crate) cwd: Vec<u8>,
    pub(crate) argv: Vec<Vec<u8>>,
}

/// The files every script begins with.
const WORLD: [(&str, &str); 6] = [
    ("f0", "alpha beta"),
    ("f1", "one\ntwo"),
    ("e.txt", "e"),
    (".h", "hidden"),
    ("d0/g0", "g"),
    ("d0/g1", "h h"),
];

/// Programs that do what they always do.
const REAL: [&str; 78] = [
    "awk",
    "base64",
    "basename",
    "bash",
    "bzip2",
    "cat",
    "chmod",
    "cmp",
    "comm",
    "cp",
    "csplit",
    "cut",
    "dd",
    "diff",
    "dirname",
    "echo",
    "ed",
    "env",
    "expand",
    "false",
    "find",
    "fmt",
    "fold",
    "grep",
    "gzip",
    "head",
    "install",
    "join",
    "ln",
    "ls",
    "md5sum",
    "mkdir",
    "mkfifo",
    "mktemp",
    "mv",
    "nice",
    "nl",
    "node",
    "nohup",
    "od",
    "paste",
    "patch",
    "perl",
    "printf",
    "pwd",
    "python3",
    "rev",
    "rm",
    "rmdir",
    "sed",
    "seq",
    "setsid",
    "sha256sum",
    "shred",
    "shuf",
    "sleep",
    "sort",
    "split",
    "stdbuf",
    "tac",
    "tail",
    "tar",
    "tee",
    "test",
    "time",
    "timeout",
    "touch",
    "tr",
    "true",
    "truncate",
    "uniq",
    "unlink",
    "unzip",
    "wc",
    "xargs",
    "xxd",
    "xz",
    "zip",
];

/// Notes that it runs; then it is the real one, or a marker that answers by its number.
const STAND_IN: &str = r#"#!/bin/dash
old=${OLDPWD-}
cd -P .
OLDPWD=$old
name=${0##*/}
printf '%s\0' RUN "$#" "$name" "$PWD" "$@" >> /log
case $name in
c4) echo f0 ;;
c5) echo a b ;;
c3 | c6 | c9) exit 1 ;;
c?) ;;
sh | bash)
  case $name in sh) set -- /real/sh "$@" ;; *) set -- /usr/bin/bash "$@" ;; esac
  # This shell hands on no functions: whether a `cd` fails is seen there too.
  for way in cd pushd popd; do
    set -- "BASH_FUNC_$way%%=() { builtin $way \"\$@\" || { printf 'ASTRAY\\0' >> /log; return 1; }; }" "$@"
  done
  exec /usr/bin/env "$@" ;;
*) exec "/usr/bin/$name" "$@" ;;
esac
"#;

/// Makes the worlds, runs the scripts one after the other, and tells what became of the files.
const DRIVER: &str = r#"
mkdir /stubs /real; cp /in/stand-in /stubs/sh
for name in c{0..9} $REAL; do ln /stubs/sh /stubs/$name; done
chmod +x /stubs/sh; ln -s /usr/bin/bash /real/sh
ulimit -t 2 -f 100000
cd /in/scripts
cd() { builtin cd "$@" || { printf 'ASTRAY\0' >> /log; return 1; }; }
pushd() { builtin pushd "$@" || { printf 'ASTRAY\0' >> /log; return 1; }; }
popd() { builtin popd "$@" || { printf 'ASTRAY\0' >> /log; return 1; }; }
export -f cd pushd popd
for n in *; do mkdir -p /w/$n/home; cp -r /in/world /w/$n/p; done
find /w -exec touch -a -d @1 {} + -exec touch -m -d @1000 {} +
: > /log
for n in *; do
  cd /w/$n/p
  printf '%s\0' SCRIPT $n >> /log
  unset OLDPWD
  ended=$(HOME=/w/$n/home BASH_ENV=/in/begin timeout -s KILL 2 bash -c "$(< /in/scripts/$n)" 9>&1 > /dev/null 2>&1 < /dev/null; echo $?)
  [[ $ended == *137 ]] && printf 'STOPPED\0' >> /log
done
cat /log
printf 'FILES\0'
find /w -mindepth 2 -printf '%p\0%y\0%A@\0%T@\0'
"#;

/// What the shell of a script reads first, and no other.
const BEGIN: &str = "PATH=/stubs; unset BASH_ENV REAL\n";

/// A directory that is gone when nobody needs it any more.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// What each of these scripts does, in their order.
pub(crate) fn run(scripts: &[String], place: &Path) -> Vec<Deeds> {
    let scratch = Scratch(place.to_owned());
    let root = &scratch.0;
    fs::create_dir_all(root.join("world/d0")).unwrap();
    fs::create_dir_all(root.join("scripts")).unwrap();
    for (name, text) in WORLD {
        fs::write(root.join("world").join(name), format!("{text}\n")).unwrap();
    }
    fs::write(root.join("stand-in"), STAND_IN).unwrap();
    fs::write(root.join("driver"), DRIVER).unwrap();
    fs::write(root.join("begin"), BEGIN).unwrap();
    fs::write(root.join("passwd"), "root:x:0:0::/root:/bin/bash\n").unwrap();
    for (number, script) in scripts.iter().enumerate() {
        fs::write(root.join(format!("scripts/{number:06}")), script).unwrap();
    }
    let output = sandboxed(root)
        .stdin(Stdio::null())
        .output()
        .expect("bubblewrap is installed: `cargo xtask test` prepares it");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the sandbox failed: {said}");
    let deeds = told(&output.stdout, scripts.len());
    assert!(!said.contains("No such file"), "the sandbox lacks something: {said}");
    deeds
}

fn sandboxed(root: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]);
    command.args([
        "--ro-bind",
        "/usr",
        "/usr",
        "--proc",
        "/proc",
        "--dev",
        "/dev",
        "--tmpfs",
        "/w",
        "--tmpfs",
        "/tmp",
    ]);
    // awk is a link through here.
    command.args(["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"]);
    for place in ["bin", "lib", "lib64"] {
        command.args(["--symlink", &format!("usr/{place}"), &format!("/{place}")]);
    }
    command.arg("--ro-bind").arg(root).arg("/in");
    command.arg("--ro-bind").arg(root.join("passwd")).arg("/etc/passwd");
    command.args(["--setenv", "REAL", &REAL.join(" ")]);
    command.args(["--setenv", "PATH", "/usr/bin:/bin", "/bin/bash", "/in/driver"]);
    command
}

/// Reads what the driver tells.
fn told(output: &[u8], count: usize) -> Vec<Deeds> {
    let mut all: Vec<Deeds> =
        (0..count).map(|number| Deeds { cwd: format!("/w/{number:06}/p"), ..Deeds::default() }).collect();
    let mut parts = output.split(|byte| *byte == 0);
    let mut at = 0;
    while let Some(part) = parts.next() {
        let mut next = || String::from_utf8_lossy(parts.next().unwrap()).into_owned();
        match part {
            b"SCRIPT" => at = next().parse().unwrap(),
            b"STOPPED" => all[at].stopped = true,
            b"ASTRAY" => all[at].astray = true,
            b"RUN" => {
                // Whoever is stopped while it writes leaves half of it.
                let Ok(count) = next().parse::<usize>() else {
                    all[at].stopped = true;
                    continue;
                };
                let name = parts.next().unwrap().to_vec();
                let cwd = parts.next().unwrap().to_vec();
                let words = parts.by_ref().take(count).map(called);
                let argv = [name].into_iter().chain(words).collect();
                // What a script leaves behind may start when the next one has begun.
                let begun = world(&cwd).filter(|begun| *begun < at).unwrap_or(at);
                all[begun].started.push(Started { cwd, argv });
            }
            b"FILES" => break,
            _ => all[at].stopped = true,
        }
    }
    let rest: Vec<&[u8]> = parts.collect();
    let mut found: BTreeMap<&[u8], [&[u8]; 3]> = BTreeMap::new();
    for file in rest.chunks_exact(4) {
        found.insert(file[0], [file[1], file[2], file[3]]);
    }
    for (number, deeds) in all.iter_mut().enumerate() {
        files(number, &found, deeds);
    }
    all
}

/// The number of the script in whose world a directory is.
fn world(cwd: &[u8]) -> Option<usize> {
    std::str::from_utf8(cwd.strip_prefix(b"/w/")?.get(..6)?).ok()?.parse().ok()
}

/// A word as it is where no stand-in gives the shell another `$0`.
fn called(word: &[u8]) -> Vec<u8> {
    let mut word = word.to_vec();
    for (path, name) in [(b"/real/sh".as_slice(), b"sh".as_slice()), (b"/usr/bin/bash", b"bash")] {
        while let Some(at) = word.windows(path.len()).position(|part| part == path) {
            word.splice(at..at + path.len(), name.iter().copied());
        }
    }
    word
}

/// What became of one script's files.
fn files(number: usize, found: &BTreeMap<&[u8], [&[u8]; 3]>, deeds: &mut Deeds) {
    let root = format!("/w/{number:06}");
    let world: Vec<Vec<u8>> = WORLD.iter().map(|(name, _)| format!("{root}/p/{name}").into_bytes()).collect();
    let places = [format!("{root}/p"), format!("{root}/p/d0"), format!("{root}/home")];
    for (path, [kind, accessed, modified]) in
        found.range(root.as_bytes()..).take_while(|(path, _)| path.starts_with(root.as_bytes()))
    {
        if !world.iter().any(|known| known == path) {
            if !places.iter().any(|place| place.as_bytes() == *path) {
                deeds.written.push(path.to_vec());
            }
            continue;
        }
        // Of a file that was made anew nobody can tell whether it was read.
        if !modified.starts_with(b"1000.") || *kind != b"f" {
            deeds.written.push(path.to_vec());
        } else if !accessed.starts_with(b"1.") {
            deeds.read.push(path.to_vec());
        }
    }
    deeds.removed = world.into_iter().filter(|path| !found.contains_key(path.as_slice())).collect();
}
