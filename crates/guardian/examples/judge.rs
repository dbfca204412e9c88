//! Judges calls, one JSON object a line, and shows what each would do: `judge < cases.jsonl`.

#![expect(clippy::indexing_slicing, reason = "what is missing in a JSON value is null")]

use std::io::{self, BufRead as _};

use belljar_guardian::policy::{Call, Policy, Scene, described};
use serde_json::Value;

fn main() -> io::Result<()> {
    let scene = Scene::on_host(Some("/home/dev/project"), Some("/home/dev"), None);
    let policy = Policy::default();
    for line in io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let call = Call {
            tool: case["tool"].as_str().unwrap_or("Bash"),
            input: &case["input"],
            cwd: Some("/home/dev/project"),
            home: Some("/home/dev"),
        };
        let said = policy.explain(&call, &scene);
        let ruling = said.ruling.as_ref();
        let verdict = ruling.map_or_else(|| "allow".to_owned(), |ruling| ruling.verdict.to_string());
        let expect = case["expect"].as_str().unwrap_or("");
        let is_right = verdict == expect
            || case["also"].as_array().is_some_and(|also| also.contains(&Value::from(verdict.as_str())));
        let rule = ruling.map_or("", |ruling| ruling.rule.as_str());
        println!(
            "{}\t{}\t{verdict}\t{expect}\t{rule}\t{}\t{}",
            if is_right { "ok" } else { "WRONG" },
            case["class"].as_str().unwrap_or(""),
            case["id"].as_str().unwrap_or(""),
            case["input"]
        );
        for effect in &said.effects {
            println!("\t{:?} {}", effect.effort, described(effect));
        }
    }
    Ok(())
}
