//! Who is let in.

use serde_json::json;

use crate::support::{Request, Served, Socket, eventually};

#[test]
fn without_a_key_nothing_is_told_and_the_ledger_knows() {
    let served = Served::start();
    for path in ["/api/v1/sandboxes", "/api/v1/whoami", "/api/v1/events", "/metrics", "/api/v1/audit/verify"]
    {
        served.stranger().get(path).is_problem(401, "UNAUTHORIZED");
        let wrong = served.stranger().with("authorization", "Bearer bj_wrong");
        wrong.get(path).is_problem(401, "UNAUTHORIZED");
    }
    let denied = eventually("the refusals are in the ledger", || {
        let events = served.client().get("/api/v1/events?kind=api.denied").json();
        events["items"].as_array().filter(|list| !list.is_empty()).cloned()
    });
    assert!(denied.len() <= 10, "telling is bounded");
    assert_eq!((&denied[0]["status"], &denied[0]["decision"]), (&json!("denied"), &json!("deny")));
}

#[test]
fn a_key_the_socket_and_a_login_all_open() {
    let served = Served::start();
    assert_eq!(served.client().get("/api/v1/whoami").json()["name"], "admin");
    let by_header = served.stranger().with("x-api-key", &served.key());
    assert_eq!(by_header.get("/api/v1/whoami").status, 200);
    let neighbour = served.neighbour().get("/api/v1/whoami").json();
    assert!(neighbour["name"].as_str().unwrap().starts_with("uid:") && neighbour["admin"] == true);

    let link = served.facts["login_url"].as_str().unwrap();
    let path = &link[link.find("/login").unwrap()..];
    let login = served.stranger().get(path);
    assert_eq!((login.status, login.header("location")), (303, Some("/")));
    let cookie = login.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    let browser = served.stranger().with("cookie", cookie.split(';').next().unwrap());
    assert_eq!(browser.get("/api/v1/whoami").json()["name"], "admin");
    served.stranger().get(path).is_problem(401, "UNAUTHORIZED");
    assert_eq!(browser.send(&Request::new("POST", "/logout")).status, 303);
    assert_eq!(browser.get("/api/v1/whoami").status, 401);
}

#[test]
fn other_names_and_pages_of_other_sites_are_refused() {
    let served = Served::start();
    let rebound = served.client().with("host", "evil.example");
    rebound.get("/api/v1/whoami").is_problem(421, "HOST_NOT_ALLOWED");
    rebound.get("/healthz").is_problem(421, "HOST_NOT_ALLOWED");
    let foreign = served.client().with("origin", "http://evil.example");
    foreign.post("/api/v1/sandboxes", &json!({})).is_problem(403, "ORIGIN_NOT_ALLOWED");
    assert_eq!(Socket::connect(&foreign, "/api/v1/stream").err(), Some(403));
    let own = served.client().with("origin", &format!("http://localhost:{}", served.port()));
    assert!(Socket::connect(&own, "/ws").is_ok());
    let form = Request::new("POST", "/api/v1/sandboxes").with("content-type", "text/plain").body("{}");
    served.client().send(&form).is_problem(415, "UNSUPPORTED_MEDIA_TYPE");
}

#[test]
fn names_that_are_configured_are_answered() {
    let served = Served::start_with(&[("BELLJAR_SERVER_HOSTS", "jar.example other.example")]);
    assert_eq!(served.client().with("host", "jar.example").get("/api/v1/whoami").status, 200);
    assert_eq!(served.client().with("host", "evil.example").get("/api/v1/whoami").status, 421);
}

#[test]
fn answers_carry_headers_that_keep_a_browser_calm() {
    let served = Served::start();
    let answer = served.stranger().get("/docs");
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(answer.text().contains("/api/v1/sandboxes/{id}/exec"));
}
