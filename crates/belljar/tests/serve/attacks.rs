//! Paths that want out, on every route that takes one: a clear refusal, and nothing outside is touched or told.

use serde_json::json;

use crate::support::{Client, Request, Served};

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

#[test]
fn a_tar_that_climbs_out_is_refused() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    served.sh(&sandbox, "mkdir /tmp/in");
    let target = served.work().join("slipped");
    for name in
        ["../../../../../../slipped".to_owned(), target.display().to_string(), "a/../../slipped".to_owned()]
    {
        let put = Request::new("PUT", &format!("{sandbox}/files/tmp/in?unpack=true"));
        let answer =
            client.send(&put.with("content-type", "application/x-tar").body(tar_with(&name, b"evil")));
        let inside = served.sh(&sandbox, "ls /tmp / | grep -c slipped || true");
        assert!((400..500).contains(&answer.status) || inside == "0\n", "{name}: {answer:?}");
        assert!(!target.exists() && !std::path::Path::new("/slipped").exists(), "{name}");
    }
}

#[test]
fn a_tar_whose_link_leads_out_is_refused() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    served.sh(&sandbox, "mkdir /tmp/in");
    let outside = served.work();
    let mut tar = link_in_tar("door", &outside.display().to_string());
    tar.extend(tar_with("door/slipped", b"evil"));
    let put = Request::new("PUT", &format!("{sandbox}/files/tmp/in?unpack=true"));
    client.send(&put.with("content-type", "application/x-tar").body(tar)).is_problem(400, "INVALID_REQUEST");
    assert!(!outside.join("slipped").exists());
}

#[test]
fn nothing_is_unpacked_through_a_link_of_the_same_tar() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    served.sh(&sandbox, "mkdir -p /tmp/in /tmp/out");
    let put = |tar: Vec<u8>| {
        let put = Request::new("PUT", &format!("{sandbox}/files/tmp/in?unpack=true"));
        client.send(&put.with("content-type", "application/x-tar").body(tar))
    };
    let slips = [
        [link_in_tar("door", "/tmp/out"), tar_with("door/slipped", b"evil")],
        [link_in_tar("door", "../out"), tar_with("./door/./slipped", b"evil")],
        [link_in_tar("door", "/tmp/out"), tar_with("door/deep/slipped", b"evil")],
        [link_in_tar("door", "/tmp/out"), header("door/slipped/", 0, b'5', "")],
        [link_in_tar("door", "/tmp/out"), link_in_tar("door/slipped", "x")],
    ];
    for tar in slips {
        let answer = put(tar.concat());
        answer.is_problem(400, "INVALID_REQUEST");
        assert!(answer.text().contains("through"), "{answer:?}");
        assert_eq!(served.sh(&sandbox, "ls /tmp/out; rm -rf /tmp/in/*"), "");
    }
    for (kind, says) in [(b'2', "../../../etc"), (b'2', "/.."), (b'1', "file"), (b'3', ""), (b'6', "")] {
        put(header("odd", 0, kind, says)).is_problem(400, "INVALID_REQUEST");
        assert_eq!(served.sh(&sandbox, "ls /tmp/in"), "", "{}", char::from(kind));
    }
}

fn tar_with(name: &str, content: &[u8]) -> Vec<u8> {
    let mut block = header(name, content.len(), b'0', "");
    block.extend(content);
    block.resize(block.len().next_multiple_of(512), 0);
    block.extend([0; 1024]);
    block
}

fn link_in_tar(name: &str, to: &str) -> Vec<u8> {
    header(name, 0, b'2', to)
}

/// A header by hand: no library writes a name that climbs.
fn header(name: &str, size: usize, kind: u8, to: &str) -> Vec<u8> {
    let mut block = vec![0_u8; 512];
    let mut put = |at: usize, text: &str| block[at..at + text.len()].copy_from_slice(text.as_bytes());
    put(0, name);
    put(100, "0000644\0");
    put(108, "0000000\0");
    put(116, "0000000\0");
    put(124, &format!("{size:011o}\0"));
    put(136, "00000000000\0");
    put(148, "        ");
    put(156, std::str::from_utf8(&[kind]).unwrap());
    put(157, to);
    put(257, "ustar\0");
    put(263, "00");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    block
}
