//! A disk without room, and a directory that cannot be written: a clear error, and nothing acknowledged is lost.

use std::{fs, io::Read, path::Path};

use belljar_ports::{
    StoreError,
    store::{Batch, EventFilter, Store},
};
use belljar_store::{SqliteStore, StoreConfig};

use crate::support::{HOME, again, append, batch, open};

/// Not a test by itself: the process whose files may not grow any more.
#[test]
fn a_process_that_appends_until_the_disk_is_full() {
    let Some(home) = std::env::var_os(HOME) else { return };
    let store = open(Path::new(&home));
    let mut last = 0;
    let refused = (0..).find_map(|number| match store.append(batch(number, 100_000)).wait() {
        Ok(appended) => {
            last = appended.last;
            None
        }
        Err(error) => Some(error),
    });
    let error = refused.unwrap();
    assert!(matches!(error, StoreError::Backend { .. }), "{error:?}");
    assert!(std::error::Error::source(&error).is_some());
    // Readers go on, and so do writers once there is room: an empty batch needs none.
    assert_eq!(store.events(&EventFilter::default(), last - 1, 9).unwrap().len(), 1);
    store.append(Batch::default()).wait().unwrap();
    assert!(store.health().failures > 0);
    println!("acknowledged {last}");
}

#[test]
fn a_full_disk_refuses_new_batches_and_keeps_old_ones() {
    let home = tempfile::tempdir().unwrap();
    // Blocks of 512 or 1024 bytes, by shell: room for some batches beyond the log's first size in any case.
    let settings = "trap '' XFSZ; ulimit -f 24000;";
    let mut child = again("full_disk::a_process_that_appends_until_the_disk_is_full", home.path(), settings)
        .spawn()
        .unwrap();
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    let last: u64 =
        said.lines().find_map(|line| line.split_once("acknowledged ")).unwrap().1.parse().unwrap();
    assert!(last > 30, "{said}");
    let store = open(home.path());
    assert_eq!(store.last_seq().unwrap(), last);
    assert_eq!(store.verify(None).unwrap().finding, None);
    assert_eq!(append(&store, &belljar_domain::EventKind::ServerStarted, 1), last + 1);
}

#[test]
fn a_home_that_cannot_be_made_is_named() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "").unwrap();
    match SqliteStore::open(&file.join("home"), StoreConfig::default()) {
        Err(StoreError::Backend { doing: "make the store's directory", .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_database_that_is_none_is_refused_untouched() {
    let home = tempfile::tempdir().unwrap();
    let text = "this is no database, ".repeat(500);
    fs::write(home.path().join("belljar.db"), &text).unwrap();
    assert!(matches!(
        SqliteStore::open(home.path(), StoreConfig::default()),
        Err(StoreError::Backend { .. })
    ));
    assert_eq!(fs::read_to_string(home.path().join("belljar.db")).unwrap(), text);
}
