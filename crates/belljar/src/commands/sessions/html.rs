//! A session as one page for a browser: nothing to load, nothing to run, everything that was said escaped.

use super::story::{Deed, Step, Story, What};

/// Even what slipped through could load and run nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// How deep agents are shown below each other.
const DEEPEST: usize = 5;
const STYLE: &str = include_str!("html.css");

pub(super) fn write(story: &Story) -> String {
    let title = escaped(&story.title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n\
         <p class=\"id\">Session <code>{}</code></p>\n<dl>\n",
        escaped(&story.id)
    );
    for (name, value) in &story.facts {
        page.push_str(&format!("<div><dt>{name}</dt><dd>{}</dd></div>\n", escaped(value)));
    }
    page.push_str("</dl>\n");
    if !story.agents.is_empty() {
        page.push_str("<h2>Who worked</h2>\n<ul class=\"agents\">\n");
    }
    for (depth, agent) in &story.agents {
        page.push_str(&format!("<li class=\"d{}\">{}</li>\n", (*depth).min(DEEPEST), escaped(agent)));
    }
    if !story.agents.is_empty() {
        page.push_str("</ul>\n");
    }
    page.push_str("<h2>What happened</h2>\n<ol>\n");
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
    let whose =
        step.agent.as_deref().map(|agent| format!(" <span class=\"agent\">{}</span>", escaped(agent)));
    let below = if whose.is_some() { " below" } else { "" };
    let whose = whose.unwrap_or_default();
    let (class, what) = match &step.what {
        What::Said { by, text } => {
            (*by, format!("<p><strong>{by}</strong>{whose}</p>\n<pre>{}</pre>", escaped(text)))
        }
        What::Did(deed) => ("call", call(deed, &whose)),
        What::Moment(what) => ("moment", format!("<p>{}{whose}</p>", escaped(what))),
    };
    format!("<li class=\"{class}{below}\"><time>{}</time><div>{what}</div></li>\n", escaped(&step.time))
}

fn call(deed: &Deed, whose: &str) -> String {
    let cell = |class: &str, text: &Option<String>| {
        format!("<span class=\"{class}\">{}</span>", escaped(text.as_deref().unwrap_or_default()))
    };
    let (mark, kind) = match deed.outcome.as_str() {
        "success" => ("✓", "good"),
        "denied" => ("⊘", "denied"),
        "running" => ("…", "open"),
        _ => ("✗", "bad"),
    };
    let (tool, input, outcome) = (escaped(&deed.tool), escaped(&deed.input), escaped(&deed.outcome));
    let error =
        deed.error.as_deref().map(|error| format!("\n<pre class=\"{kind}\">{}</pre>", escaped(error)));
    format!(
        "<p class=\"deed\"><strong>{tool}</strong> <code>{input}</code>{whose}<span class=\"{kind}\" title=\"{outcome}\">{mark} \
         <span class=\"word\">{outcome}</span></span>{}{}</p>{}",
        cell("took", &deed.took),
        cell("cost", &deed.cost),
        error.unwrap_or_default()
    )
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
