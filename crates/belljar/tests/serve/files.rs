//! Files: written, read in parts, listed, moved, packed, watched.

use serde_json::json;

use crate::support::{Request, Served};

#[test]
fn a_file_comes_back_as_it_was_and_in_parts() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let path = format!("{sandbox}/files/tmp/deep/er/data.bin");
    let content: Vec<u8> = (0..=255_u8).cycle().take(200_000).collect();
    let put = client.put(&path, &content);
    assert_eq!(put.status, 200, "{put:?}");
    assert_eq!(put.json()["size"], 200_000);
    let whole = client.get(&path);
    assert_eq!((whole.status, whole.body == content), (200, true));
    let tag = whole.header("etag").unwrap().to_owned();
    let same = client.send(&Request::new("GET", &path).with("if-none-match", &tag));
    assert_eq!((same.status, same.body.len()), (304, 0));
    let part = client.send(&Request::new("GET", &path).with("range", "bytes=100-199"));
    assert_eq!((part.status, part.body.as_slice()), (206, &content[100..200]));
    assert_eq!(part.header("content-range"), Some("bytes 100-199/200000"));
    let tail = client.send(&Request::new("GET", &path).with("range", "bytes=-5"));
    assert_eq!(tail.body, content[199_995..]);
    let beyond = client.send(&Request::new("GET", &path).with("range", "bytes=200000-"));
    beyond.is_problem(416, "RANGE_NOT_SATISFIABLE");
    assert_eq!(beyond.header("content-range"), Some("bytes */200000"));
    let head = client.send(&Request::new("HEAD", &path));
    assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("200000"), 0));
    let resumed =
        client.send(&Request::new("GET", &path).with("range", "bytes=5-").with("if-range", "\"other\""));
    assert_eq!(resumed.status, 200, "a part of another version is of no use");
    assert_eq!(served.sh(&sandbox, "wc -c < /tmp/deep/er/data.bin"), "200000\n");
}

#[test]
fn files_are_listed_described_moved_and_removed() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let files = format!("{sandbox}/files");
    assert_eq!(client.send(&Request::new("POST", &format!("{files}/tmp/a/b?op=mkdir"))).status, 201);
    assert_eq!(client.put(&format!("{files}/tmp/a/b/one.txt?mode=755"), b"one").status, 200);
    let one = client.get(&format!("{files}/tmp/a/b/one.txt?stat=true")).json();
    assert_eq!((&one["type"], &one["size"], &one["mode"]), (&json!("file"), &json!(3), &json!("0755")));
    let moved =
        client.send(&Request::new("POST", &format!("{files}/tmp/a/b/one.txt?op=move&to=/tmp/a/two.txt")));
    assert_eq!((moved.status, &moved.json()["path"]), (200, &json!("/tmp/a/two.txt")));
    let listed = client.get(&format!("{files}?path=/tmp/a&depth=2")).json();
    let mut names: Vec<_> =
        listed["items"].as_array().unwrap().iter().map(|f| f["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["b", "two.txt"]);
    assert_eq!(client.delete(&format!("{files}/tmp/a")).status / 100, 4, "a full directory stays");
    assert_eq!(client.delete(&format!("{files}/tmp/a?recursive=true")).status, 204);
    assert_eq!(client.get(&format!("{files}/tmp/a?stat=true")).status, 404);
    assert_eq!(client.get(&format!("{files}/tmp")).status, 409, "a directory is no file");
}

#[test]
fn a_directory_travels_as_a_tar_both_ways() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let links = "ln -s sub/a rel; ln -s ../rel sub/up; ln -s /etc/passwd abs; ln -s nowhere dangling";
    served.sh(
        &sandbox,
        &format!("mkdir -p /tmp/t/sub; cd /tmp/t; echo hello > sub/a; chmod 700 sub/a; {links}"),
    );
    let packed = client.get(&format!("{sandbox}/files/tmp/t?archive=tar"));
    assert_eq!((packed.status, packed.header("content-type")), (200, Some("application/x-tar")));
    let upload = Request::new("PUT", &format!("{sandbox}/files/tmp/copy?unpack=true"));
    served.sh(&sandbox, "mkdir /tmp/copy");
    let unpacked = client.send(&upload.with("content-type", "application/x-tar").body(packed.body));
    assert_eq!(unpacked.status, 200, "{unpacked:?}");
    assert_eq!(
        served.sh(&sandbox, "cd /tmp/copy; find . -name a -exec cat {} +; find . -name a -perm 700 | wc -l"),
        "hello\n1\n"
    );
    let look = "cd /tmp/copy; find . -type l -printf '%P %l\\n' | sort; cat sub/up";
    let links = "abs /etc/passwd\ndangling nowhere\nrel sub/a\nsub/up ../rel\n";
    assert_eq!(served.sh(&sandbox, look), format!("{links}hello\n"));
}

#[test]
fn changes_below_a_watched_directory_are_told() {
    let served = Served::start();
    let sandbox = served.sandbox();
    served.sh(&sandbox, "mkdir /tmp/w; echo 1 > /tmp/w/old");
    let watch = Request::new("GET", &format!("{sandbox}/watch?path=/tmp/w&interval_ms=200"));
    let mut events = served.client().events(&watch);
    served.sh(&sandbox, "echo 22 > /tmp/w/old; echo x > /tmp/w/new");
    let mut seen: Vec<_> =
        events.by_ref().take(2).map(|e| (e.data["change"].to_string(), e.data["path"].to_string())).collect();
    seen.sort();
    assert_eq!(
        seen,
        [
            ("\"created\"".to_owned(), "\"/tmp/w/new\"".to_owned()),
            ("\"modified\"".to_owned(), "\"/tmp/w/old\"".to_owned()),
        ]
    );
    served.sh(&sandbox, "rm /tmp/w/old");
    assert_eq!(events.next().unwrap().data["change"], "deleted");
}

#[test]
fn a_long_directory_comes_in_pages_by_name_while_it_changes() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    served.sh(
        &sandbox,
        "mkdir -p /tmp/many/m/n; cd /tmp/many; for i in $(seq 100 130); do echo > f$i; done; echo > m/n/o",
    );
    let page =
        |cursor: &str| client.get(&format!("{sandbox}/files?path=/tmp/many&depth=3&limit=7&cursor={cursor}"));
    let (mut names, mut cursor) = (Vec::new(), "/tmp/many".to_owned());
    loop {
        let read = page(&cursor).json();
        names.extend(
            read["items"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()),
        );
        if names.len() == 7 {
            // Gone and come behind what was read: neither shifts what follows. What comes ahead is listed.
            served.sh(&sandbox, "cd /tmp/many; rm f100 f106; echo > f0; echo > f1295");
        }
        match read["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => break,
        }
    }
    let wanted = (100..130)
        .map(|number| format!("f{number}"))
        .chain(["f1295", "f130", "m", "m/n", "m/n/o"].map(str::to_owned));
    let wanted: Vec<_> = wanted.map(|name| format!("/tmp/many/{name}")).collect();
    assert_eq!(names, wanted);
    page("/tmp/elsewhere").is_problem(400, "INVALID_REQUEST");
}

#[test]
fn what_is_refused_is_named_as_it_was_asked_for() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    served.sh(&sandbox, "mkdir /tmp/dir");
    for (path, status) in
        [("usr/bin/x", 403), ("etc/passwd", 403), ("proc/sys/kernel/x", 404), ("dev/x", 403)]
    {
        let refused = client.put(&format!("{sandbox}/files/{path}"), b"x");
        assert_eq!(refused.status, status, "{refused:?}");
        let detail = refused.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(&format!("/{path}`")) && !detail.contains(".belljar"), "{detail}");
    }
    client.put(&format!("{sandbox}/files/tmp/x?mode=4755"), b"x").is_problem(400, "INVALID_REQUEST");
}

#[test]
fn whoever_sends_much_to_a_place_that_is_refused_hears_why() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    // More than the connection holds: all of it is sent before the answer is read.
    let much = vec![7; 32 << 20];
    client.put(&format!("{sandbox}/files/usr/bin/x"), &much).is_problem(403, "PERMISSION_DENIED");
    client.put(&format!("{sandbox}/files/tmp/%00"), &much).is_problem(400, "INVALID_REQUEST");
}
