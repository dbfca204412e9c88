//! Files and ports of a sandbox, and that nothing outside it can be reached by them.

use std::io::{Read, Write};

use belljar_domain::SandboxPath;
use belljar_engine::service::{FileKind, ServiceError};

use crate::{House, shell};

fn path(text: &str) -> SandboxPath {
    SandboxPath::new(text).unwrap()
}

#[test]
fn files_come_and_go_whole() {
    let house = House::new();
    let (service, who, id) = (&house.service, &house.who, house.sandbox());
    let mut writer = service.write_file(who, id, &path("/tmp/deep/er/f"), 0o640, true).unwrap();
    writer.write_all(b"hello").unwrap();
    assert_eq!(house.sh(id, "ls /tmp/deep/er").1, "", "not there until it is whole");
    let view = writer.commit().unwrap();
    assert_eq!((view.size, view.mode, view.kind), (5, 0o640, FileKind::File));
    assert_eq!(house.sh(id, "cat /tmp/deep/er/f; stat -c %u /tmp/deep/er/f; id -u").1.lines().count(), 2);
    let (mut file, _) = service.open_file(who, id, &path("/tmp/deep/er/f")).unwrap();
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
    drop(service.write_file(who, id, &path("/tmp/never"), 0o644, false).unwrap());
    assert!(matches!(service.stat(who, id, &path("/tmp/never"), true), Err(ServiceError::NotFound(_))));
    service.rename(who, id, &path("/tmp/deep/er/f"), &path("/tmp/g")).unwrap();
    let listed = service.list(who, id, &path("/tmp"), 3, None, 100).unwrap();
    let names: Vec<_> = listed.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(names, ["/tmp/deep", "/tmp/deep/er", "/tmp/g"]);
    assert!(matches!(service.remove(who, id, &path("/tmp/deep"), false), Err(ServiceError::Conflict(_))));
    service.remove(who, id, &path("/tmp/deep"), true).unwrap();
    assert_eq!(house.sh(id, "ls /tmp").1, "g\n");
}

#[test]
fn a_directory_travels_as_an_archive() {
    let house = House::new();
    let (service, who, id) = (&house.service, &house.who, house.sandbox());
    house.sh(id, "mkdir -p /tmp/a/b; echo 1 > /tmp/a/one; echo 2 > /tmp/a/b/two; ln -s one /tmp/a/link; mkfifo /tmp/a/p");
    let mut archive = Vec::new();
    assert_eq!(service.pack(who, id, &path("/tmp/a"), &mut archive).unwrap(), 4);
    assert_eq!(service.unpack(who, id, &path("/tmp/c"), &mut archive.as_slice()).unwrap(), 4);
    assert_eq!(house.sh(id, "cat /tmp/c/one /tmp/c/b/two; readlink /tmp/c/link").1, "1\n2\none\n");
}

#[test]
fn no_link_leads_out() {
    let house = House::new();
    let (service, who, id) = (&house.service, &house.who, house.sandbox());
    let secret = house.home.path().join("secret");
    std::fs::write(&secret, "host").unwrap();
    let script =
        format!("ln -s {} /tmp/out; ln -s / /tmp/root; ln -s /proc/1/root /tmp/one", secret.display());
    house.sh(id, &script);
    for way in [
        "/tmp/out".to_owned(),
        format!("/tmp/root{}", secret.display()),
        format!("/tmp/one{}", secret.display()),
    ] {
        assert!(service.open_file(who, id, &path(&way)).is_err(), "{way}");
    }
    let mut writer = service.write_file(who, id, &path("/tmp/out"), 0o644, false).unwrap();
    writer.write_all(b"sandbox").unwrap();
    writer.commit().unwrap();
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "host");
    assert!(matches!(
        service.write_file(who, id, &path("/usr/bin/evil"), 0o755, false),
        Err(ServiceError::Denied(_))
    ));
}

#[test]
fn a_port_inside_is_found_and_dialled() {
    let house = House::new();
    let (service, who, id) = (&house.service, &house.who, house.sandbox());
    assert!(service.dial(who, id, 8080).is_err());
    let serve = "import socket\ns = socket.create_server(('127.0.0.1', 8080))\nc, _ = s.accept()\nc.sendall(c.recv(9).upper())";
    let argv = ["python3", "-c", serve].map(str::to_owned).into();
    let started = belljar_engine::service::StartExecution { argv, ..shell("") };
    service.start(who, id, started).unwrap();
    while service.ports(who, id).unwrap().iter().all(|port| port.port != 8080) {
        std::thread::yield_now();
    }
    let mut stream = service.dial(who, id, 8080).unwrap();
    stream.write_all(b"knock").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"KNOCK");
}
