//! Archives and tools that want out: what climbs, what is linked, what is too long or cut by a NUL is refused with a
//! reason, and nothing outside the directory that was named is touched.

use serde_json::{Value, json};

use crate::support::{Answer, Client, Request, Served};

fn unpack(client: &Client, sandbox: &str, tar: Vec<u8>) -> Answer {
    let put = Request::new("PUT", &format!("{sandbox}/files/tmp/in?unpack=true"));
    client.send(&put.with("content-type", "application/x-tar").body(tar))
}

/// The ways a tar has to give its next entry a name longer than a header's field.
fn named(name: &[u8]) -> [Vec<u8>; 2] {
    let mut gnu = name.to_vec();
    gnu.push(0);
    [
        [entry("././@LongLink", &gnu, b'L'), tar_with("short", b"evil")].concat(),
        [entry("pax", &record("path", name), b'x'), tar_with("short", b"evil")].concat(),
    ]
}

#[test]
fn a_tar_that_climbs_out_is_refused() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    served.sh(&sandbox, "mkdir /tmp/in");
    let target = served.work().join("slipped");
    let ways = [
        "../../../../../../slipped".to_owned(),
        target.display().to_string(),
        "a/../../slipped".to_owned(),
        "..".to_owned(),
        "/slipped".to_owned(),
        "a/b/../../../slipped".to_owned(),
    ];
    for name in ways {
        let [gnu, pax] = named(name.as_bytes());
        let global =
            [entry("pax", &record("path", name.as_bytes()), b'g'), tar_with(&name, b"evil")].concat();
        for tar in
            [tar_with(&name, b"evil"), header(&name, 0, b'5', ""), link_in_tar(&name, "x"), gnu, pax, global]
        {
            let answer = unpack(&client, &sandbox, tar);
            answer.is_problem(400, "INVALID_REQUEST");
            assert!(answer.text().contains("leads out"), "{name}: {answer:?}");
            assert_eq!(served.sh(&sandbox, "ls /tmp/in; ls /tmp / | grep slipped || true"), "", "{name}");
            assert!(!target.exists() && !std::path::Path::new("/slipped").exists(), "{name}");
        }
    }
}

#[test]
fn a_name_that_is_cut_or_has_no_end_is_refused() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    served.sh(&sandbox, "mkdir /tmp/in");
    for name in
        [b"a\0b".to_vec(), b"\xff\xfe".to_vec(), "n".repeat(300).into_bytes(), "a/".repeat(3000).into_bytes()]
    {
        let [_, pax] = named(&name);
        let answer = unpack(&client, &sandbox, pax);
        answer.is_problem(400, "INVALID_REQUEST");
        assert_eq!(served.sh(&sandbox, "find /tmp/in -type f"), "");
    }
    // A name longer than any is not even read to its end.
    for tar in named(&vec![b'n'; 8 << 20]) {
        let answer = unpack(&client, &sandbox, tar);
        answer.is_problem(400, "INVALID_REQUEST");
        assert!(answer.text().contains("header"), "{answer:?}");
    }
    assert_eq!(served.sh(&sandbox, "ls -A /tmp/in"), "");
}

#[test]
fn a_long_name_that_stays_is_unpacked() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let name = format!("{}/file", "deep/".repeat(40));
    for tar in named(name.as_bytes()) {
        assert_eq!(unpack(&client, &sandbox, tar).status, 200);
        assert_eq!(served.sh(&sandbox, "cd /tmp/in && find . -type f | wc -c; rm -rf /tmp/in"), "207\n");
    }
}

#[test]
fn a_tar_whose_pax_link_leads_out_is_refused() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    for says in ["../../../etc", "/..", "a\0b"] {
        let pax = entry("pax", &record("linkpath", says.as_bytes()), b'x');
        let long = entry("././@LongLink", format!("{says}\0").as_bytes(), b'K');
        for before in [pax, long] {
            let answer = unpack(&client, &sandbox, [before, link_in_tar("door", "fine")].concat());
            if !says.contains('\0') {
                answer.is_problem(400, "INVALID_REQUEST");
                assert_eq!(served.sh(&sandbox, "ls -A /tmp/in"), "", "{says:?}");
            }
            assert!(answer.status < 500, "{answer:?}");
            served.sh(&sandbox, "rm -rf /tmp/in");
        }
    }
}

/// A client of the tools over HTTP.
struct Tools(Client);

impl Tools {
    fn new(client: &Client) -> Self {
        let client = client.clone().with("accept", "application/json, text/event-stream");
        let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let greeting = client
            .post("/mcp", &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }));
        let client = client.with("mcp-session-id", greeting.header("mcp-session-id").unwrap());
        client.post("/mcp", &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        Self(client)
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self
            .0
            .post("/mcp", &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }));
        let text = answer.text();
        let said =
            text.lines().filter_map(|line| line.strip_prefix("data:")).find(|data| data.contains("jsonrpc"));
        serde_json::from_str(said.unwrap_or(&text)).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
    }
}

#[test]
fn no_tool_writes_or_reads_outside() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let id = sandbox.rsplit('/').next().unwrap();
    let canary = served.work().join("canary");
    std::fs::write(&canary, "the canary sings").unwrap();
    let shown = canary.display();
    served.sh(&sandbox, &format!("ln -s {shown} /tmp/out; ln -s /proc/1/root /tmp/proc"));
    let tools = Tools::new(&client);
    let ways = [
        "../../../../etc/passwd".to_owned(),
        "/tmp/../../../etc/passwd".to_owned(),
        "/tmp/a\0b".to_owned(),
        format!("/tmp/{}", "n".repeat(300)),
        "/a".repeat(3000),
        String::new(),
        "/".to_owned(),
    ];
    for way in &ways {
        let written = json!({ "sandbox_id": id, "path": way, "content": "evil" });
        let uploaded =
            json!({ "sandbox_id": id, "file_path": way, "content": "ZXZpbA==", "encoding": "base64" });
        let read = json!({ "sandbox_id": id, "path": way });
        for (tool, arguments) in
            [("sandbox_write_file", written), ("sandbox_upload", uploaded), ("sandbox_read_file", read)]
        {
            let said = tools.call(tool, &arguments);
            assert_eq!(said["result"]["isError"], true, "{tool} {way:?}: {said}");
            let code = &said["result"]["structuredContent"]["error_code"];
            assert!(!code.as_str().unwrap().contains("INTERNAL"), "{tool} {way:?}: {said}");
        }
    }
    for way in ["/tmp/out".to_owned(), format!("/tmp/proc{shown}")] {
        tools.call("sandbox_write_file", &json!({ "sandbox_id": id, "path": way, "content": "evil" }));
        tools.call("sandbox_upload", &json!({ "sandbox_id": id, "file_path": way, "content": "evil" }));
        let read = tools.call("sandbox_read_file", &json!({ "sandbox_id": id, "path": way }));
        assert!(!read.to_string().contains("sings"), "{read}");
    }
    assert_eq!(std::fs::read_to_string(&canary).unwrap(), "the canary sings");
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

pub(crate) fn tar_with(name: &str, content: &[u8]) -> Vec<u8> {
    let mut tar = entry(name, content, b'0');
    tar.extend([0; 1024]);
    tar
}

fn entry(name: &str, content: &[u8], kind: u8) -> Vec<u8> {
    let mut block = header(name, content.len(), kind, "");
    block.extend(content);
    block.resize(block.len().next_multiple_of(512), 0);
    block
}

/// One line of a PAX header: its own length, in digits that count themselves, a key and a value.
fn record(key: &str, value: &[u8]) -> Vec<u8> {
    let rest = key.len() + value.len() + 3;
    let mut length = rest + 1;
    while length != rest + length.to_string().len() {
        length += 1;
    }
    [format!("{length} {key}=").as_bytes(), value, b"\n"].concat()
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
