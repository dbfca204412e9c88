//! What roles permit, as cases.

use belljar_domain::{AgentEntry, ProjectId, Role, Timestamp, Verdict};
use serde_json::{Value, json};

use super::*;
use crate::policy::Call;

fn entry(role: Role) -> AgentEntry {
    AgentEntry::new("coder".parse().unwrap(), ProjectId::default(), role, "admin", Timestamp::default())
}

fn ask(rights: Rights<'_>, tool: &str, input: &Value) -> Option<(Verdict, String)> {
    let call = Call { tool, input, cwd: Some("/w"), home: Some("/home/u") };
    let named = Named::of(&call);
    rights.judge(&call, &named.wanted(Some("/w"))).map(|ruling| (ruling.verdict, ruling.rule))
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
    assert_eq!(rule("Write", json!({"file_path": "/w/docs/a.md"})), None);
    assert_eq!(rule("Write", json!({"file_path": "/w/src/a.rs"})).as_deref(), Some("role.analyst.tool"));
    assert_eq!(rule("WebSearch", json!({})).as_deref(), Some("role.analyst.denial"));
    assert_eq!(rule("mcp__linear__list", json!({})), None);
    agent.rights.grants = vec!["*".to_owned()];
    assert_eq!(ask(Rights::of(&agent), "Anything", &json!({})), None);
    assert!(ask(Rights::of(&agent), "WebSearch", &json!({})).is_some(), "even then");
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
    let input = json!({"command": "deploy"});
    let call = Call { tool: "Bash", input: &input, cwd: Some("/w"), home: None };
    let judge = |role, wanted: &Wanted<'_>| Rights::in_role(role).judge(&call, wanted);
    let writes = ["/w/Makefile".to_owned()];
    let wanted = Wanted { writes: &writes, workspace: Some("/w"), ..Wanted::default() };
    assert_eq!(judge(Role::Developer, &wanted).unwrap().rule, "role.developer.write");
    let secret = Wanted { secrets: true, ..Wanted::default() };
    assert_eq!(judge(Role::Developer, &secret).unwrap().rule, "role.developer.secrets");
    assert!(judge(Role::Database, &secret).is_none());
    let agents = Wanted { modifies_agents: true, ..Wanted::default() };
    assert_eq!(judge(Role::Developer, &agents).unwrap().rule, "role.developer.agents");
    let operations = ["production_deploy".to_owned()];
    let deploy = Wanted { operations: &operations, ..Wanted::default() };
    assert_eq!(judge(Role::Developer, &deploy).unwrap().verdict, Verdict::Ask);
    assert!(judge(Role::Backend, &deploy).is_none());
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
