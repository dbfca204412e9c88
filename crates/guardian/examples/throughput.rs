//! Prints how many megabytes per second are redacted: `cargo run --release -p belljar-guardian --example throughput`.

#![expect(clippy::disallowed_methods, reason = "a measurement needs a clock; the crate itself has none")]

use std::{hint::black_box, time::Instant};

use belljar_guardian::redact::Redactor;

fn main() {
    let redactor = Redactor::new(b"throughput");
    let log = "2026-11-16T04:00:00Z INFO request path=/api/v1/events status=200 bytes=5120 took=1.2ms\n";
    let json = "{\"session_id\":\"01670efa-abcf\",\"tool_name\":\"Bash\",\"usage\":{\"input_tokens\":1200},\"key\":\"a\"}\n";
    let secrets = format!("DB_PASSWORD=hunter2hunter2 and ghp_{} in a line\n", "aB3".repeat(12));
    for (name, line) in [("log lines", log), ("JSON lines", json), ("a secret on every line", &secrets)] {
        let text = line.repeat(8_000_000 / line.len());
        let begun = Instant::now();
        black_box(redactor.text(black_box(&text)));
        let rate =
            f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX)) / begun.elapsed().as_secs_f64() / 1e6;
        println!("{name}: {rate:.0} MB/s");
    }
}
