//! Templates and snapshots by their names.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::json;

use crate::support::{Request, Served, eventually};

/// A root with a program that prints, and what it needs to run.
fn root(below: &Path) -> PathBuf {
    let root = below.join("root");
    let copy = |from: &str| {
        let to = root.join(from.trim_start_matches('/'));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    };
    let needed = Command::new("ldd").arg("/bin/cat").output().unwrap();
    let needed = String::from_utf8(needed.stdout).unwrap();
    needed.split_whitespace().filter(|word| word.starts_with('/')).chain(["/bin/cat"]).for_each(copy);
    for dir in ["etc", "tmp", "root", "proc", "dev", "sys", "run", "home"] {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    fs::write(root.join("etc/mark"), "of the template\n").unwrap();
    root
}

#[test]
fn a_template_is_named_listed_used_and_taken_away() {
    let served = Served::start();
    let client = served.client();
    let host = client.get("/api/v1/templates").json()["items"].clone();
    assert_eq!((&host[0]["name"], host.as_array().unwrap().len()), (&json!("host"), 1), "{host}");
    assert!(host[0]["aliases"].as_array().unwrap().contains(&json!("agent-sandbox-dev-node22")), "{host}");
    assert_eq!(client.get("/api/v1/templates/node").json(), host[0]);
    client.delete("/api/v1/templates/host").is_problem(404, "NOT_FOUND");
    let root = root(&served.work());
    let made = client.send(&Request::new("PUT", "/api/v1/templates/small").json(&json!({ "source": root })));
    assert_eq!((made.status, &made.json()["name"]), (200, &json!("small")), "{made:?}");
    assert_eq!(client.get("/api/v1/templates/small").json(), made.json());
    assert_eq!(client.get("/api/v1/templates").json()["items"], json!([host[0], made.json()]));
    let sandbox = client.post("/api/v1/sandboxes", &json!({ "template": "small" }));
    assert_eq!(sandbox.status, 201, "{sandbox:?}");
    let sandbox = format!("/api/v1/sandboxes/{}", sandbox.json()["id"].as_str().unwrap());
    let said = client.post(&format!("{sandbox}/exec"), &json!({"command": ["/bin/cat", "/etc/mark"]}));
    assert_eq!(said.json()["stdout"], "of the template\n", "{said:?}");
    client.delete("/api/v1/templates/small").is_problem(409, "CONFLICT");
    assert_eq!(client.delete(&sandbox).status, 204);
    eventually("it can be taken away", || {
        (client.delete("/api/v1/templates/small").status == 204).then_some(())
    });
    client.get("/api/v1/templates/small").is_problem(404, "NOT_FOUND");
    client.delete("/api/v1/templates/small").is_problem(404, "NOT_FOUND");
    assert!(root.join("etc/mark").exists(), "a directory used in place is left alone");
}

#[test]
fn what_cannot_be_a_template_is_refused_with_a_reason() {
    let served = Served::start();
    let put = |name: &str, body| {
        served.client().send(&Request::new("PUT", &format!("/api/v1/templates/{name}")).json(&body))
    };
    put("x", json!({"source": "relative"})).is_problem(400, "INVALID_REQUEST");
    put("x", json!({"source": "/no/such/place"})).is_problem(400, "INVALID_REQUEST");
    put("x", json!({"source": "/etc/passwd"})).is_problem(400, "INVALID_REQUEST");
    put("host", json!({"source": served.work()})).is_problem(400, "INVALID_REQUEST");
    assert_eq!(served.client().get("/api/v1/templates").json()["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_sandbox_of_what_is_no_template_is_a_mistake_of_whoever_asks() {
    let served = Served::start();
    let create = |template: &str| served.client().post("/api/v1/sandboxes", &json!({ "template": template }));
    create("nope").is_problem(400, "INVALID_REQUEST");
    create("/no/such/root.tar").is_problem(400, "INVALID_REQUEST");
    create("/etc/hostname").is_problem(400, "INVALID_REQUEST");
    create(&format!("snp_{}", "0".repeat(32))).is_problem(422, "UNSUPPORTED");
    let failed = served.client().get("/metrics").text();
    assert!(failed.contains("sandbox_error_total{code=\"SANDBOX_ERROR\"} 0"), "{failed}");
}

#[test]
fn a_snapshot_is_shown_by_its_id() {
    let served = Served::start();
    let (client, sandbox) = (served.client(), served.sandbox());
    let taken = client.post(&format!("{sandbox}/snapshots"), &json!({"name": "one"})).json();
    let path = format!("/api/v1/snapshots/{}", taken["id"].as_str().unwrap());
    assert_eq!(client.get(&path).json(), taken);
    assert_eq!(client.delete(&path).status, 204);
    client.get(&path).is_problem(404, "NOT_FOUND");
    client.get("/api/v1/snapshots/nonsense").is_problem(404, "NOT_FOUND");
}
