//! Real work under glass: the tools a coding agent lives on, and a real agent, offline, as root and as an ordinary user.
//!
//! Each must do inside what it does outside, and leave the host's directory as it was.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod support;

use std::fs;

use support::{
    claude,
    jar::{Jar, User, succeed},
    model::Model,
    require,
};

/// A test for each user.
macro_rules! as_both {
    ($($name:ident,)*) => {
        $(mod $name {
            #[test]
            fn as_root() {
                super::$name(super::User::Root);
            }

            #[test]
            fn as_an_ordinary_user() {
                super::$name(super::User::Ordinary);
            }
        })*
    };
}

as_both! {
    git_clones_and_commits,
    cargo_builds_offline,
    python_makes_a_virtual_environment,
    npm_installs_a_tarball,
    make_and_a_compiler_build,
    claude_runs_a_command,
    hooks_inside_are_heard,
}

const ROOMY: [&str; 4] = ["--memory", "2G", "--pids", "512"];

fn git_clones_and_commits(user: User) {
    require("git", "git");
    let jar = Jar::new(user);
    let commit = "git -c user.name=a -c user.email=a@example.org commit --quiet";
    let script = format!(
        "git init --quiet --bare --initial-branch main up.git
         git clone --quiet up.git seed 2>/dev/null && cd seed && git checkout --quiet -B main
         echo one > file && git add file && {commit} --message first && git push --quiet origin main
         cd .. && rm -r seed && git --git-dir up.git rev-parse main"
    );
    let upstream = jar.make_dir("upstream");
    let first = succeed(jar.as_user("sh", ["-ec", &script], &upstream));

    let lent = format!("{}:/srv/up.git:ro", upstream.join("up.git").display());
    let script = format!(
        "git clone --quiet --branch main /srv/up.git clone && cd clone
         echo two >> file && {commit} --all --message second && git log --format=%s
         ! git push --quiet origin main 2>/dev/null"
    );
    assert_eq!(jar.run(&["--mount", &lent], &script), "second\nfirst\n");
    let now =
        succeed(jar.as_user("git", ["--git-dir", "upstream/up.git", "rev-parse", "main"], &jar.path("")));
    assert_eq!(now, first, "what was lent for reading is as it was");
    assert!(succeed(jar.belljar(["diff"])).contains("+++ b/clone/file"));
    jar.assert_work_is(&[]);
}

fn cargo_builds_offline(user: User) {
    let mut jar = Jar::new(user);
    let manifest = |name: &str, rest: &str| {
        format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
    };
    jar.write("work/answer/Cargo.toml", &manifest("answer", ""));
    jar.write("work/answer/src/lib.rs", "pub fn answer() -> i32 { 42 }\n");
    jar.write(
        "work/app/Cargo.toml",
        &manifest("app", "[dependencies]\nanswer = { path = \"../answer\" }\n[workspace]\n"),
    );
    jar.write(
        "work/app/src/main.rs",
        "fn main() { println!(\"{}\", answer::answer()) }\n#[test] fn it_is_42() { assert_eq!(answer::answer(), 42) }\n",
    );
    // Root finds the toolchain in its home, as everybody does who has one there. The other user has none, and is lent it.
    let (lent, path);
    let mut flags = ROOMY.to_vec();
    if user == User::Ordinary {
        let sysroot = std::process::Command::new("rustc").args(["--print", "sysroot"]).output();
        let sysroot = String::from_utf8(sysroot.unwrap().stdout).unwrap();
        lent = format!("{}:/srv/rust:ro", jar.show(sysroot.trim().as_ref(), "toolchain").display());
        path = "PATH=/srv/rust/bin:/usr/bin:/bin";
        flags.extend(["--mount", &lent, "--env", path]);
    }
    let script = "cd app && cargo test --offline --quiet >/dev/null && cargo run --offline --quiet";
    assert_eq!(jar.run(&flags, script), "42\n");
    jar.assert_work_is(&["answer", "app"]);
    assert!(!jar.path("work/app/target").exists());
}

fn python_makes_a_virtual_environment(user: User) {
    require("python3", "python3 python3-venv");
    let jar = Jar::new(user);
    jar.write(
        "work/greet.py",
        "import json, ssl, sqlite3, sys\nprint(json.dumps(sys.prefix != sys.base_prefix))\n",
    );
    let script = "python3 -m venv venv >&2 && venv/bin/python -m greet && venv/bin/pip --version >&2";
    assert_eq!(jar.run(&ROOMY, script), "true\n");
    jar.assert_work_is(&["greet.py"]);
}

fn npm_installs_a_tarball(user: User) {
    require("npm", "npm nodejs");
    let jar = Jar::new(user);
    jar.write("work/tiny/package.json", r#"{"name": "tiny", "version": "1.0.0", "main": "index.js"}"#);
    jar.write("work/tiny/index.js", "module.exports = 7\n");
    jar.write("work/app/package.json", r#"{"name": "app", "version": "1.0.0"}"#);
    let script = "(cd tiny && npm pack --silent) >&2 && cd app
        npm install --offline --no-audit --no-fund ../tiny/tiny-1.0.0.tgz >&2 && node -p 'require(\"tiny\")'";
    assert_eq!(jar.run(&ROOMY, script), "7\n");
    jar.assert_work_is(&["app", "tiny"]);
    assert!(succeed(jar.belljar(["diff", "--stat"])).contains("package-lock.json"));
}

fn make_and_a_compiler_build(user: User) {
    require("make", "make gcc");
    require("cc", "gcc libc6-dev");
    let jar = Jar::new(user);
    jar.write("work/Makefile", "hello: hello.o\n\tcc -o $@ $<\nhello.o: hello.c\n\tcc -g -c -o $@ $<\n");
    jar.write("work/hello.c", "#include <stdio.h>\nint main(void) { puts(\"made\"); return 0; }\n");
    assert_eq!(jar.run(&[], "make -j2 >&2 && ./hello"), "made\n");
    jar.assert_work_is(&["Makefile", "hello.c"]);
}

fn hooks_inside_are_heard(user: User) {
    let jar = Jar::new(user);
    let script = r#"echo '{"hook_event_name":"Stop","session_id":"s"}' | /run/belljar/belljar hook --verbose 2>&1
        ls /etc/claude-code/managed-settings.d
        ! echo '{}' > /etc/claude-code/managed-settings.d/50-belljar.json"#;
    let said = jar.run(&["--observe"], script);
    assert!(said.contains("delivered") && said.contains("50-belljar.json"), "{said}");
    let waiting = succeed(jar.belljar(["--json", "hooks", "status"]));
    let waiting: serde_json::Value = serde_json::from_str(&waiting).unwrap();
    assert_eq!(waiting.pointer("/spool/entries"), Some(&serde_json::json!(1)), "{waiting}");
}

fn claude_runs_a_command(user: User) {
    let program = claude();
    let mut jar = Jar::new(user);
    jar.write("work/notes.txt", "before\n");
    let model = Model::asking_for("echo made by the agent | tee made.txt && cat notes.txt");
    let lent = format!("{}:/srv/claude:ro", jar.show(program.parent().unwrap(), "claude").display());
    let url = format!("ANTHROPIC_BASE_URL={}", model.url());
    let mut words =
        vec!["run", "--quiet", "--net", "open", "--memory", "4G", "--pids", "512", "--timeout", "120s"];
    words.extend(["--mount", &lent, "--env", &url, "--env", "ANTHROPIC_API_KEY=sk-ant-none"]);
    for silent in ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY"] {
        words.extend(["--env", silent]);
    }
    words.extend(["--", "/srv/claude/claude", "--print", "Do it.", "--dangerously-skip-permissions"]);
    let mut command = jar.belljar(words);
    for silent in ["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY"] {
        command.env(silent, "1");
    }
    assert_eq!(succeed(command), "all done\n");
    let results = model.results();
    assert!(results.iter().any(|result| result.contains("made by the agent\\nbefore")), "{results:?}");
    let diff = succeed(jar.belljar(["diff"]));
    assert!(diff.contains("+++ b/made.txt") && diff.contains("+made by the agent"), "{diff}");
    jar.assert_work_is(&["notes.txt"]);
    succeed(jar.belljar(["apply"]));
    assert_eq!(fs::read_to_string(jar.path("work/made.txt")).unwrap(), "made by the agent\n");
}
