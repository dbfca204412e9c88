//! What is shown where the dashboard was not built: why, and what works without it.

use crate::openapi::page::escaped;

/// A style of ours, no script.
pub(super) const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn page(why: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>belljar</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" href=\"/docs/style.css\"></head>\
         <body><main><h1>This belljar has no dashboard</h1><p>{}.</p>\
         <p>Everything else works: <a href=\"/docs\">the API</a>, <code>belljar top</code>, \
         <code>belljar approvals watch</code>, <code>belljar events --follow</code>.</p></main></body></html>",
        escaped(why)
    )
}
