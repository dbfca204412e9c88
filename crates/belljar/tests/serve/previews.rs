//! Ports of a sandbox in a browser, although it has no network.

use std::io::Read as _;

use serde_json::json;

use crate::support::{Request, Served, Socket, eventually};

const SERVER: &str = r#"
import http.server, hashlib, base64, threading
go = threading.Event()
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_GET(self):
        if self.headers.get("Upgrade") == "websocket":
            accept = base64.b64encode(hashlib.sha1((self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
            self.send_response(101); self.send_header("Upgrade", "websocket"); self.send_header("Connection", "upgrade")
            self.send_header("Sec-WebSocket-Accept", accept); self.end_headers()
            head = self.rfile.read(6); n = head[1] & 127; body = self.rfile.read(n)
            self.wfile.write(bytes([0x81, n]) + body); self.close_connection = True; return
        if self.path == "/go": go.set()
        if self.path == "/slow":
            self.send_response(200); self.send_header("Transfer-Encoding", "chunked"); self.end_headers()
            def chunk(text): self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text)); self.wfile.flush()
            chunk(b"first "); go.wait(); chunk(b"second"); self.wfile.write(b"0\r\n\r\n"); return
        text = ("path=%s host=%s key=%s" % (self.path, self.headers.get("Host"), self.headers.get("Authorization"))).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(text))); self.end_headers(); self.wfile.write(text)
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201); self.send_header("Content-Length", str(len(body))); self.end_headers(); self.wfile.write(body[::-1])
http.server.ThreadingHTTPServer(("127.0.0.1", 8123), H).serve_forever()
"#;

#[test]
fn a_server_inside_is_seen_outside_over_http_and_websocket() {
    let served = Served::start();
    let (sandbox, client) = (served.sandbox(), served.client());
    let order = json!({"command": ["python3", "-c", SERVER], "background": true});
    assert_eq!(client.post(&format!("{sandbox}/exec"), &order).status, 202);
    let port = eventually("the port is found", || {
        let ports = client.get(&format!("{sandbox}/ports")).json();
        ports["items"].as_array().unwrap().iter().find(|port| port["port"] == 8123).cloned()
    });
    let id = sandbox.rsplit('/').next().unwrap();
    let host = format!("8123-{id}.localhost:{}", served.port());
    assert_eq!(port["url"], format!("http://{host}/"));
    // Nobody asks for a key here, and ours is not handed on.
    let page = served.client().with("host", &host).get("/a/b?c=d");
    assert_eq!((page.status, page.text()), (200, format!("path=/a/b?c=d host={host} key=None")));
    let posted = served.stranger().with("host", &host).send(&Request::new("POST", "/").body("abc"));
    assert_eq!((posted.status, posted.text().as_str()), (201, "cba"));
    // What comes in pieces is handed on piece by piece: the second is written when the first was read here.
    let visitor = served.stranger().with("host", &host);
    let mut stream = visitor.open(&Request::new("GET", "/slow")).unwrap();
    let mut read = String::new();
    while !read.contains("first ") {
        let mut bytes = [0; 256];
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "{read}");
        read.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    assert!(!read.contains("second"), "{read}");
    assert_eq!(visitor.get("/go").status, 200);
    while !read.contains("second") {
        let mut bytes = [0; 256];
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "{read}");
        read.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
    }
    let mut socket = Socket::connect(&served.stranger().with("host", &host), "/ws").ok().unwrap();
    socket.say(&json!({"type": "echo"}));
    assert_eq!(socket.expect("echo")["type"], "echo");
}

#[test]
fn where_nothing_listens_a_page_says_so() {
    let served = Served::start();
    let sandbox = served.sandbox();
    let id = sandbox.rsplit('/').next().unwrap();
    let visitor = served.stranger().with("host", &format!("9999-{id}.localhost:{}", served.port()));
    let page = visitor.send(&Request::new("GET", "/").with("accept", "text/html"));
    assert_eq!(page.status, 502);
    assert!(page.text().contains("listens on port 9999"), "{}", page.text());
    visitor.get("/").is_problem(502, "NOTHING_LISTENS");
    let nobody = format!("80-sbx_{}.localhost", "0".repeat(32));
    served.stranger().with("host", &nobody).get("/").is_problem(404, "SANDBOX_NOT_FOUND");
}
