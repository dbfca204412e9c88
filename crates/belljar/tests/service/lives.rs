//! Sandboxes come, are shown, end; and a service that vanished is followed by one that knows everything.

use std::time::{Duration, Instant};

use belljar_domain::{EventKind, KillCause, Principal, SandboxState, Span};
use belljar_engine::service::{CreateSandbox, Quotas, ServiceError, Settings};
use belljar_ports::store::{EventFilter, SandboxFilter};

use crate::{House, open, shell};

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        std::thread::yield_now();
    }
}

#[test]
fn a_life_is_told_in_the_ledger() {
    let house = House::new();
    let (service, who) = (&house.service, &house.who);
    let order = CreateSandbox { agent: Some("coder".to_owned()), ..CreateSandbox::default() };
    let view = service.create(who, order).unwrap();
    house.sh(view.id, "true");
    assert_eq!(service.pause(who, view.id).unwrap().state, SandboxState::Paused);
    let frozen = service.run(who, view.id, shell("true")).unwrap_err();
    assert!(matches!(frozen, ServiceError::NotRunning { .. }), "{frozen:?}");
    service.resume(who, view.id).unwrap();
    service.delete(who, view.id).unwrap();
    service.delete(who, view.id).unwrap();
    assert_eq!(service.sandbox(who, view.id).unwrap().state, SandboxState::Destroyed);
    let filter = EventFilter { sandbox: Some(view.id), ..EventFilter::default() };
    let told: Vec<_> =
        service.events(who, filter, 0, 100).unwrap().into_iter().map(|event| event.what.kind).collect();
    let expected = [
        EventKind::SandboxCreated,
        EventKind::ExecutionStarted,
        EventKind::ExecutionEnded,
        EventKind::SandboxState,
        EventKind::SandboxState,
        EventKind::SandboxEnded,
    ];
    assert_eq!(told, expected);
    assert_eq!(service.store().verify(None).unwrap().finding, None);
}

#[test]
fn one_whose_time_is_over_is_noticed_and_named() {
    let house = House::new();
    let order = CreateSandbox { ttl: Some(Span::millis(300)), ..CreateSandbox::default() };
    let id = house.service.create(&house.who, order).unwrap().id;
    until("it ended", || !house.service.sandbox(&house.who, id).unwrap().state.is_live());
    assert_eq!(house.service.sandbox(&house.who, id).unwrap().cause, Some(KillCause::Ttl));
}

#[test]
fn one_that_nobody_uses_ends_by_itself() {
    let house = House::new();
    let order = CreateSandbox { idle: Some(Span::millis(500)), ..CreateSandbox::default() };
    let id = house.service.create(&house.who, order).unwrap().id;
    until("it ended", || !house.service.sandbox(&house.who, id).unwrap().state.is_live());
    assert_eq!(house.service.sandbox(&house.who, id).unwrap().cause, Some(KillCause::Idle));
}

#[test]
fn another_projects_sandbox_is_not_there() {
    let house = House::new();
    let id = house.sandbox();
    let stranger = Principal { project: "theirs".parse().unwrap(), name: "x".to_owned(), admin: false };
    assert!(matches!(house.service.sandbox(&stranger, id), Err(ServiceError::NoSandbox(_))));
    assert!(matches!(house.service.run(&stranger, id, shell("true")), Err(ServiceError::NoSandbox(_))));
    assert!(matches!(house.service.delete(&stranger, id), Err(ServiceError::NoSandbox(_))));
    assert!(house.service.sandboxes(&stranger, SandboxFilter::default(), None, 10).unwrap().is_empty());
    let workspace =
        CreateSandbox { workspace: Some("/usr/share".parse().unwrap()), ..CreateSandbox::default() };
    assert!(matches!(house.service.create(&stranger, workspace), Err(ServiceError::Denied(_))));
}

#[test]
fn what_is_changed_at_once_in_one_from_the_pool_stays_changed() {
    let house = House::with(Settings { pool: 1, ..Settings::default() });
    until("one is ready", || house.service.health().pool_ready == 1);
    let id = house.sandbox();
    house.service.extend(&house.who, id, Span::millis(300)).unwrap();
    until("it ended", || !house.service.sandbox(&house.who, id).unwrap().state.is_live());
    assert_eq!(house.service.sandbox(&house.who, id).unwrap().cause, Some(KillCause::Ttl));
    assert_eq!(house.service.health().errors, 0);
}

#[test]
fn the_pool_hands_out_sandboxes_that_are_as_asked() {
    let house = House::with(Settings { pool: 1, ..Settings::default() });
    let (service, who) = (&house.service, &house.who);
    until("one is ready", || service.health().pool_ready == 1);
    assert!(service.sandboxes(who, SandboxFilter::default(), None, 10).unwrap().is_empty());
    let env = [("COLOUR".to_owned(), "blue".to_owned())].into();
    let labels = [("task".to_owned(), "7".to_owned())].into();
    let view = service.create(who, CreateSandbox { env, labels, ..CreateSandbox::default() }).unwrap();
    assert_eq!(house.sh(view.id, "echo $COLOUR").1, "blue\n");
    assert_eq!(service.sandbox(who, view.id).unwrap().spec.labels.len(), 1);
    until("the next is ready", || service.health().pool_ready == 1);
}

#[test]
fn one_too_many_is_refused_after_waiting() {
    let quotas = Quotas { total: 1, patience: Duration::from_millis(50), ..Quotas::default() };
    let house = House::with(Settings { pool: 0, quotas, ..Settings::default() });
    let id = house.sandbox();
    let refused = house.service.create(&house.who, CreateSandbox::default()).unwrap_err();
    assert!(matches!(refused, ServiceError::Quota(_)), "{refused:?}");
    house.service.delete(&house.who, id).unwrap();
    until("there is room again", || house.service.create(&house.who, CreateSandbox::default()).is_ok());
}

#[test]
fn the_next_service_finds_everything() {
    let settings = || Settings { pool: 0, ..Settings::default() };
    let mut house = House::with(settings());
    let who = house.who.clone();
    let id = house.sandbox();
    let script = "echo before; while [ ! -e /tmp/go ]; do sleep 0.05; done; echo after; exit 5";
    let started = house.service.start(&who, id, shell(script)).unwrap();
    house.service.close();
    house.service = open(house.home.path(), settings());
    let view = house.service.sandbox(&who, id).unwrap();
    assert_eq!(view.state, SandboxState::Running);
    assert_eq!(house.service.health().adopted, 1);
    house.sh(id, "touch /tmp/go");
    let ended = house.service.wait(&who, started.id, Duration::from_secs(60)).unwrap();
    assert_eq!(ended.report.unwrap().exit_code(), 5);
    let page = house.service.output(&who, started.id, 0, 1 << 20).unwrap();
    let text: Vec<u8> = page.chunks.into_iter().flat_map(|chunk| chunk.bytes).collect();
    assert_eq!(String::from_utf8(text).unwrap(), "before\nafter\n");
}
