//! The OpenAPI document, made from the handlers and the wire types, and its page.
//!
//! Owns: what no single route can say: problems, keys, the list of all routes. Refuses: to be edited by hand; a test
//! compares it with the router.

pub(crate) mod page;

use std::sync::OnceLock;

use axum::body::Bytes;
use utoipa::{
    Modify, OpenApi,
    openapi::{
        ContentBuilder, RefOr, ResponseBuilder, SecurityRequirement,
        path::Operation,
        schema::Ref,
        security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
    },
};

use crate::handlers::{
    about, agents, approvals, artifacts, audit, budgets, changes, events, exec, executions, files, forks,
    guardian, hooks, killswitch, logs, observe, otlp, pages, records, reports, runs, sandboxes, snapshots,
    templates, terminals, webhooks,
};
use crate::mcp::endpoint as mcp;
use crate::observability::{handlers as observed, themes};

#[derive(OpenApi)]
#[openapi(
    info(title = "belljar", version = "v1", description = "Sandboxes over HTTP: create, run, stream, pause, snapshot, and see everything that happened."),
    paths(
        sandboxes::create, sandboxes::list, sandboxes::get, sandboxes::patch, sandboxes::delete,
        sandboxes::pause, sandboxes::resume, sandboxes::stop, sandboxes::extend,
        observe::stats, observe::history, observe::health, observe::ports, changes::diff, changes::apply, logs::read,
        exec::exec, executions::list, executions::get, executions::kill, executions::stdin, executions::resize,
        executions::signal, executions::wait, executions::output, executions::attach,
        terminals::shell, terminals::of_execution,
        files::list, files::get, files::head, files::put, files::change, files::remove, files::watch,
        snapshots::create, snapshots::list, snapshots::get, snapshots::delete,
        templates::list, templates::get, templates::put, templates::delete,
        forks::fork, forks::fork_history, forks::fork_stats, forks::fork_status, forks::stop_fork, forks::fork_results, forks::select_fork,
        runs::create, runs::list, runs::stats, runs::get, runs::stop, runs::wait,
        runs::results, runs::changes, runs::report, runs::select,
        approvals::list, approvals::get, approvals::allow, approvals::deny, approvals::wait, approvals::delivered,
        approvals::link, approvals::page, approvals::answer_page,
        killswitch::show, killswitch::pull, killswitch::release, killswitch::kill_agent, killswitch::release_agent,
        hooks::envelope, hooks::claude_code, otlp::logs, otlp::metrics, otlp::traces,
        events::list, events::ingest, events::stream, events::of_sandbox, events::socket, events::socket_alias,
        audit::list, audit::stats, audit::verify,
        records::calls, records::call, records::sessions, records::session, records::trace, records::errors,
        records::resolve, records::reopen,
        reports::agents, reports::tools, reports::handoffs, reports::cost, reports::detections,
        agents::list, agents::export, agents::import, agents::suggest_role, agents::get, agents::put, agents::delete,
        agents::approve, agents::revoke,
        budgets::list, budgets::history, budgets::check, budgets::reserve, budgets::release, budgets::deduct,
        budgets::put, budgets::delete, budgets::reset,
        guardian::show, guardian::check, guardian::host,
        artifacts::list, artifacts::upload, artifacts::download,
        webhooks::create, webhooks::list, webhooks::delete, webhooks::deliveries, webhooks::test,
        observed::told, observed::recent, observed::options, observed::respond, observed::socket,
        observed::told_below, observed::recent_below, observed::options_below, observed::respond_below,
        observed::socket_below, observed::anything, themes::list, themes::create,
        themes::list_here, themes::create_here,
        mcp::post, mcp::open, mcp::close,
        about::whoami, about::version, about::healthz, about::readyz, about::metrics,
        pages::document, pages::document_alias, pages::docs, pages::style, pages::login, pages::logout,
    ),
    components(schemas(belljar_api::Problem, belljar_api::ClientFrame, belljar_api::ServerFrame, belljar_api::TerminalFrame, belljar_api::TerminalNotice, belljar_api::FileChange, belljar_api::OutputPiece, belljar_api::Exit)),
    modifiers(&Common),
)]
struct Document;

/// What every route has.
struct Common;

impl Modify for Common {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        if let Some(components) = &mut document.components {
            let bearer = SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build());
            let header = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-API-Key")));
            components.add_security_schemes_from_iter([("bearer", bearer), ("key", header)]);
        }
        let none: [&str; 0] = [];
        document.security = Some(["bearer", "key"].map(|name| SecurityRequirement::new(name, none)).to_vec());
        for item in document.paths.paths.values_mut() {
            let operations = [
                &mut item.get,
                &mut item.head,
                &mut item.post,
                &mut item.put,
                &mut item.patch,
                &mut item.delete,
            ];
            for operation in operations.into_iter().flatten() {
                name(operation);
                add_problem(operation);
            }
        }
    }
}

/// Handlers are called alike in every family; operations must not be.
fn name(operation: &mut Operation) {
    let family = operation.tags.as_ref().and_then(|tags| tags.first()).cloned().unwrap_or_default();
    let own = operation.operation_id.take().unwrap_or_default();
    operation.operation_id = Some(format!("{family}_{own}"));
}

/// Whatever is not said otherwise is a problem.
fn add_problem(operation: &mut Operation) {
    let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
    let problem = ResponseBuilder::new()
        .description("What went wrong.")
        .content("application/problem+json", content)
        .build();
    operation.responses.responses.insert("default".to_owned(), RefOr::T(problem));
}

/// The document as JSON, made once.
pub(crate) fn json() -> Bytes {
    static JSON: OnceLock<Bytes> = OnceLock::new();
    JSON.get_or_init(|| serde_json::to_vec(&Document::openapi()).unwrap_or_default().into()).clone()
}

/// The document as a page, made once.
pub(crate) fn page() -> Bytes {
    static PAGE: OnceLock<Bytes> = OnceLock::new();
    PAGE.get_or_init(|| page::render(&Document::openapi()).into()).clone()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{router, table::Access};

    #[test]
    fn every_route_is_in_the_document_and_every_path_of_it_is_a_route() {
        let (_, table) = router::routes().finish();
        let routes: BTreeSet<(String, String)> = table
            .iter()
            .flat_map(|(path, methods)| {
                let documented = methods.iter().filter(|(_, rules)| rules.access != Access::Page);
                documented.map(|(method, _)| (path.replace("{*", "{"), method.as_str().to_lowercase()))
            })
            .collect();
        let document: serde_json::Value = serde_json::from_slice(&json()).unwrap();
        let documented: BTreeSet<(String, String)> = document["paths"]
            .as_object()
            .unwrap()
            .iter()
            .flat_map(|(path, item)| {
                let methods = item.as_object().unwrap().keys().filter(|key| key.as_str() != "parameters");
                methods.map(|method| (path.clone(), method.clone())).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(routes, documented);
        assert_eq!(document["openapi"], "3.1.0");
    }

    /// The dashboard's types are made of a copy, so that it can be built without a server.
    #[test]
    fn the_dashboard_has_this_document() {
        let copy = "../../web/openapi.json";
        let document: serde_json::Value = serde_json::from_slice(&json()).unwrap();
        if std::env::var_os("BELLJAR_WRITE").is_some() {
            std::fs::write(copy, format!("{document:#}\n")).unwrap();
        }
        let kept: serde_json::Value = serde_json::from_slice(&std::fs::read(copy).unwrap()).unwrap();
        assert!(
            kept == document,
            "web/openapi.json is not the server's document; BELLJAR_WRITE=1 with this test writes it"
        );
    }

    /// Whoever makes a client of the document stops at a reference that leads nowhere.
    #[test]
    fn every_reference_leads_somewhere() {
        let document: serde_json::Value = serde_json::from_slice(&json()).unwrap();
        let mut waiting = vec![&document];
        while let Some(value) = waiting.pop() {
            match value {
                serde_json::Value::Object(members) => {
                    if let Some(target) = members.get("$ref").and_then(serde_json::Value::as_str) {
                        assert!(document.pointer(target.trim_start_matches('#')).is_some(), "{target}");
                    }
                    waiting.extend(members.values());
                }
                serde_json::Value::Array(items) => waiting.extend(items),
                _ => {}
            }
        }
    }

    #[test]
    fn every_operation_has_a_name_of_its_own() {
        let document: serde_json::Value = serde_json::from_slice(&json()).unwrap();
        let items = document["paths"].as_object().unwrap().values();
        let names: Vec<_> = items
            .flat_map(|item| {
                item.as_object().unwrap().values().map(|operation| operation["operationId"].as_str().unwrap())
            })
            .collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
    }

    #[test]
    fn requests_refuse_fields_they_do_not_know() {
        let document: serde_json::Value = serde_json::from_slice(&json()).unwrap();
        for name in [
            "CreateSandbox",
            "ExecRequest",
            "PatchSandbox",
            "LimitsRequest",
            "SnapshotRequest",
            "ForkRequest",
        ] {
            assert_eq!(document["components"]["schemas"][name]["additionalProperties"], false, "{name}");
        }
    }
}
