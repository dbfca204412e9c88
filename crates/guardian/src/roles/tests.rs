//! What roles permit, as cases.

use belljar_domain::{AgentEntry, ProjectId, Risk, Role, Ruling, Timestamp, Verdict};
use serde_json::{Value, json};

use super::*;
use crate::policy::{Call, Policy, Scene};

fn entry(role: Role) -> AgentEntry {
    let id = "agt_0190000000007000800000000000002a".parse().unwrap();
    AgentEntry::new(id, "coder".parse().unwrap(), ProjectId::default(), role, "admin", Timestamp::default())
}

fn ask(rights: Rights<'_>, tool: &str, input: &Value) -> Option<(Verdict, String)> {
    let call = Call { tool, input, cwd: Some("/w"), home: Some("/home/u") };
    let explained = Policy::default().explain(&call, &Scene::on_host(call.cwd, call.home, None));
    rights
        .judge(&call, &Wanted::of(&call, &explained, Some("/w")))
        .map(|ruling| (ruling.verdict, ruling.rule))
}

fn by_role(role: Role, tool: &str, input: &Value) -> Option<String> {
    ask(Rights::in_role(role), tool, input).map(|(_, rule)| rule)
}

#[test]
fn roles_read_and_write_where_they_may() {
    let file = |path: &str| json!({ "file_path": path });
    for (role, tool, path, rule) in [
        (Role::Developer, "Write", "/w/src/app.js", None),
        (Role::Developer, "Write", "src/deep/er/app.js", None),
        (Role::Developer, "Write", "/w/Cargo.toml", Some("role.developer.write")),
        (Role::Developer, "Write", "/w/src/../Cargo.toml", Some("role.developer.write")),
        (Role::Developer, "Write", "/etc/passwd", Some("role.developer.write")),
        (Role::Developer, "Write", "/tmp/scratch", None),
        (Role::Developer, "Read", "/w/Cargo.toml", None),
        (Role::Tester, "Read", "/w/src/app.js", None),
        (Role::Tester, "Edit", "/w/src/app.js", Some("role.tester.write")),
        (Role::Tester, "Edit", "/w/src/app.test.js", None),
        (Role::Tester, "MultiEdit", "/w/e2e/a.ts", None),
        (Role::Reviewer, "Read", "/w/src/app.js", None),
        (Role::Reviewer, "Write", "/w/src/app.js", Some("role.reviewer.tool")),
        (Role::Admin, "Write", "/etc/anything", None),
        (Role::Backend, "Edit", "/w/src/api/a.rs", None),
        (Role::Backend, "Edit", "/w/src/pages/a.vue", Some("role.backend.write")),
    ] {
        assert_eq!(by_role(role, tool, &file(path)).as_deref(), rule, "{role} {tool} {path}");
    }
}

#[test]
fn tools_servers_and_spawning_are_the_roles() {
    for (role, tool, rule) in [
        (Role::Analyst, "Bash", Some("role.analyst.tool")),
        (Role::Analyst, "WebFetch", None),
        (Role::Analyst, "TodoWrite", None),
        (Role::Developer, "Bash", None),
        (Role::Developer, "run_shell_command", None),
        (Role::Developer, "WebFetch", Some("role.developer.tool")),
        (Role::Developer, "Agent", None),
        (Role::Reviewer, "Task", Some("role.reviewer.spawn")),
        (Role::Reviewer, "Agent", Some("role.reviewer.spawn")),
        (Role::Database, "Task", Some("role.database.spawn")),
        (Role::Developer, "mcp__github__create_issue", None),
        (Role::Developer, "mcp__flow_nexus__spawn", Some("role.developer.api")),
        (Role::Coordinator, "mcp__flow_nexus__spawn", None),
        (Role::Admin, "mcp__anything__at_all", None),
        (Role::Admin, "KillShell", Some("role.admin.asks")),
    ] {
        assert_eq!(by_role(role, tool, &json!({})).as_deref(), rule, "{role} {tool}");
    }
}

#[test]
fn a_denial_wins_over_a_grant_and_a_grant_over_the_role() {
    let mut agent = entry(Role::Analyst);
    agent.rights.grants =
        vec!["Bash(git:*)".to_owned(), "Write(docs/**)".to_owned(), "mcp__linear".to_owned()];
    agent.rights.denials = vec!["Bash(git push:*)".to_owned(), "WebSearch".to_owned()];
    let rule = |tool: &str, input: Value| ask(Rights::of(&agent), tool, &input).map(|(_, rule)| rule);
    assert_eq!(rule("Bash", json!({"command": "git status"})), None);
    assert_eq!(rule("Bash", json!({"command": "git push"})).as_deref(), Some("role.analyst.denial"));
    assert_eq!(rule("Bash", json!({"command": "ls"})).as_deref(), Some("role.analyst.tool"));
    let more = json!({"command": "git status && ls"});
    assert_eq!(rule("Bash", more).as_deref(), Some("role.analyst.tool"), "a grant is for each command");
    let wide = json!({"command": "git log > notes.txt"});
    assert_eq!(rule("Bash", wide).as_deref(), Some("role.analyst.write"), "and not for what else it does");
    assert_eq!(rule("Write", json!({"file_path": "/w/docs/a.md"})), None);
    assert_eq!(rule("Write", json!({"file_path": "/w/src/a.rs"})).as_deref(), Some("role.analyst.tool"));
    assert_eq!(rule("WebSearch", json!({})).as_deref(), Some("role.analyst.denial"));
    assert_eq!(rule("mcp__linear__list", json!({})), None);
    agent.rights.grants = vec!["*".to_owned()];
    assert_eq!(ask(Rights::of(&agent), "Anything", &json!({})), None);
    assert!(ask(Rights::of(&agent), "WebSearch", &json!({})).is_some(), "even then");
    let outside = ask(Rights::of(&agent), "Write", &json!({"file_path": "/w/src/a.rs"}));
    assert_eq!(outside.unwrap().1, "role.analyst.write", "a tool is not granted everywhere");
    assert_eq!(ask(Rights::of(&agent), "Task", &json!({})).unwrap().1, "role.analyst.spawn", "the flag wins");
}

#[test]
fn an_agents_own_scopes_and_spawning_take_the_place_of_its_roles() {
    let mut agent = entry(Role::Reviewer);
    agent.rights.spawn = Some(true);
    agent.rights.reads = Some(vec!["src/**".to_owned()]);
    assert_eq!(ask(Rights::of(&agent), "Task", &json!({})), None);
    assert!(ask(Rights::of(&agent), "Read", &json!({"file_path": "/w/secret.txt"})).is_some());
    assert!(ask(Rights::of(&agent), "Read", &json!({"file_path": "/w/src/a.rs"})).is_none());
}

#[test]
fn effects_are_judged_whichever_tool_has_them() {
    let line = |role, command: &str| by_role(role, "Bash", &json!({ "command": command }));
    for (role, command, rule) in [
        (Role::Developer, "echo x > Makefile", Some("role.developer.write")),
        (Role::Developer, "cd src && echo x > a.rs", None),
        (Role::Developer, "cp src/a.rs ../b.rs", Some("role.developer.write")),
        (Role::Developer, "echo x > src/../Makefile", Some("role.developer.write")),
        (Role::Developer, "echo x > \"$OUT\"", Some("role.developer.write")),
        (Role::Developer, "rm -r src/old", None),
        (Role::Developer, "echo x > /tmp/scratch", None),
        (Role::Developer, "cat Makefile", None),
        (Role::Developer, "cat .env", Some("role.developer.secrets")),
        (Role::Database, "cat .env", Some("role.database.asks")),
        (Role::Tester, "tee tests/new.rs", None),
        (Role::Tester, "tee src/new.rs", Some("role.tester.write")),
        (Role::Admin, "rm src/a.rs", Some("role.admin.asks")),
        (Role::Admin, "echo x > anywhere", None),
    ] {
        assert_eq!(line(role, command).as_deref(), rule, "{role}: {command}");
    }
    let input = json!({"file_path": "/tmp/project/Makefile"});
    let call = Call { tool: "Write", input: &input, cwd: Some("/tmp/project"), home: None };
    let explained = Policy::default().explain(&call, &Scene::on_host(call.cwd, None, None));
    let wanted = Wanted::of(&call, &explained, call.cwd);
    let outside = Rights::in_role(Role::Developer).judge(&call, &wanted);
    assert_eq!(outside.unwrap().rule, "role.developer.write", "a workspace in /tmp is no scratch paper");
    let unsure = ask(Rights::in_role(Role::Developer), "Bash", &json!({"command": "echo x > \"$OUT\""}));
    assert_eq!(unsure.unwrap().0, Verdict::Ask, "what is not known is neither allowed nor denied");
    let mut agent = entry(Role::Analyst);
    agent.rights.reads = Some(vec!["docs/**".to_owned()]);
    let rule = |tool: &str, input: Value| ask(Rights::of(&agent), tool, &input).map(|(_, rule)| rule);
    assert_eq!(rule("Grep", json!({"pattern": "x", "path": "/w/docs"})), None);
    assert_eq!(rule("Grep", json!({"pattern": "x", "path": "/w/src"})).as_deref(), Some("role.analyst.read"));
    assert_eq!(rule("Glob", json!({"pattern": "/w/src/*"})).as_deref(), Some("role.analyst.read"));
}

#[test]
fn named_operations_are_asked_about_whoever_wants_them() {
    let input = json!({"command": "deploy"});
    let call = Call { tool: "Bash", input: &input, cwd: Some("/w"), home: None };
    for (name, role) in [
        ("production_deploy", Role::Developer),
        ("production_deploy", Role::Backend),
        ("production_migration", Role::Database),
        ("budget_override", Role::Admin),
    ] {
        let wanted = Wanted { operations: vec![name.to_owned()], ..Wanted::default() };
        let ruling = Rights::in_role(role).judge(&call, &wanted).unwrap();
        assert_eq!((ruling.verdict, ruling.reason.contains(name)), (Verdict::Ask, true), "{role} {name}");
    }
    let agents = Wanted { modifies_agents: true, ..Wanted::default() };
    assert_eq!(Rights::in_role(Role::Developer).judge(&call, &agents).unwrap().rule, "role.developer.agents");
    let policy: Policy = toml::from_str(
        "[[rule]]\nname = \"ours\"\nmatch = \"Bash(deploy:*)\"\nverdict = \"allow\"\ntags = \"production_deploy\"",
    )
    .unwrap();
    let explained = policy.explain(&call, &Scene::on_host(Some("/w"), None, None));
    assert_eq!(Wanted::of(&call, &explained, None).operations, ["production_deploy"]);
}

#[test]
fn whoever_may_see_secrets_is_asked_about_and_not_refused() {
    let ruling = Ruling {
        verdict: Verdict::Deny,
        risk: Risk::High,
        rule: "secret-read".to_owned(),
        reason: "That holds keys.".to_owned(),
    };
    assert_eq!(Rights::in_role(Role::Developer).eased(&ruling), None);
    let eased = Rights::in_role(Role::Security).eased(&ruling).unwrap();
    assert_eq!((eased.verdict, eased.rule.as_str()), (Verdict::Ask, "secret-read"));
    let other = Ruling { rule: "privilege".to_owned(), ..ruling };
    assert_eq!(Rights::in_role(Role::Security).eased(&other), None);
}

#[test]
fn agents_are_read_from_their_own_files_and_from_registries() {
    let head = "---\nname: api-tester\ndescription: Tests the API\ntools: Read, Bash(npm test:*), Write\nmodel: sonnet\nx-role: tester\nx-capabilities:\n  - testing\nx-rbac:\n  denied_tools: [WebFetch]\n  path_scopes:\n    - tests/**\n  api_access: [github]\nx-budget:\n  max_tokens_per_session: 120000\n  max_cost_per_day: 12.5\n---\nYou test.\n";
    let [draft] = &read(head).unwrap()[..] else { panic!("one agent") };
    assert_eq!((draft.name.as_str(), draft.role, draft.guessed), ("api-tester", Role::Tester, false));
    assert_eq!(draft.rights.grants, ["Read", "Bash(npm test:*)", "Write", "mcp__github"]);
    assert_eq!((&draft.rights.reads, &draft.rights.writes), (&None, &Some(vec!["tests/**".to_owned()])));
    assert_eq!((draft.tokens_per_session, draft.micros_per_day), (Some(120_000), Some(12_500_000)));
    let registry = r#"{"agents": {"a": {"role": "analyst", "rbac": {"allowed_tools": ["Read"]}},
        "b": {"capabilities": ["sql", "schema design", "migration"], "budget": {"max_cost_per_day": 20}}}}"#;
    let drafts = read(registry).unwrap();
    let roles: Vec<_> = drafts.iter().map(|draft| (draft.name.as_str(), draft.role, draft.guessed)).collect();
    assert_eq!(roles, [("a", Role::Analyst, false), ("b", Role::Database, true)]);
    assert_eq!(read(r#"[{"name": "x"}]"#).unwrap()[0].role, Role::Developer);
}

#[test]
fn what_is_wrong_in_a_file_is_named() {
    for (text, says) in [
        ("hello", "neither JSON nor"),
        ("{", "JSON"),
        ("[{}]", "no `name`"),
        (r#"{"name": "../x"}"#, "cannot name an agent"),
        (r#"{"name": "x", "role": "boss"}"#, "`boss` is not a role"),
        (r#"{"name": "x", "tools": ["Bash("]}"#, "closing parenthesis"),
        (r#"{"name": "x", "tools": 7}"#, "neither a list"),
        (r#"{"name": "x", "budget": {"max_cost_per_day": "much"}}"#, "dollars"),
        ("---\nname x\n---\n", "line 2"),
    ] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}
