//! Paths that want out, on every route that takes one: a clear refusal, and nothing outside is touched or told.

use std::{collections::BTreeSet, time::Instant};

use serde_json::json;

use crate::{
    slips,
    support::{Client, PATIENCE, Request, Served},
};

/// Ways to write a path that leaves.
const WAYS_OUT: [&str; 9] = [
    "../../../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "tmp/../../../etc/passwd",
    "tmp/%00/etc/passwd",
    "tmp/a%00b",
    "%2fproc%2f1%2froot%2f..%2f..%2fetc%2fpasswd",
    "%ff%fe",
];

fn attempts(sandbox: &str, way: &str) -> Vec<Request> {
    let path = format!("{sandbox}/files/{way}");
    vec![
        Request::new("GET", &path),
        Request::new("HEAD", &path),
        Request::new("GET", &format!("{path}?stat=true")),
        Request::new("GET", &format!("{path}?archive=tar")),
        Request::new("PUT", &path).body("evil"),
        Request::new("PUT", &format!("{path}?unpack=true"))
            .with("content-type", "application/x-tar")
            .body(vec![0; 1024]),
        Request::new("POST", &format!("{path}?op=mkdir")),
        Request::new("POST", &format!("{path}?op=move&to=/tmp/x")),
        Request::new("POST", &format!("{sandbox}/files/tmp/own?op=move&to={way}")),
        Request::new("DELETE", &format!("{path}?recursive=true")),
        Request::new("GET", &format!("{sandbox}/files?path={way}")),
        Request::new("GET", &format!("{sandbox}/watch?path={way}")),
        Request::new("POST", &format!("{sandbox}/exec"))
            .json(&json!({"command": "true", "cwd": "../../etc"})),
    ]
}

#[track_caller]
fn refused(client: &Client, request: &Request, what: &str) {
    let answer = client.send(request);
    assert!((400..500).contains(&answer.status), "{what}: {answer:?}");
}

#[test]
fn no_way_out_works_on_any_route() {
    let served = Served::start();
    let sandbox = served.sandbox();
    served.sh(&sandbox, "echo own > /tmp/own");
    let before = std::fs::read("/etc/passwd").unwrap();
    for way in WAYS_OUT {
        for request in attempts(&sandbox, way) {
            refused(&served.client(), &request, way);
        }
    }
    assert_eq!(std::fs::read("/etc/passwd").unwrap(), before);
    assert_eq!(served.sh(&sandbox, "cat /tmp/own"), "own\n");
}

#[test]
fn huge_names_and_paths_are_refused() {
    let served = Served::start();
    let sandbox = served.sandbox();
    for way in ["n".repeat(300), "a/".repeat(3000), "a/".repeat(2100)] {
        for request in attempts(&sandbox, &way) {
            refused(&served.client(), &request, "huge");
        }
    }
}

#[test]
fn links_inside_lead_inside() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let secret = served.work().join("secret");
    std::fs::write(&secret, "outside").unwrap();
    let shown = secret.display();
    served.sh(&sandbox, &format!("ln -s {shown} /tmp/out; ln -s / /tmp/root; ln -s /proc/1/root /tmp/proc; ln -s ../../../../../../etc /tmp/up"));
    for path in ["out".to_owned(), format!("root{shown}"), format!("proc{shown}"), format!("up/..{shown}")] {
        let read = client.get(&format!("{sandbox}/files/tmp/{path}"));
        assert!((400..500).contains(&read.status) && !read.text().contains("outside"), "{path}: {read:?}");
    }
    // Writing through a link writes inside or not at all.
    for path in ["out".to_owned(), format!("root{shown}"), format!("proc{shown}")] {
        client.put(&format!("{sandbox}/files/tmp/{path}"), b"evil");
        client.delete(&format!("{sandbox}/files/tmp/{path}"));
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "outside");
    // The sandbox's own /etc/passwd is the sandbox's.
    let inside = client.get(&format!("{sandbox}/files/etc/passwd"));
    assert_eq!(inside.status, 200);
    assert_eq!(inside.text(), served.sh(&sandbox, "cat /etc/passwd"));
}

/// Swaps a directory and links for each other as fast as it can, and puts back what is taken away.
const FLICKER: &str = r#"
import ctypes, os, sys
libc, inside = ctypes.CDLL(None, use_errno=True), sys.argv[1]
links = [sys.argv[2], "/proc/1/root", "/", "/proc/self/cwd/../..", "loop"]
def exchange(a, b):
    return libc.renameat2(-100, a.encode(), -100, b.encode(), 2)
os.chdir("/tmp")
for n, to in enumerate(links):
    os.symlink(to, f"link{n}")
os.symlink("loop", "loop")
turn = 0
while True:
    turn += 1
    link = f"link{turn % len(links)}"
    if exchange("d", link) == 0:
        exchange("d", link)
        continue
    for dir in ("d/canary", "d" + inside):
        os.makedirs(dir, exist_ok=True)
        open(dir + "/f", "w").write("inside")
    if not os.path.lexists(link):
        os.symlink(links[turn % len(links)], link)
"#;

/// What is asked of a directory that flickers: `dir` is below it.
fn flickering(sandbox: &str, dir: &str) -> Vec<Request> {
    let (at, file) = (format!("{sandbox}/files{dir}"), format!("{sandbox}/files{dir}/f"));
    let tar = || slips::tar_with("canary/f", b"evil");
    vec![
        Request::new("GET", &file),
        Request::new("GET", &format!("{file}?stat=true")),
        Request::new("GET", &format!("{sandbox}/files?path={dir}&depth=2")),
        Request::new("GET", &format!("{at}?archive=tar")),
        Request::new("PUT", &file).body("evil"),
        Request::new("POST", &format!("{at}/made?op=mkdir")),
        Request::new("POST", &format!("{file}?op=move&to={dir}/g")),
        Request::new("POST", &format!("{sandbox}/files/tmp/own?op=move&to={dir}/own")),
        Request::new("PUT", &format!("{at}?unpack=true"))
            .with("content-type", "application/x-tar")
            .body(tar()),
        Request::new("DELETE", &file),
        Request::new("DELETE", &format!("{at}?recursive=true")),
    ]
}

#[test]
fn a_link_that_flickers_leads_nowhere() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let outside = served.work().join("canary");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("f"), "the canary sings").unwrap();
    let shown = outside.display().to_string();
    let work = served.work().display().to_string();
    client.put(&format!("{sandbox}/files/tmp/flicker.py"), FLICKER.as_bytes());
    served.sh(&sandbox, &format!("mkdir -p /tmp/d/canary /tmp/d{shown}"));
    let started = client.post(
        &format!("{sandbox}/exec"),
        &json!({ "command": ["python3", "/tmp/flicker.py", shown, work], "background": true }),
    );
    assert_eq!(started.status, 202, "{started:?}");
    let (mut rounds, mut seen) = (0, BTreeSet::new());
    let until = Instant::now() + PATIENCE;
    // As often as it takes to meet it in both shapes, and then some.
    while rounds < 100 || (seen.len() < 2 && Instant::now() < until) {
        for dir in ["/tmp/d/canary", &format!("/tmp/d{shown}")] {
            served.client().put(&format!("{sandbox}/files/tmp/own"), b"own");
            for request in flickering(&sandbox, dir) {
                let answer = client.send(&request);
                assert!(answer.status < 500, "{answer:?}");
                assert!(!answer.text().contains("sings"), "{answer:?}");
                seen.insert(answer.status < 300);
            }
        }
        rounds += 1;
    }
    assert_eq!(seen.len(), 2, "it never flickered");
    assert_eq!(std::fs::read_to_string(outside.join("f")).unwrap(), "the canary sings");
    let names =
        |dir| std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(names(&outside), ["f"]);
    assert_eq!(names(&served.work()), ["canary"]);
    // Nothing of it ended the flicker, or the sandbox.
    let runs =
        client.get(&format!("{sandbox}/executions/{}", started.json()["execution_id"].as_str().unwrap()));
    assert_eq!(runs.json()["status"], "running", "{runs:?}");
}
