//! Without a network a sandbox has itself and nobody else; with an open one it has the host's.

use std::{io::Write, net::TcpListener, thread};

use crate::support::{Glass, promises};

promises! { [root, user]:
    loopback_works_inside,
    the_hosts_loopback_cannot_be_reached,
    an_open_network_is_the_hosts,
    nothing_but_loopback_is_there,
    an_allowlist_is_refused_with_a_way_out,
}

const TALK: &str = "
import socket, threading
server = socket.create_server(('127.0.0.1', 0))
def serve():
    caller, _ = server.accept()
    caller.sendall(b'hello')
    caller.close()
threading.Thread(target=serve).start()
print(socket.create_connection(server.getsockname()).recv(5).decode())
";

fn loopback_works_inside(glass: &Glass) {
    assert_eq!(glass.run(&["run", "--", "python3", "-c", TALK]).ok(), "hello\n");
}

/// A server on the host's loopback, and a program that calls it.
fn server() -> (TcpListener, String) {
    let server = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = server.local_addr().unwrap().port();
    let call =
        format!("import socket; print(socket.create_connection(('127.0.0.1', {port}), 5).recv(5).decode())");
    (server, call)
}

fn the_hosts_loopback_cannot_be_reached(glass: &Glass) {
    let (server, call) = server();
    let ended = glass.run(&["run", "--", "python3", "-c", &call]).code(1);
    assert!(ended.err.contains("ConnectionRefusedError"), "{ended:?}");
    server.set_nonblocking(true).unwrap();
    assert!(server.accept().is_err(), "somebody called");
}

fn an_open_network_is_the_hosts(glass: &Glass) {
    let (server, call) = server();
    let answer = thread::spawn(move || server.accept().unwrap().0.write_all(b"hello").unwrap());
    assert_eq!(glass.run(&["run", "--net", "open", "--", "python3", "-c", &call]).ok(), "hello\n");
    answer.join().unwrap();
}

fn nothing_but_loopback_is_there(glass: &Glass) {
    let look = "import socket; print([name for _, name in socket.if_nameindex()])";
    assert_eq!(glass.run(&["run", "--", "python3", "-c", look]).ok(), "['lo']\n");
}

fn an_allowlist_is_refused_with_a_way_out(glass: &Glass) {
    let refused = glass.run(&["run", "--net", "allowlist", "--", "true"]).code(125);
    refused.says("allowlist").says("--net none").says("--net open");
    glass.run(&["run", "--net", "some", "--", "true"]).code(125).says("some");
}
