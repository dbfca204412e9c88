//! Policies as a whole: what speaks, what is relaxed, what a sandbox holds in, and what is wrong.

use belljar_domain::{Risk, Verdict};
use serde_json::{Value as Json, json};

use super::*;
use crate::effects::{Act, Effect, Effort};
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value, Why};

fn policy(text: &str) -> Policy {
    toml::from_str(text).unwrap()
}

/// A path in which `?` is not known and `*` a glob.
fn path(written: &str) -> Value {
    let mut value = Value::default();
    for c in written.chars() {
        value.push(match c {
            '?' => Piece::Unknown(Why { construct: "the variable X".to_owned(), span: Span::default() }),
            '*' => Piece::Glob(b"*".to_vec()),
            c => Piece::Known(c.to_string().into_bytes()),
        });
    }
    value
}

fn effect(act: Act) -> Effect {
    Effect { act, by: "x".to_owned(), span: None, effort: Effort::Done }
}

fn delete(written: &str) -> Effect {
    effect(Act::Delete { path: path(written), deep: true, filtered: false })
}

fn read(written: &str) -> Effect {
    effect(Act::Read { path: path(written), deep: false })
}

fn scene() -> Scene {
    Scene::on_host(Some("/home/dev/project"), Some("/home/dev"), None)
}

fn weighed(policy: &Policy, effects: Vec<Effect>, scene: &Scene) -> Option<(Verdict, String)> {
    let input = Json::Null;
    let call = Call { tool: "Other", input: &input, cwd: Some("/home/dev/project"), home: Some("/home/dev") };
    policy.weigh(&call, effects, scene).ruling.map(|ruling| (ruling.verdict, ruling.rule))
}

#[test]
fn paths_are_certain_possible_or_not() {
    let verdict = |effect: Effect| weighed(&Policy::default(), vec![effect], &scene()).map(|found| found.0);
    for (written, expected) in [
        ("/", Some(Verdict::Deny)),
        ("/*", Some(Verdict::Deny)),
        ("/h*", Some(Verdict::Deny)),
        ("/home/dev", Some(Verdict::Deny)),
        ("/home/dev/*", Some(Verdict::Deny)),
        ("/home/dev/project", Some(Verdict::Deny)),
        ("/home/dev/project/*", Some(Verdict::Deny)),
        ("/home/dev/project/build", None),
        ("/home/dev/project/build/*", None),
        ("/home/dev/projects", Some(Verdict::Deny)),
        ("/tmp", Some(Verdict::Deny)),
        ("/tmp/x", None),
        ("/tmp/?", None),
        ("/etc/?", Some(Verdict::Deny)),
        ("?/", Some(Verdict::Deny)),
        ("?/*", Some(Verdict::Deny)),
        ("?/usr", Some(Verdict::Deny)),
        ("?/build", Some(Verdict::Ask)),
        ("?", Some(Verdict::Ask)),
        ("/home/dev/project/?", None),
        ("/home/dev/?", Some(Verdict::Ask)),
        ("/?", Some(Verdict::Deny)),
    ] {
        assert_eq!(verdict(delete(written)), expected, "delete {written}");
    }
    for (written, expected) in [
        ("/home/dev/project/.env", Some(Verdict::Deny)),
        ("/home/dev/project/.env.example", None),
        ("/home/dev/project/src/environment.ts", None),
        ("/home/dev/project/*", None),
        ("?", None),
        ("?/.env", Some(Verdict::Deny)),
        ("/home/?/.ssh/id_rsa", Some(Verdict::Deny)),
        ("/home/dev/.ssh/*", Some(Verdict::Deny)),
        ("/etc/passwd", None),
    ] {
        assert_eq!(verdict(read(written)), expected, "read {written}");
    }
}

#[test]
fn a_rule_that_allows_relaxes_asks_and_only_named_denials() {
    let lost = || effect(Act::Git { operation: "push --force".to_owned(), loses: true, target: None });
    let allowing =
        "[[rule]]\nname = \"mine\"\neffect = { kind = [\"git\", \"delete\"] }\nverdict = \"allow\"\n";
    let mild = policy(allowing);
    assert_eq!(weighed(&mild, vec![lost()], &scene()), Some((Verdict::Allow, "mine".to_owned())));
    let denied = Some((Verdict::Deny, "delete-outside".to_owned()));
    assert_eq!(weighed(&mild, vec![lost(), delete("/data/x")], &scene()), denied);
    let named = policy(&format!("{allowing}despite = \"delete-outside\"\n"));
    assert_eq!(weighed(&named, vec![delete("/data/x")], &scene()), Some((Verdict::Allow, "mine".to_owned())));
    // What is named is one rule, and what holds everything else is another.
    let everything = Some((Verdict::Deny, "delete-everything".to_owned()));
    assert_eq!(weighed(&named, vec![delete("/")], &scene()), everything);
}

#[test]
fn packs_and_rules_can_be_switched() {
    let lost = || vec![effect(Act::Git { operation: "reset --hard".to_owned(), loses: true, target: None })];
    assert_eq!(weighed(&Policy::default(), lost(), &scene()).map(|found| found.0), Some(Verdict::Ask));
    assert_eq!(weighed(&policy("packs = { git = \"off\" }"), lost(), &scene()), None);
    assert_eq!(weighed(&policy("override = { git-loses = \"off\" }"), lost(), &scene()), None);
    let stricter = policy("override = { git-loses = \"deny\" }");
    assert_eq!(weighed(&stricter, lost(), &scene()).map(|found| found.0), Some(Verdict::Deny));
}

#[test]
fn a_sandbox_holds_in_what_it_can_and_says_what() {
    let inside = scene().behind(Walls { network: Reach::Anywhere });
    let input = Json::Null;
    let call = Call { tool: "Other", input: &input, cwd: None, home: None };
    let ruling = Policy::default().weigh(&call, vec![delete("/")], &inside).ruling.unwrap();
    assert_eq!((ruling.verdict, ruling.risk), (Verdict::Allow, Risk::Low));
    assert!(ruling.reason.contains("the sandbox's own disk"), "{ruling:?}");
    // A secret is one in there, too.
    let read = weighed(&Policy::default(), vec![read("/home/dev/project/.env")], &inside);
    assert_eq!(read.map(|found| found.0), Some(Verdict::Deny));
    let destroyed =
        || effect(Act::Infrastructure { operation: "terraform destroy".to_owned(), destroys: true });
    assert_eq!(
        weighed(&Policy::default(), vec![destroyed()], &inside).map(|found| found.0),
        Some(Verdict::Ask)
    );
    let closed = scene().behind(Walls::default());
    assert_eq!(
        weighed(&Policy::default(), vec![destroyed()], &closed).map(|found| found.0),
        Some(Verdict::Allow)
    );
}

#[test]
fn enforcing_asks_about_what_no_rule_allows() {
    let enforcing = policy("mode = \"enforce\"");
    assert_eq!(weighed(&enforcing, vec![effect(Act::Compute)], &scene()), None);
    let tool = || effect(Act::Tool { name: "mcp__x__y".to_owned() });
    assert_eq!(weighed(&enforcing, vec![tool()], &scene()), Some((Verdict::Ask, "enforce".to_owned())));
    let allowing = policy(
        "mode = \"enforce\"\n[[rule]]\nname = \"x\"\neffect = { kind = \"tool\", operation = \"mcp__x__*\" }\nverdict = \"allow\"",
    );
    assert_eq!(weighed(&allowing, vec![tool()], &scene()), Some((Verdict::Allow, "x".to_owned())));
}

#[test]
fn directories_are_given_and_kept() {
    let given = policy(
        "[[acl]]\npath = \"/data\"\naccess = \"write\"\n[[acl]]\npath = \"/data/kept\"\naccess = \"read\"\n\
                        [[acl]]\npath = \"~/private\"\naccess = \"none\"\nagent = \"other\"",
    );
    assert_eq!(given.check(), Ok(()));
    assert_eq!(weighed(&given, vec![delete("/data/x")], &scene()), None);
    assert_eq!(weighed(&given, vec![delete("/database/x")], &scene()).map(|f| f.0), Some(Verdict::Deny));
    let kept = Some((Verdict::Deny, "acl /data/kept".to_owned()));
    assert_eq!(weighed(&given, vec![delete("/data/kept/x")], &scene()), kept);
    assert_eq!(weighed(&given, vec![read("/data/kept/x")], &scene()), None);
    assert_eq!(weighed(&given, vec![read("/home/dev/private/x")], &scene()), None);
    let other = Scene { agent: Some("other".to_owned()), ..scene() };
    assert_eq!(weighed(&given, vec![read("/home/dev/private/x")], &other).map(|f| f.0), Some(Verdict::Deny));
}

#[test]
fn the_strictest_rule_speaks_and_of_equals_the_first() {
    let rules = "[[rule]]\nname = \"git\"\nmatch = \"Bash(git:*)\"\nverdict = \"allow\"\n\
                 [[rule]]\nname = \"push\"\nmatch = \"Bash(git push:*)\"\nverdict = \"deny\"\n\
                 [[rule]]\nname = \"force\"\nmatch = \"Bash(git push --force:*)\"\nverdict = \"deny\"\n";
    let policy = policy(rules);
    let judge = |command: &str| {
        let input = json!({ "command": command });
        let call =
            Call { tool: "Bash", input: &input, cwd: Some("/home/dev/project"), home: Some("/home/dev") };
        policy.judge(&call, &scene()).map(|ruling| (ruling.rule, ruling.verdict))
    };
    assert_eq!(judge("git status"), Some(("git".to_owned(), Verdict::Allow)));
    assert_eq!(judge("git push --force"), Some(("push".to_owned(), Verdict::Deny)));
    assert_eq!(judge("ls"), None);
    // What is allowed by words is all of it, or nothing.
    assert_eq!(judge("git status && ls"), None);
}

#[test]
fn what_is_wrong_is_named() {
    for (text, words) in [
        (
            "[[rule]]\nname = \"a\"\nmatch = \"Read\"\nverdict = \"allow\"\n[[rule]]\nname = \"push\"\nmatch = \"Bash(git push:*)\"\nverdict = \"deny\"\nexamples = { pass = [\"git push origin\"] }",
            "rule 2 (`push`): it matches `git push origin`",
        ),
        ("[[rule]]\nname = \"a\"\nverdict = \"deny\"", "matches nothing"),
        (
            "[[rule]]\nname = \"a\"\neffect = { kind = \"git\", deep = true }\nverdict = \"deny\"",
            "`deep` says nothing about git",
        ),
        (
            "[[rule]]\nname = \"a\"\neffect = { kind = \"read\", within = \"secrets\" }\nverdict = \"deny\"",
            "no place `secrets`",
        ),
        ("[[rule]]\nname = \"a\"\nmatch = \"Read\"\nverdict = \"deny\"\ndespite = \"x\"", "despite"),
        ("packs = { gti = \"off\" }", "no pack `gti`"),
        ("override = { nothing = \"off\" }", "`nothing`"),
        ("[[acl]]\npath = \"data\"\naccess = \"read\"", "no whole path"),
    ] {
        let error = policy(text).check().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let error = toml::from_str::<Policy>(
        "[[rule]]\nname = \"a\"\neffect = { kind = \"detele\" }\nverdict = \"deny\"",
    );
    assert!(error.unwrap_err().to_string().contains("detele"));
}

#[test]
fn shipped_rules_match_their_examples() {
    let wrong: Vec<String> = Policy::check_packs()
        .into_iter()
        .map(|(pack, rule, error)| format!("{pack}, {rule}: {error}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_narrowest_rule_is_suggested_and_enough() {
    let suggested = |command: &str| {
        let input = json!({ "command": command });
        let call =
            Call { tool: "Bash", input: &input, cwd: Some("/home/dev/project"), home: Some("/home/dev") };
        Policy::default().suggest(&call, &scene())
    };
    let rule = suggested("git reset --hard && git status").unwrap();
    assert_eq!(rule.patterns, ["Bash(git reset --hard && git status)"]);
    assert!(rule.despite.is_empty());
    let text = suggested("rm -rf /opt/app").unwrap().text();
    assert!(text.contains("despite = [\"delete-outside\"]"), "{text}");
    assert_eq!(policy(&text).check(), Ok(()));
    assert_eq!(suggested("ls"), None);
    // A rule of the user's own gives way where it is named, and nowhere else.
    let own = "[[rule]]\nname = \"people-list\"\nmatch = \"SandboxExec(ls:*)\"\nverdict = \"ask\"\n";
    let input = json!({ "command": ["ls", "-l"] });
    let call = Call { tool: "SandboxExec", input: &input, cwd: None, home: None };
    let rule = policy(own).suggest(&call, &scene()).unwrap();
    assert_eq!(
        (rule.patterns.as_slice(), rule.despite.as_slice()),
        (&["SandboxExec(ls -l)".to_owned()][..], &["people-list".to_owned()][..])
    );
    let both = policy(&format!("{own}\n{}", rule.text()));
    assert_eq!(both.judge(&call, &scene()).map(|ruling| ruling.verdict), Some(Verdict::Allow));
    let unnamed = policy(&format!("{own}\n{}", rule.text().replace("despite", "# despite")));
    assert_eq!(unnamed.judge(&call, &scene()).map(|ruling| ruling.verdict), Some(Verdict::Ask));
}
