//! The document for people: one page, made here, with nothing from elsewhere and no script.

use std::{collections::BTreeMap, fmt::Write as _};

use belljar_domain::deceives;
use serde_json::Value;
use utoipa::openapi::{OpenApi, Ref, RefOr, Required, Schema, path::Operation};

use crate::problem::CODES;

/// What people come for first; the rest follows by name.
const FIRST: [&str; 8] =
    ["sandboxes", "executions", "files", "snapshots", "templates", "observe", "events", "runs"];

/// Writes the page.
pub(super) fn render(document: &OpenApi) -> String {
    let mut html = String::from(HEAD);
    let chapters = chapters(document);
    // Writing to a string does not fail.
    let _written = contents(&mut html, &chapters);
    for (name, routes) in &chapters {
        let _written = write!(html, "<section id=\"{name}\"><h2>{name}</h2>");
        for (method, path, operation) in routes {
            let _written = route(&mut html, method, path, operation);
        }
        html.push_str("</section>");
    }
    html.push_str("<section id=\"shapes\"><h2>Shapes</h2>");
    let schemas = document.components.as_ref().map(|components| &components.schemas);
    for (name, schema) in schemas.into_iter().flatten() {
        let _written = shape(&mut html, name, &serde_json::to_value(schema).unwrap_or_default());
    }
    html.push_str("</section><section id=\"codes\"><h2>Codes of problems</h2><dl>");
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
The machine's version of this page is <a href=\"/openapi.json\">/openapi.json</a>.</p></header><main>";

type Route<'d> = (&'static str, &'d str, &'d Operation);

/// Routes by what they are about.
fn chapters(document: &OpenApi) -> Vec<(&str, Vec<Route<'_>>)> {
    let mut by_tag: BTreeMap<&str, Vec<Route<'_>>> = BTreeMap::new();
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
            let Some(operation) = operation else { continue };
            let tag = operation.tags.as_ref().and_then(|tags| tags.first()).map_or("other", String::as_str);
            by_tag.entry(tag).or_default().push((method, path, operation));
        }
    }
    let place = |tag: &str| FIRST.iter().position(|first| *first == tag).unwrap_or(FIRST.len());
    let mut chapters: Vec<_> = by_tag.into_iter().collect();
    chapters.sort_by_key(|(tag, _)| place(tag));
    chapters
}

fn contents(html: &mut String, chapters: &[(&str, Vec<Route<'_>>)]) -> std::fmt::Result {
    html.push_str("<nav>");
    for name in chapters.iter().map(|(name, _)| *name).chain(["shapes", "codes"]) {
        write!(html, "<a href=\"#{name}\">{name}</a> ")?;
    }
    html.push_str("</nav>");
    Ok(())
}

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
    for (media_type, content) in operation.request_body.iter().flat_map(|body| &body.content) {
        let of = content.schema.as_ref().map(named).unwrap_or_default();
        write!(html, "<p>Body: <code>{}</code> {of}</p>", escaped(media_type))?;
    }
    for (status, response) in &operation.responses.responses {
        if let RefOr::T(response) = response {
            let types = response.content.iter().map(|(media_type, content)| {
                let of = content.schema.as_ref().map(named).unwrap_or_default();
                format!("<code>{}</code> {of}", escaped(media_type))
            });
            let types = types.collect::<Vec<_>>().join(", ");
            write!(html, "<p>{} {types}</p>", escaped(status))?;
        }
    }
    html.push_str("</details>");
    Ok(())
}

/// What a body is, where it has a name.
fn named(schema: &RefOr<Schema>) -> String {
    match schema {
        RefOr::Ref(Ref { ref_location, .. }) => linked(ref_location),
        RefOr::T(_) => String::new(),
    }
}

fn linked(place: &str) -> String {
    let name = escaped(place.rsplit('/').next().unwrap_or(place));
    format!("<a href=\"#shape-{name}\">{name}</a>")
}

/// One shape: its fields, or the words it can be, and an example if it has one.
fn shape(html: &mut String, name: &str, schema: &Value) -> std::fmt::Result {
    let text = |value: &Value| escaped(value.as_str().unwrap_or_default());
    let name = escaped(name);
    write!(html, "<h3 id=\"shape-{name}\"><code>{name}</code></h3><p>{}</p>", text(&schema["description"]))?;
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> = words.iter().map(|word| format!("<code>{}</code>", text(word))).collect();
        write!(html, "<p>{}</p>", words.join(" "))?;
    }
    if let Some(fields) = schema["properties"].as_object() {
        html.push_str("<table>");
        for (field, about) in fields {
            let must =
                schema["required"].as_array().is_some_and(|list| list.iter().any(|name| name == field));
            let (field, must) = (escaped(field), if must { "required" } else { "" });
            let (kind, about) = (kind(about), text(&about["description"]));
            write!(
                html,
                "<tr><td><code>{field}</code></td><td>{kind}</td><td>{must}</td><td>{about}</td></tr>"
            )?;
        }
        html.push_str("</table>");
    }
    for (kind, variants) in [("one of", &schema["oneOf"]), ("all of", &schema["allOf"])] {
        if variants.is_array() {
            let variants = serde_json::to_string_pretty(variants).unwrap_or_default();
            write!(html, "<p>{kind}</p><pre>{}</pre>", escaped(&variants))?;
        }
    }
    if !schema["example"].is_null() {
        write!(html, "<pre>{}</pre>", escaped(&schema["example"].to_string()))?;
    }
    Ok(())
}

/// What a field holds, in a word or two.
fn kind(field: &Value) -> String {
    if let Some(place) = field["$ref"].as_str() {
        return linked(place);
    }
    if let Some(variants) = field["oneOf"].as_array() {
        let named = variants.iter().filter(|variant| variant["type"] != "null").map(kind);
        return named.collect::<Vec<_>>().join(" or ");
    }
    let word = match &field["type"] {
        Value::Array(words) => words.iter().find(|word| *word != "null").and_then(Value::as_str),
        word => word.as_str(),
    };
    match word {
        Some("array") => format!("list of {}", kind(&field["items"])),
        word => escaped(word.unwrap_or("anything")),
    }
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
    use utoipa::OpenApi as _;

    use super::*;

    #[test]
    fn every_link_on_the_page_leads_somewhere() {
        let page = render(&crate::openapi::Document::openapi());
        let links: Vec<_> =
            page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(links.len() > 100, "{}", links.len());
        for link in links {
            assert!(page.contains(&format!("id=\"{link}\"")), "{link}");
        }
        assert!(page.find("id=\"sandboxes\"") < page.find("id=\"agents\""), "what people come for is first");
    }

    #[test]
    fn text_is_neither_markup_nor_deceives() {
        assert_eq!(escaped("<b a=\"1\">&\n\té ü"), "&lt;b a=&quot;1&quot;&gt;&amp;\n\té ü");
        assert_eq!(
            escaped("safe\u{202e}txt.exe\u{9b}\0\u{200b}"),
            "safe⟨U+202E⟩txt.exe⟨U+009B⟩⟨U+0000⟩⟨U+200B⟩"
        );
    }
}
