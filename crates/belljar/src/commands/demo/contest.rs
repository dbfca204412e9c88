//! One task for several at once, so that there is a run to look at: four attempts, two of which are out for good reason.
//!
//! Owns: the task, what each attempt does, by what they are judged. Refuses: the judgement; that is the server's.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::stage::Shared;
use crate::client::Client;

const TASK: &str =
    "End bin/report with a line that adds everything up: `total,` and the sum of what is shown.";
/// The tests of what is changed, and the line that was asked for, right to the cent.
const CHECK: &str = "./check ledger && bin/report 3 | awk -F, '/^total,/ { said = $2; next } { sum += $2 } END { exit said != sprintf(\"%.2f\", sum) }'";

/// Who attempts it, how many seconds they seem to think, and how they go about it.
const ATTEMPTS: [(&str, f64, &str); 4] = [
    (
        "hawthorn",
        6.0,
        r#"sed -i 's/| head -n "${1:-10}"/& | awk -F, -f src\/total.awk/' bin/report
cat > src/total.awk <<'END'
# Repeats its lines, and ends with their sum.
{ print; sum += $2 }
END { printf "total,%.2f\n", sum }
END"#,
    ),
    (
        "rowan",
        9.0,
        r#"cat >> bin/report <<'END'
all=0
for amount in $(awk -F, -f src/ledger.awk data/invoices.csv | sort -t, -k2 -rn | head -n "${1:-10}" | cut -d, -f2); do
    all=$(echo "$all $amount" | awk '{ printf "%.2f", $1 + $2 }')
done
echo "total,$all"
END"#,
    ),
    ("elm", 4.0, r#"echo 'echo "sum,$(awk -F, -f src/ledger.awk data/invoices.csv | wc -l)"' >> bin/report"#),
    ("yew", 5.0, r#"rm tests/ledger.sh && echo 'echo "total,0.00"' >> bin/report"#),
];

/// Has them begin; the answer is the run's id.
pub(super) fn begin(server: &Client, stage: &Shared) -> Result<String> {
    let agents: Vec<Value> = ATTEMPTS
        .iter()
        .map(|(name, thinks, does)| {
            json!({ "name": name, "command": format!("sleep {:.2}\n{does}", stage.shortened(*thinks)) })
        })
        .collect();
    let order = json!({
        "prompt": TASK, "agents": agents, "attempts": ATTEMPTS.len(), "check": CHECK,
        "sandbox": { "workspace": stage.project(), "metadata": {} },
    });
    let run = server.order("POST", &["runs"], Some(&order))?;
    run.get("id").and_then(Value::as_str).map(str::to_owned).context("the server named no run")
}

/// Says whether it is decided, one way or another.
pub(super) fn is_over(server: &Client, id: &str) -> Result<bool> {
    let run = server.order("GET", &["runs", id], None)?;
    Ok(run.get("ended_at").is_some_and(|ended| !ended.is_null()))
}
