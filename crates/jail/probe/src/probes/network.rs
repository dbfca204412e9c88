//! The network: none at all unless granted, and no socket family that is not shut in by the network namespace.
//!
//! Nothing here sends a packet to another machine: connecting a datagram socket only asks the kernel for a route.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::path::Path;

use super::Probe;
use super::sockets::connect;
use super::tools::MOMENT;
use crate::context::Context;
use crate::report::{Attempt, Verdict};
use crate::sys::{Arg, Errno, call_fd};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("40-loopback", "services on the host's loopback cannot be reached", connect_loopback),
    Probe::new("41-egress", "there is no way to the network", look_for_route),
    Probe::new("42-metadata-ip", "there is no way to a cloud's metadata service", look_for_metadata),
    Probe::new("43-dns", "there is no way to a name server", look_for_resolver),
    Probe::new("44-raw-sockets", "no socket family beyond unix, inet and netlink opens", open_odd_families),
    Probe::new("85-netlink", "no netlink family but routing opens", open_netlink),
];

fn connect_loopback(context: &Context) -> Verdict {
    let ways =
        [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::UNSPECIFIED), mapped(Ipv4Addr::LOCALHOST)];
    let attempts = ways.into_iter().map(|address| {
        let address = SocketAddr::new(address, context.tcp_port);
        let connected = TcpStream::connect_timeout(&address, MOMENT);
        Attempt::judge(&format!("connect {address}"), connected.map_err(Errno::from))
    });
    Verdict::of(attempts.collect())
}

fn look_for_route(_: &Context) -> Verdict {
    // Addresses reserved for documentation (RFC 5737, RFC 3849).
    let v6 = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    let mut attempts = vec![
        route(Ipv4Addr::new(192, 0, 2, 1).into()),
        route(Ipv4Addr::new(198, 51, 100, 1).into()),
        route(v6.into()),
    ];
    let table = fs::read_to_string("/proc/net/route").unwrap_or_default();
    attempts.extend(table.lines().skip(1).filter(|line| !line.is_empty()).map(|line| {
        Attempt::through(format!("a route by {}", line.split_whitespace().next().unwrap_or("nothing")))
    }));
    Verdict::of(attempts)
}

fn look_for_metadata(_: &Context) -> Verdict {
    let address = Ipv4Addr::new(169, 254, 169, 254);
    let aws = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    let alibaba = Ipv4Addr::new(100, 100, 100, 200);
    Verdict::of(vec![route(address.into()), route(mapped(address)), route(aws.into()), route(alibaba.into())])
}

fn look_for_resolver(_: &Context) -> Verdict {
    let settings = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let servers = settings.lines().filter_map(|line| line.strip_prefix("nameserver")?.trim().parse().ok());
    let mut attempts: Vec<Attempt> =
        servers.filter(|server: &IpAddr| !server.is_loopback()).map(route).collect();
    let sockets =
        ["/run/systemd/resolve/io.systemd.Resolve", "/run/nscd/socket", "/var/run/avahi-daemon/socket"];
    attempts.extend(sockets.iter().map(|socket| connect(Path::new(socket))));
    Verdict::of(attempts)
}

/// Whether the kernel knows a way to `address`.
fn route(address: IpAddr) -> Attempt {
    let any: SocketAddr = match address {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let found = UdpSocket::bind(any).and_then(|socket| socket.connect((address, 9)));
    Attempt::judge(&format!("a route to {address}"), found.map_err(Errno::from))
}

fn mapped(address: Ipv4Addr) -> IpAddr {
    address.to_ipv6_mapped().into()
}

/// `AF_VSOCK` reaches the hypervisor from inside every namespace; most others are old code few have looked at.
fn open_odd_families(_: &Context) -> Verdict {
    let usual = [libc::AF_UNSPEC, libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let kinds = [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_RDM, libc::SOCK_SEQPACKET];
    let mut attempts = Vec::new();
    for family in (0..48).filter(|family| !usual.contains(family)) {
        let opened = kinds.iter().find(|kind| socket(family, **kind, 0).is_ok());
        if opened.is_some() {
            attempts.push(Attempt::through(family_name(family)));
        }
    }
    for (name, family) in [("raw inet", libc::AF_INET), ("raw inet6", libc::AF_INET6)] {
        attempts.push(Attempt::judge(name, socket(family, libc::SOCK_RAW, libc::IPPROTO_ICMP)));
    }
    Verdict::of(attempts)
}

fn open_netlink(_: &Context) -> Verdict {
    let families = (0..32).filter(|family| *family != libc::NETLINK_ROUTE);
    let opened = families.filter(|family| socket(libc::AF_NETLINK, libc::SOCK_RAW, *family).is_ok());
    Verdict::of(opened.map(|family| Attempt::through(format!("netlink family {family}"))).collect())
}

fn family_name(family: i32) -> String {
    match family {
        libc::AF_PACKET => "packet".to_owned(),
        libc::AF_VSOCK => "vsock".to_owned(),
        libc::AF_ALG => "alg".to_owned(),
        libc::AF_KEY => "key".to_owned(),
        libc::AF_XDP => "xdp".to_owned(),
        other => format!("family {other}"),
    }
}

fn socket(family: i32, kind: i32, protocol: i32) -> Result<(), Errno> {
    call_fd(libc::SYS_socket, [family, kind, protocol].map(|number| Arg::Int(number.into()))).map(drop)
}
