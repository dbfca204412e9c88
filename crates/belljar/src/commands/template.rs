//! `belljar template`: roots to start from, under names.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use belljar_domain::{ByteSize, TemplateRef};
use belljar_providers::template::TemplateStore;
use serde_json::{Value, json};

use crate::{
    args::Template,
    context::Context,
    output::{print_json, print_table},
};

pub(crate) fn template(context: &Context, command: Template) -> Result<ExitCode> {
    let store = TemplateStore::open(&context.home)?;
    match command {
        Template::Import { name, source } => {
            let made = store.import_as(&name, &source)?;
            if context.json {
                print_json(&json!({"name": name, "root": made.root}))?;
            } else {
                writeln!(std::io::stdout(), "imported {name}: belljar run --template {name} -- …")?;
            }
        }
        Template::List => {
            let all = store.list()?;
            let is_free = |name: &&&str| !all.iter().any(|t| t.name == **name);
            let names: Vec<_> = TemplateRef::host_names().iter().filter(is_free).copied().collect();
            if context.json {
                let host = json!({"name": "host", "aliases": names.get(1..), "source": "/"});
                let rows = all
                    .iter()
                    .map(|t| json!({"name": t.name, "source": t.source, "root": t.root, "bytes": t.bytes}));
                print_json(&Value::Array(std::iter::once(host).chain(rows).collect()))?;
            } else {
                let size = |bytes: Option<u64>| {
                    bytes.map_or("-".to_owned(), |bytes| ByteSize::bytes(bytes).to_string())
                };
                let others = names.get(1..).unwrap_or_default().join(", ");
                let host =
                    vec!["host".to_owned(), "-".to_owned(), format!("this machine; also named {others}")];
                let rows =
                    all.iter().map(|t| vec![t.name.clone(), size(t.bytes), t.source.display().to_string()]);
                print_table(
                    &["NAME", "SIZE", "FROM"],
                    &std::iter::once(host).chain(rows).collect::<Vec<_>>(),
                )?;
            }
        }
        Template::Remove { name } => store.remove(&name)?,
    }
    Ok(ExitCode::SUCCESS)
}
