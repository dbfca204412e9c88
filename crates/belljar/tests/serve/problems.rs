//! What goes wrong is told in one shape, with a code.

use serde_json::json;

use crate::support::{Request, Served};

#[test]
fn every_kind_of_mistake_has_its_problem() {
    let served = Served::start();
    let client = served.client();
    client.get("/api/v2/nothing").is_problem(404, "ROUTE_NOT_FOUND");
    let put = client.send(&Request::new("PUT", "/api/v1/sandboxes"));
    put.is_problem(405, "METHOD_NOT_ALLOWED");
    assert!(put.header("allow").unwrap().contains("POST"));
    let nobody = "/api/v1/sandboxes/sbx_00000000000000000000000000000000";
    client.get(nobody).is_problem(404, "SANDBOX_NOT_FOUND");
    client.get("/api/v1/sandboxes/nonsense").is_problem(404, "SANDBOX_NOT_FOUND");
    client.post(&format!("{nobody}/exec"), &json!({"command": "true"})).is_problem(404, "SANDBOX_NOT_FOUND");
    client.get("/api/v1/events?limit=0").is_problem(400, "INVALID_REQUEST");
    client.get("/api/v1/events?cursor=x").is_problem(400, "INVALID_REQUEST");
    client.get("/api/v1/events?nonsense=1").is_problem(400, "INVALID_REQUEST");
    client.get("/api/v1/stream").is_problem(426, "UPGRADE_REQUIRED");
}

#[test]
fn wrong_json_names_the_field() {
    let served = Served::start();
    for (body, field) in [
        (json!({"limits": {"memory_bytes": "lots"}}), "limits.memory_bytes"),
        (json!({"limits": {"memory_bytes": 1}}), "limits.memory_bytes"),
        (json!({"ttl_seconds": 0}), "ttl_seconds"),
        (json!({"env": {"A": 5}}), "env.A"),
        (json!({"mounts": [{"host": "relative", "sandbox": "/x", "mode": "ro"}]}), "mounts[0]"),
        (json!({"workspace": "../up"}), "workspace"),
    ] {
        let answer = served.client().post("/api/v1/sandboxes", &body);
        answer.is_problem(400, "INVALID_REQUEST");
        assert_eq!(answer.json()["errors"][0]["field"], field, "{body}");
    }
    let broken =
        Request::new("POST", "/api/v1/sandboxes").with("content-type", "application/json").body("{\"a\"");
    served.client().send(&broken).is_problem(400, "INVALID_REQUEST");
}

#[test]
fn bodies_are_bounded() {
    let served = Served::start();
    let huge = Request::new("POST", "/api/v1/sandboxes").with("content-type", "application/json");
    let answer = served.client().try_send(&huge.body(vec![b' '; 5 * 1024 * 1024]));
    if let Some(answer) = answer {
        answer.is_problem(413, "TOO_LARGE");
    }
}
