//! What the policy said of the same act a moment ago: sandboxes are made alike, and agents run the same few commands over
//! and over.
//!
//! Owns: which of the policy's findings hold for the next one as well. Those on the host are not among them: what they are
//! about is looked at on the disk, each time anew. Refuses: to know who asks; what an agent's role permits is not kept.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use belljar_domain::Isolation;
use belljar_guardian::policy::Policy;
use serde_json::Value;

use super::{Act, Finding};

/// How many acts are remembered.
const MOST: usize = 32;
/// The largest act worth it, in words and bytes.
const WIDEST: usize = 16;
const LONGEST: usize = 2048;

/// The findings of one policy.
#[derive(Default)]
pub(in crate::service) struct Memo(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    policy: Arc<Policy>,
    /// The newest last.
    findings: VecDeque<(Acted, Finding)>,
}

/// Everything a finding depends on, besides the policy.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Acted {
    pub(super) act: Act,
    pub(super) isolation: Option<Isolation>,
    pub(super) cwd: Option<String>,
    pub(super) workspace: Option<String>,
    pub(super) agent: Option<String>,
}

impl fmt::Debug for Memo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").finish_non_exhaustive()
    }
}

impl Memo {
    /// What is known of an act, or what is found out now.
    pub(super) fn recall(
        &self,
        policy: &Arc<Policy>,
        acted: Acted,
        find: impl FnOnce() -> Finding,
    ) -> Finding {
        if !is_small(&acted.act.input) {
            return find();
        }
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kept = lock();
        if !Arc::ptr_eq(&kept.policy, policy) {
            *kept = Kept { policy: Arc::clone(policy), findings: VecDeque::new() };
        }
        let known = kept.findings.iter().rev().find(|(known, _)| *known == acted);
        if let Some((_, finding)) = known {
            return finding.clone();
        }
        drop(kept);
        let finding = find();
        let mut kept = lock();
        if Arc::ptr_eq(&kept.policy, policy) {
            if kept.findings.len() >= MOST {
                kept.findings.pop_front();
            }
            kept.findings.push_back((acted, finding.clone()));
        }
        finding
    }
}

/// Whether what a tool is given is short: a few words, in no great depth.
fn is_small(input: &Value) -> bool {
    let mut rest = LONGEST;
    let mut fits = |text: &str| {
        let left = rest.checked_sub(text.len());
        rest = left.unwrap_or(0);
        left.is_some()
    };
    let Value::Object(fields) = input else { return false };
    fields.len() <= WIDEST
        && fields.values().all(|value| match value {
            Value::String(text) => fits(text),
            Value::Array(words) => {
                words.len() <= WIDEST && words.iter().all(|word| word.as_str().is_some_and(&mut fits))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
            Value::Object(_) => false,
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn acted(input: Value) -> Acted {
        let act = Act { tool: "SandboxExec".to_owned(), input };
        Acted { act, isolation: None, cwd: None, workspace: None, agent: None }
    }

    #[test]
    fn what_was_found_is_found_once_for_each_act_and_policy() {
        let (memo, policy) = (Memo::default(), Arc::new(Policy::default()));
        let mut found = 0;
        let mut ask = |policy: &Arc<Policy>, acted: Acted| {
            memo.recall(policy, acted, || {
                found += 1;
                Finding::allow(format!("{found}"))
            })
            .reason
        };
        let list = acted(json!({"command": ["ls"]}));
        assert_eq!(ask(&policy, list.clone()), "1");
        assert_eq!(ask(&policy, list.clone()), "1");
        let elsewhere = Acted { cwd: Some("/tmp".to_owned()), ..list.clone() };
        assert_eq!(ask(&policy, elsewhere), "2");
        assert_eq!(ask(&Arc::new(Policy::default()), list.clone()), "3");
        assert_eq!(ask(&policy, list), "4");
    }

    #[test]
    fn few_are_kept_and_none_that_is_long() {
        let (memo, policy) = (Memo::default(), Arc::new(Policy::default()));
        for number in 0..3 * MOST {
            memo.recall(&policy, acted(json!({"command": [number.to_string()]})), || Finding::allow(""));
        }
        let long = "x".repeat(LONGEST + 1);
        memo.recall(&policy, acted(json!({ "command": [long] })), || Finding::allow(""));
        memo.recall(&policy, acted(json!({"command": {"deep": []}})), || Finding::allow(""));
        let kept = memo.0.lock().unwrap();
        assert_eq!(kept.findings.len(), MOST);
        assert_eq!(kept.findings[MOST - 1].0, acted(json!({"command": [(3 * MOST - 1).to_string()]})));
    }
}
