//! Every route on one screen.

use axum::{Router, middleware};

use crate::{
    app::App,
    dashboard, edge,
    handlers::{
        about, agents, approvals, artifacts, audit, budgets, changes, events, exec, executions, files, forks,
        guardian, hooks, killswitch, logs, observe, otlp, pages, records, reports, runs, sandboxes,
        snapshots, templates, terminals, webhooks,
    },
    mcp::endpoint as mcp,
    observability::{handlers as observed, themes},
    table::{LONG, OPEN, PAGE, QUICK, TELL, TELL_LONG, Table, WATCH},
};

/// The routes: method, path, what the edge must know, handler.
pub(crate) fn routes() -> Table {
    viewing(operating(observability(observing(deciding(guarding(running(sandboxing(Table::default()))))))))
}

/// What is done with sandboxes.
fn sandboxing(table: Table) -> Table {
    table
        .post("/api/v1/sandboxes", LONG, sandboxes::create)
        .get("/api/v1/sandboxes", QUICK, sandboxes::list)
        .get("/api/v1/sandboxes/{id}", QUICK, sandboxes::get)
        .patch("/api/v1/sandboxes/{id}", QUICK, sandboxes::patch)
        .delete("/api/v1/sandboxes/{id}", QUICK, sandboxes::delete)
        .post("/api/v1/sandboxes/{id}/pause", QUICK, sandboxes::pause)
        .post("/api/v1/sandboxes/{id}/resume", QUICK, sandboxes::resume)
        .post("/api/v1/sandboxes/{id}/stop", QUICK, sandboxes::stop)
        .post("/api/v1/sandboxes/{id}/extend", QUICK, sandboxes::extend)
        .get("/api/v1/sandboxes/{id}/stats", QUICK, observe::stats)
        .get("/api/v1/sandboxes/{id}/history", QUICK, observe::history)
        .get("/api/v1/sandboxes/{id}/health", QUICK, observe::health)
        .get("/api/v1/sandboxes/{id}/diff", LONG, changes::diff)
        .post("/api/v1/sandboxes/{id}/apply", LONG, changes::apply)
        .get("/api/v1/sandboxes/{id}/ports", QUICK, observe::ports)
        .get("/api/v1/sandboxes/{id}/logs", QUICK, logs::read)
        .get("/api/v1/sandboxes/{id}/stream", LONG, events::of_sandbox)
        .post("/api/v1/sandboxes/{id}/exec", LONG, exec::exec)
        .get("/api/v1/sandboxes/{id}/pty", LONG, terminals::shell)
        .get("/api/v1/sandboxes/{id}/executions", QUICK, executions::list)
        .get("/api/v1/sandboxes/{id}/executions/{exe}", QUICK, executions::get)
        .delete("/api/v1/sandboxes/{id}/executions/{exe}", QUICK, executions::kill)
        .post("/api/v1/sandboxes/{id}/executions/{exe}/stdin", LONG, executions::stdin)
        .post("/api/v1/sandboxes/{id}/executions/{exe}/resize", QUICK, executions::resize)
        .post("/api/v1/sandboxes/{id}/executions/{exe}/signal", QUICK, executions::signal)
        .get("/api/v1/sandboxes/{id}/executions/{exe}/wait", LONG, executions::wait)
        .get("/api/v1/sandboxes/{id}/executions/{exe}/output", QUICK, executions::output)
        .get("/api/v1/sandboxes/{id}/executions/{exe}/attach", LONG, executions::attach)
        .get("/api/v1/sandboxes/{id}/executions/{exe}/pty", LONG, terminals::of_execution)
        .get("/api/v1/sandboxes/{id}/files", QUICK, files::list)
        .get("/api/v1/sandboxes/{id}/watch", LONG, files::watch)
        .get("/api/v1/sandboxes/{id}/files/{*path}", LONG, files::get)
        .head("/api/v1/sandboxes/{id}/files/{*path}", LONG, files::head)
        .put("/api/v1/sandboxes/{id}/files/{*path}", LONG, files::put)
        .post("/api/v1/sandboxes/{id}/files/{*path}", QUICK, files::change)
        .delete("/api/v1/sandboxes/{id}/files/{*path}", QUICK, files::remove)
        .post("/api/v1/sandboxes/{id}/snapshots", LONG, snapshots::create)
        .get("/api/v1/snapshots", QUICK, snapshots::list)
        .get("/api/v1/snapshots/{id}", QUICK, snapshots::get)
        .delete("/api/v1/snapshots/{id}", QUICK, snapshots::delete)
        .get("/api/v1/templates", QUICK, templates::list)
        .get("/api/v1/templates/{id}", QUICK, templates::get)
        .put("/api/v1/templates/{id}", LONG, templates::put)
        .delete("/api/v1/templates/{id}", QUICK, templates::delete)
}

/// One task for several sandboxes.
fn running(table: Table) -> Table {
    table
        .post("/api/v1/sandboxes/fork", LONG, forks::fork)
        .get("/api/v1/sandboxes/fork/history", QUICK, forks::fork_history)
        .get("/api/v1/sandboxes/fork/stats", QUICK, forks::fork_stats)
        .get("/api/v1/sandboxes/fork/{id}", QUICK, forks::fork_status)
        .delete("/api/v1/sandboxes/fork/{id}", QUICK, forks::stop_fork)
        .get("/api/v1/sandboxes/fork/{id}/results", QUICK, forks::fork_results)
        .post("/api/v1/sandboxes/fork/{id}/select", QUICK, forks::select_fork)
        .post("/api/v1/runs", LONG, runs::create)
        .get("/api/v1/runs", QUICK, runs::list)
        .get("/api/v1/runs/stats", QUICK, runs::stats)
        .get("/api/v1/runs/{id}", QUICK, runs::get)
        .delete("/api/v1/runs/{id}", QUICK, runs::stop)
        .get("/api/v1/runs/{id}/wait", LONG, runs::wait)
        .get("/api/v1/runs/{id}/results", QUICK, runs::results)
        .get("/api/v1/runs/{id}/changes", LONG, runs::changes)
        .get("/api/v1/runs/{id}/report", LONG, runs::report)
        .post("/api/v1/runs/{id}/select", QUICK, runs::select)
}

/// What a person decides.
fn deciding(table: Table) -> Table {
    table
        .get("/api/v1/approvals", QUICK, approvals::list)
        .get("/api/v1/approvals/{id}", QUICK, approvals::get)
        .post("/api/v1/approvals/{id}/allow", QUICK, approvals::allow)
        .post("/api/v1/approvals/{id}/deny", QUICK, approvals::deny)
        .post("/api/v1/approvals/{id}/wait", TELL, approvals::wait)
        .post("/api/v1/approvals/{id}/delivered", TELL, approvals::delivered)
        .post("/api/v1/approvals/{id}/link", QUICK, approvals::link)
        .get("/a/{id}", OPEN, approvals::page)
        .post("/a/{id}", OPEN, approvals::answer_page)
        .get("/api/v1/killswitch", QUICK, killswitch::show)
        .post("/api/v1/killswitch", LONG, killswitch::pull)
        .delete("/api/v1/killswitch", QUICK, killswitch::release)
        .post("/api/v1/agents/{id}/kill", LONG, killswitch::kill_agent)
        .delete("/api/v1/agents/{id}/kill", QUICK, killswitch::release_agent)
}

/// What agents tell, and what is told of them.
fn observing(table: Table) -> Table {
    table
        .get("/api/v1/events", QUICK, events::list)
        .post("/api/v1/events/ingest", TELL, events::ingest)
        .post("/api/v1/hooks/{agent}", TELL, hooks::envelope)
        .post("/hooks/claude-code", TELL_LONG, hooks::claude_code)
        .post("/v1/logs", TELL, otlp::logs)
        .post("/v1/metrics", TELL, otlp::metrics)
        .post("/v1/traces", TELL, otlp::traces)
        .get("/api/v1/events/stream", LONG, events::stream)
        .get("/api/v1/events/audit", QUICK, audit::list)
        .get("/api/v1/events/audit/stats", QUICK, audit::stats)
        .get("/api/v1/audit/verify", LONG, audit::verify)
        .get("/api/v1/stream", LONG, events::socket)
        .get("/ws", LONG, events::socket_alias)
        .get("/api/v1/calls", QUICK, records::calls)
        .get("/api/v1/calls/{id}", QUICK, records::call)
        .get("/api/v1/sessions", QUICK, records::sessions)
        .get("/api/v1/sessions/{id}", QUICK, records::session)
        .get("/api/v1/sessions/{id}/trace", QUICK, records::trace)
        .get("/api/v1/errors", QUICK, records::errors)
        .post("/api/v1/errors/{id}/resolve", QUICK, records::resolve)
        .post("/api/v1/errors/{id}/reopen", QUICK, records::reopen)
        .get("/api/v1/agents/metrics", QUICK, reports::agents)
        .get("/api/v1/tools/usage", QUICK, reports::tools)
        .get("/api/v1/handoffs", QUICK, reports::handoffs)
        .get("/api/v1/cost", QUICK, reports::cost)
        .get("/api/v1/detections", QUICK, reports::detections)
}

/// Who may act, and what is decided about them.
fn guarding(table: Table) -> Table {
    table
        .get("/api/v1/agents", QUICK, agents::list)
        .get("/api/v1/agents/export", QUICK, agents::export)
        .post("/api/v1/agents/import", QUICK, agents::import)
        .post("/api/v1/agents/suggest-role", QUICK, agents::suggest_role)
        .get("/api/v1/agents/{id}", QUICK, agents::get)
        .put("/api/v1/agents/{id}", QUICK, agents::put)
        .delete("/api/v1/agents/{id}", QUICK, agents::delete)
        .post("/api/v1/agents/{id}/approve", QUICK, agents::approve)
        .post("/api/v1/agents/{id}/revoke", QUICK, agents::revoke)
        .get("/api/v1/guardian", QUICK, guardian::show)
        .post("/api/v1/guardian/check", QUICK, guardian::check)
        .get("/api/v1/host", LONG, guardian::host)
        .get("/api/v1/budgets", QUICK, budgets::list)
        .get("/api/v1/budgets/history", QUICK, budgets::history)
        .post("/api/v1/budgets/check", QUICK, budgets::check)
        .post("/api/v1/budgets/reserve", QUICK, budgets::reserve)
        .delete("/api/v1/budgets/reservations/{id}", QUICK, budgets::release)
        .post("/api/v1/budgets/deduct", QUICK, budgets::deduct)
        .put("/api/v1/budgets/{id}", QUICK, budgets::put)
        .delete("/api/v1/budgets/{id}", QUICK, budgets::delete)
        .post("/api/v1/budgets/{id}/reset", QUICK, budgets::reset)
}

/// Everything else, the server itself included.
fn operating(table: Table) -> Table {
    table
        .get("/api/v1/artifacts", QUICK, artifacts::list)
        .post("/api/v1/artifacts", LONG, artifacts::upload)
        .get("/api/v1/artifacts/{digest}", LONG, artifacts::download)
        .post("/api/v1/webhooks", QUICK, webhooks::create)
        .get("/api/v1/webhooks", QUICK, webhooks::list)
        .delete("/api/v1/webhooks/{id}", QUICK, webhooks::delete)
        .get("/api/v1/webhooks/{id}/deliveries", QUICK, webhooks::deliveries)
        .post("/api/v1/webhooks/{id}/test", QUICK, webhooks::test)
        .post("/mcp", LONG, mcp::post)
        .get("/mcp", LONG, mcp::open)
        .delete("/mcp", QUICK, mcp::close)
        .get("/api/v1/whoami", QUICK, about::whoami)
        .get("/api/v1/version", OPEN, about::version)
        .get("/api/v1/openapi.json", OPEN, pages::document_alias)
        .get("/openapi.json", OPEN, pages::document)
        .get("/docs", OPEN, pages::docs)
        .get("/docs/style.css", OPEN, pages::style)
        .get("/login", OPEN, pages::login)
        .post("/logout", OPEN, pages::logout)
        .get("/healthz", OPEN, about::healthz)
        .get("/readyz", OPEN, about::readyz)
        .get("/metrics", QUICK, about::metrics)
}

/// The dashboard: its views, which one page shows, and the files it is made of.
fn viewing(table: Table) -> Table {
    table
        .get("/", PAGE, dashboard::page)
        .get("/approvals", PAGE, dashboard::page)
        .get("/approvals/{id}", PAGE, dashboard::page)
        .get("/events", PAGE, dashboard::page)
        .get("/timeline", PAGE, dashboard::page)
        .get("/sessions", PAGE, dashboard::page)
        .get("/sessions/{id}", PAGE, dashboard::page)
        .get("/sessions/{id}/trace", PAGE, dashboard::page)
        .get("/runs", PAGE, dashboard::page)
        .get("/runs/{id}", PAGE, dashboard::page)
        .get("/sandboxes", PAGE, dashboard::page)
        .get("/sandboxes/{id}", PAGE, dashboard::page)
        .get("/graph", PAGE, dashboard::page)
        .get("/agents", PAGE, dashboard::page)
        .get("/tools", PAGE, dashboard::page)
        .get("/errors", PAGE, dashboard::page)
        .get("/cost", PAGE, dashboard::page)
        .get("/guardian", PAGE, dashboard::page)
        .get("/audit", PAGE, dashboard::page)
        .get("/settings", PAGE, dashboard::page)
        .get("/welcome", PAGE, dashboard::page)
        .get("/favicon.svg", PAGE, dashboard::file)
        .get("/manifest.webmanifest", PAGE, dashboard::file)
        .get("/assets/{name}", PAGE, dashboard::file)
}

/// The routes of the hook-observability protocol, with a key and below a token.
fn observability(table: Table) -> Table {
    table
        .post("/events", TELL, observed::told)
        .get("/events/recent", WATCH, observed::recent)
        .get("/events/filter-options", WATCH, observed::options)
        .post("/events/{seq}/respond", WATCH, observed::respond)
        .get("/stream", WATCH, observed::socket)
        .get("/api/themes", WATCH, themes::list_here)
        .post("/api/themes", WATCH, themes::create_here)
        .post("/t/{token}/events", TELL, observed::told_below)
        .get("/t/{token}/events/recent", WATCH, observed::recent_below)
        .get("/t/{token}/events/filter-options", WATCH, observed::options_below)
        .post("/t/{token}/events/{seq}/respond", WATCH, observed::respond_below)
        .get("/t/{token}/stream", WATCH, observed::socket_below)
        .get("/t/{token}/api/themes", WATCH, themes::list)
        .post("/t/{token}/api/themes", WATCH, themes::create)
        .get("/t/{token}/{*rest}", WATCH, observed::anything)
}

/// The routes with what happens around each of them.
pub(crate) fn assemble(routes: Router<App>, app: &App) -> Router {
    routes
        .fallback(edge::no_route)
        .method_not_allowed_fallback(edge::no_method)
        .layer(middleware::from_fn_with_state(app.clone(), edge::edge))
        .with_state(app.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_of_the_dashboard_can_be_opened_by_its_address() {
        let (_, table) = routes().finish();
        let views = include_str!("../../../web/src/routes.ts").split("path: '").skip(1);
        let paths: Vec<String> = views
            .filter_map(|rest| rest.split_once('\''))
            .map(|(path, _)| {
                path.split('/')
                    .map(|part| part.strip_prefix(':').map_or(part.to_owned(), |name| format!("{{{name}}}")))
            })
            .map(|parts| parts.collect::<Vec<_>>().join("/"))
            .filter(|path| path.starts_with('/') && !path.contains('('))
            .collect();
        assert!(paths.len() > 15, "the views are read wrongly: {paths:?}");
        let missing: Vec<_> = paths.iter().filter(|path| !table.contains_key(path.as_str())).collect();
        assert!(missing.is_empty(), "no route for {missing:?}");
    }
}
