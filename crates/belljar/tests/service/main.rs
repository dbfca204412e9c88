//! The use cases of the service, over the real provider and the real store: what a client of any edge can rely on.
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must fail")]

mod commands;
mod files;
mod lives;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use belljar_domain::{Principal, SandboxId};
use belljar_engine::service::{CreateSandbox, Parts, Service, Settings, StartExecution};
use belljar_providers::process::ProcessProvider;
use belljar_store::{SqliteStore, StoreConfig};
use tempfile::TempDir;

/// A service with a home of its own, gone with everything in it.
struct House {
    service: Service,
    home: TempDir,
    who: Principal,
}

impl House {
    fn new() -> Self {
        Self::with(Settings { pool: 0, ..Settings::default() })
    }

    fn with(settings: Settings) -> Self {
        let home = tempfile::tempdir().unwrap();
        let service = open(home.path(), settings);
        Self { service, home, who: Principal::admin("test") }
    }

    fn sandbox(&self) -> SandboxId {
        self.service.create(&self.who, CreateSandbox::default()).unwrap().id
    }

    fn sh(&self, id: SandboxId, script: &str) -> (u8, String, String) {
        let done = self.service.run(&self.who, id, shell(script)).unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (done.execution.report.unwrap().exit_code(), text(done.stdout), text(done.stderr))
    }
}

impl Drop for House {
    fn drop(&mut self) {
        for live in self.service.sandboxes(&self.who, Default::default(), None, 1000).unwrap_or_default() {
            let _gone = self.service.delete(&self.who, live.id);
        }
        self.service.close();
    }
}

fn open(home: &Path, settings: Settings) -> Service {
    let env = BTreeMap::from([("PATH".to_owned(), std::env::var("PATH").unwrap())]);
    let provider = Arc::new(ProcessProvider::open(home, env).unwrap());
    let store = Arc::new(SqliteStore::open(home, StoreConfig::default()).unwrap());
    let lens = Arc::new(store.lens().unwrap());
    let (runtime_dir, killswitch) = (home.join("run"), home.join("killswitch.json"));
    let fingerprint_key = b"a key of the test's own".to_vec();
    Service::open(Parts { provider, store, lens, settings, runtime_dir, killswitch, fingerprint_key })
        .unwrap()
}

fn shell(script: &str) -> StartExecution {
    let argv = ["sh", "-c", script].map(str::to_owned).into();
    StartExecution { argv, ..StartExecution::default() }
}
