//! The dashboard as a browser gets it: one page for every view, files that never change, nothing from elsewhere.

use crate::support::{Client, Served};

fn views() -> Vec<&'static str> {
    vec![
        "/",
        "/approvals",
        "/approvals/apr_1",
        "/events",
        "/timeline",
        "/sessions",
        "/sessions/x",
        "/sessions/x/trace",
        "/runs",
        "/runs/x",
        "/sandboxes",
        "/sandboxes/x",
        "/graph",
        "/tools",
        "/errors",
        "/cost",
        "/guardian",
        "/audit",
        "/settings",
        "/welcome",
    ]
}

/// The files a page names.
fn named(page: &str) -> Vec<&str> {
    page.split('"').filter(|text| text.starts_with("/assets/")).collect()
}

fn is_script(client: &Client, path: &str) -> bool {
    client.get(path).header("content-type").is_some_and(|kind| kind.starts_with("text/javascript"))
}

#[test]
fn every_view_is_the_page_and_a_stranger_may_have_it() {
    let served = Served::start();
    let stranger = served.stranger();
    for view in views() {
        let answer = stranger.get(view);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some("text/html; charset=utf-8")),
            "{view}"
        );
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'") && !policy.contains("unsafe"), "{view}: {policy}");
        assert!(!answer.text().contains("<script>"), "{view} has a script in it");
    }
    stranger.get("/nowhere").is_problem(404, "ROUTE_NOT_FOUND");
    stranger.get("/assets/nothing.js").is_problem(404, "ROUTE_NOT_FOUND");
    // What the page shows is asked for with a session, and without one there is nothing.
    stranger.get("/api/v1/sessions").is_problem(401, "UNAUTHORIZED");
}

#[test]
fn its_files_come_compressed_and_are_kept_for_ever() {
    let served = Served::start();
    let stranger = served.stranger();
    let page = stranger.get("/");
    assert_eq!(page.header("cache-control"), Some("no-cache"));
    let text = page.text();
    let files = named(&text);
    assert!(files.iter().any(|path| is_script(&stranger, path)), "the page was not built: {text}");
    for path in files {
        let plain = stranger.get(path);
        assert_eq!((plain.status, plain.header("content-encoding")), (200, None), "{path}");
        assert!(plain.header("cache-control").unwrap().contains("immutable"), "{path}");
        for encoding in ["br", "gzip"] {
            let packed = stranger.clone().with("accept-encoding", encoding).get(path);
            assert_eq!(packed.header("content-encoding"), Some(encoding), "{path}");
            assert_eq!(packed.header("vary"), Some("Accept-Encoding"), "{path}");
        }
    }
}
