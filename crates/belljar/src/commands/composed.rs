//! The service of a home, put together from its parts, and taken apart again.
//!
//! Owns: which parts there are and the order they end in. Refuses: to serve; whoever has it decides who may ask.

use std::{path::PathBuf, sync::Arc};

use anyhow::{Context as _, Result};
use belljar_domain::SandboxSpec;
use belljar_engine::service::{Parts, Service, Settings};
use belljar_ports::{SandboxProvider, Store};
use belljar_store::SqliteStore;

use crate::{context::Context, keys, killswitch::KILLSWITCH, observe::Attempts, prices, runtime};

/// How long a service lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// Until somebody ends it; the next one carries on.
    Served,
    /// As long as the command that asks it.
    Attended,
}

/// A service and what it is made of.
pub(super) struct Composed {
    pub(super) service: Service,
    pub(super) provider: Arc<dyn SandboxProvider>,
    store: Arc<dyn Store>,
    journals: PathBuf,
}

impl Composed {
    /// Puts it together; so many sandboxes are made ahead.
    pub(super) fn open(
        context: &Context,
        provider: Arc<dyn SandboxProvider>,
        store: SqliteStore,
        journals: PathBuf,
        pool: usize,
        life: Life,
    ) -> Result<Self> {
        let lens = Arc::new(store.lens().context("open the records of what agents did")?);
        let store: Arc<dyn Store> = Arc::new(store);
        let service = Service::open(Parts {
            provider: Arc::clone(&provider),
            store: Arc::clone(&store),
            lens,
            settings: Settings {
                attended: life == Life::Attended,
                prices: prices::of(&context.home)?,
                ..settings(context, pool)
            },
            runtime_dir: journals.clone(),
            killswitch: context.home.join(KILLSWITCH),
            fingerprint_key: keys::fingerprint(&context.home)?,
        })
        .context("start the service")?;
        Ok(Self { service, provider, store, journals })
    }

    /// Ends it. Sandboxes go on running; the next one finds them.
    pub(super) fn close(self) -> Result<()> {
        self.service.close();
        self.store.close().context("close the store")?;
        runtime::leave(&self.journals);
        Ok(())
    }
}

/// What sandboxes are unless a request says otherwise.
fn settings(context: &Context, pool: usize) -> Settings {
    let config = &context.config;
    let defaults = SandboxSpec {
        limits: config.limits,
        clocks: config.clocks,
        network: config.network,
        profile: config.profile,
        ..SandboxSpec::default()
    };
    Settings {
        defaults,
        pool,
        quotas: config.quotas,
        webhooks: config.webhooks,
        alerts: config.alerts.clone(),
        stop: config.stop.clone(),
        on_revoke: config.on_revoke,
        budgets: config.spending.budgets(),
        export: config.export.clone(),
        listener: Some(Arc::new(Attempts::of(context))),
        ..Settings::default()
    }
}
