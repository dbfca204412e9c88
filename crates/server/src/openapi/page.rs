//! The document for people: one page, made here, with nothing from elsewhere and no script.

use std::fmt::Write as _;

use belljar_domain::deceives;
use utoipa::openapi::{OpenApi, RefOr, Required, path::Operation};

use crate::problem::CODES;

/// Writes the page.
pub(super) fn render(document: &OpenApi) -> String {
    let mut html = String::from(HEAD);
    for (path, item) in &document.paths.paths {
        let operations = [
            ("get", &item.get),
            ("head", &item.head),
            ("post", &item.post),
            ("put", &item.put),
            ("patch", &item.patch),
            ("delete", &item.delete),
        ];
        for (method, operation) in operations {
            if let Some(operation) = operation {
                // Writing to a string does not fail.
                let _written = route(&mut html, method, path, operation);
            }
        }
    }
    html.push_str("</section><section><h2>Codes of problems</h2><dl>");
    for (code, meaning) in CODES {
        let _written =
            write!(html, "<dt id=\"{code}\"><code>{code}</code></dt><dd>{}</dd>", escaped(meaning));
    }
    html.push_str("</dl></section></main></body></html>");
    html
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>belljar API</title>\
<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" href=\"/docs/style.css\"></head><body>\
<header><h1>belljar</h1><p>Sandboxes over HTTP. Send <code>Authorization: Bearer KEY</code> with the key in \
<code>admin.key</code> in belljar's home, or use the socket <code>belljar.sock</code> there. \
The machine's version of this page is <a href=\"/openapi.json\">/openapi.json</a>.</p></header><main><section>";

fn route(html: &mut String, method: &str, path: &str, operation: &Operation) -> std::fmt::Result {
    let id = operation.operation_id.as_deref().unwrap_or_default();
    write!(
        html,
        "<details id=\"{}\"><summary><b class=\"{method}\">{method}</b> <code>{}</code> ",
        escaped(id),
        escaped(path)
    )?;
    let summary = operation.summary.as_deref().unwrap_or_default();
    write!(html, "<span>{}</span></summary>", escaped(summary))?;
    if let Some(description) = operation.description.as_deref().filter(|text| *text != summary) {
        write!(html, "<p>{}</p>", escaped(description))?;
    }
    if let Some(parameters) = operation.parameters.as_ref().filter(|list| !list.is_empty()) {
        html.push_str("<table>");
        for parameter in parameters {
            let must = if matches!(parameter.required, Required::True) { "required" } else { "" };
            let about = parameter.description.as_deref().unwrap_or_default();
            let (name, about) = (escaped(&parameter.name), escaped(about));
            write!(html, "<tr><td><code>{name}</code></td><td>{must}</td><td>{about}</td></tr>")?;
        }
        html.push_str("</table>");
    }
    if let Some(body) = &operation.request_body {
        for (media_type, content) in &body.content {
            let schema = serde_json::to_string_pretty(&content.schema).unwrap_or_default();
            write!(html, "<p>Body: <code>{}</code></p><pre>{}</pre>", escaped(media_type), escaped(&schema))?;
        }
    }
    for (status, response) in &operation.responses.responses {
        if let RefOr::T(response) = response {
            let types: Vec<_> = response.content.keys().map(String::as_str).collect();
            write!(html, "<p>{} <code>{}</code></p>", escaped(status), escaped(&types.join(", ")))?;
        }
    }
    html.push_str("</details>");
    Ok(())
}

/// Text that is text and nothing else: no markup, and what turns the direction of writing, is not seen or speaks to a
/// terminal stands there by its number, so that whoever reads it is not deceived.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\n' | '\t' => html.push(letter),
            letter if deceives(letter) || letter.is_control() => {
                html.extend(format!("⟨U+{:04X}⟩", u32::from(letter)).chars());
            }
            letter => html.push(letter),
        }
    }
    html
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn text_is_neither_markup_nor_deceives() {
        assert_eq!(escaped("<b a=\"1\">&\n\té ü"), "&lt;b a=&quot;1&quot;&gt;&amp;\n\té ü");
        assert_eq!(
            escaped("safe\u{202e}txt.exe\u{9b}\0\u{200b}"),
            "safe⟨U+202E⟩txt.exe⟨U+009B⟩⟨U+0000⟩⟨U+200B⟩"
        );
    }
}
