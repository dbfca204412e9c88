//! A session as one page for a browser: nothing to load, nothing to run, everything that was said escaped.

use super::story::{Step, Story, What};

/// Even what slipped through could load and run nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\
pre{background:#f4f4f4;padding:.6rem .8rem;white-space:pre-wrap;overflow-wrap:anywhere;margin:.3rem 0}\
code{overflow-wrap:anywhere}time{color:#666;margin-right:.6em}dt{font-weight:600}dd{margin:0 0 .3rem 1rem}\
ol{list-style:none;padding:0}li{margin:.5rem 0}.error{border-left:3px solid #b00}\
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}pre{background:#252525}time{color:#999}}";

pub(super) fn write(story: &Story) -> String {
    let title = escaped(&story.title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <p>Session <code>{}</code></p>\n<dl>\n",
        escaped(&story.id)
    );
    for (name, value) in &story.facts {
        page.push_str(&format!("<dt>{name}</dt><dd>{}</dd>\n", escaped(value)));
    }
    page.push_str("</dl>\n<h2>What happened</h2>\n<ol>\n");
    for step in &story.steps {
        page.push_str(&tell(step));
    }
    page.push_str("</ol>\n");
    if story.steps.is_empty() {
        page.push_str("<p>Nothing that was told.</p>\n");
    }
    page.push_str("</body>\n</html>\n");
    page
}

fn tell(step: &Step) -> String {
    let agent = step.agent.as_deref().map(|agent| format!(" (<code>{}</code>)", escaped(agent)));
    let agent = agent.unwrap_or_default();
    let what = match &step.what {
        What::Said { by, text } => format!("<strong>{by}</strong>{agent}\n<pre>{}</pre>", escaped(text)),
        What::Did { tool, input, result, error } => {
            let (tool, input, result) = (escaped(tool), escaped(input), escaped(result));
            let error =
                error.as_deref().map(|error| format!("\n<pre class=\"error\">{}</pre>", escaped(error)));
            let error = error.unwrap_or_default();
            format!("<strong>{tool}</strong> <code>{input}</code>{agent}: {result}{error}")
        }
        What::Moment(what) => format!("{}{agent}", escaped(what)),
    };
    format!("<li><time>{}</time>{what}</li>\n", escaped(&step.time))
}

/// Text that is text in an element and in an attribute.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            letter => safe.push(letter),
        }
    }
    safe
}
