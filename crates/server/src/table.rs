//! A router that remembers its routes, so that they can be compared with the document and named in metrics.
//!
//! Owns: what each route asks of its caller and how long it may take. Refuses: paths; they are in `router.rs`.

use std::{collections::BTreeMap, time::Duration};

use axum::{
    Router,
    handler::Handler,
    http::Method,
    routing::{MethodFilter, on},
};

use crate::app::App;

/// Who may call a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anyone who reaches the server: nothing is told that a stranger may not know.
    Open,
    /// Anyone as well, with a browser: it is no part of the API, and not in its document.
    Page,
    /// Whoever shows a key, a session, or is known by the socket.
    Key,
    /// They, and whoever was given the address to watch.
    Watch,
    /// They, and sandboxes with a pass.
    Tell,
}

/// What the edge must know of a route before its handler does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    pub(crate) access: Access,
    /// How long the handler may take to begin its answer; `None` where a clock of its own ends it.
    pub(crate) time: Option<Duration>,
}

/// An ordinary request.
pub(crate) const QUICK: Rules = Rules { access: Access::Key, time: Some(Duration::from_secs(60)) };
/// One that waits for a command, carries a body of any length or streams: it ends when its sandbox, its command or
/// its client does, each of which has a clock.
pub(crate) const LONG: Rules = Rules { access: Access::Key, time: None };
/// One that strangers may make.
pub(crate) const OPEN: Rules = Rules { access: Access::Open, time: Some(Duration::from_secs(60)) };

/// The dashboard, which is no part of the API.
pub(crate) const PAGE: Rules = Rules { access: Access::Page, time: OPEN.time };

/// One that tells what happened.
pub(crate) const TELL: Rules = Rules { access: Access::Tell, time: Some(Duration::from_secs(60)) };
/// One that tells what happened and may wait for a person; a clock of its own ends it.
pub(crate) const TELL_LONG: Rules = Rules { access: Access::Tell, time: None };
/// One that asks what happened, under the names other programs know.
pub(crate) const WATCH: Rules = Rules { access: Access::Watch, time: Some(Duration::from_secs(60)) };

/// Every route by its path and method.
pub(crate) type Routes = BTreeMap<&'static str, Vec<(Method, Rules)>>;

/// A router under construction.
#[derive(Debug, Default)]
pub(crate) struct Table {
    router: Router<App>,
    routes: Routes,
}

macro_rules! methods {
    ($($name:ident $method:ident),+) => {
        impl Table {
            $(pub(crate) fn $name<H, T>(self, path: &'static str, rules: Rules, handler: H) -> Self
            where
                H: Handler<T, App>,
                T: 'static,
            {
                self.add(MethodFilter::$method, Method::$method, path, rules, handler)
            })+
        }
    };
}

methods!(get GET, post POST, put PUT, patch PATCH, delete DELETE, head HEAD);

impl Table {
    fn add<H, T>(
        mut self,
        filter: MethodFilter,
        method: Method,
        path: &'static str,
        rules: Rules,
        handler: H,
    ) -> Self
    where
        H: Handler<T, App>,
        T: 'static,
    {
        self.routes.entry(path).or_default().push((method, rules));
        self.router = self.router.route(path, on(filter, handler));
        self
    }

    pub(crate) fn finish(self) -> (Router<App>, Routes) {
        (self.router, self.routes)
    }
}

/// Finds a route's own path and rules. A path without such a method has the strict ones.
pub(crate) fn find(routes: &Routes, path: &str, method: &Method) -> Option<(&'static str, Option<Rules>)> {
    let (path, methods) = routes.get_key_value(path)?;
    let rules = |wanted: &Method| methods.iter().find(|(known, _)| known == wanted).map(|(_, rules)| *rules);
    // What can be read can be asked about.
    let found = rules(method).or_else(|| (method == Method::HEAD).then(|| rules(&Method::GET)).flatten());
    Some((path, found))
}
