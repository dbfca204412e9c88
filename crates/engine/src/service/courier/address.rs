//! Which addresses are of the public internet. The list is IANA's of special purposes, as far as std has no word for it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::Reach;

/// Says whether an address may be posted to.
pub(super) fn is_allowed(address: IpAddr, reach: Reach) -> bool {
    match reach {
        Reach::Anywhere => !address.is_unspecified() && !address.is_multicast(),
        Reach::Public => is_public(address),
    }
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => embedded(address).map_or_else(|| is_public_v6(address), is_public_v4),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        || a >= 240
        // Shared by carriers, protocol assignments, benchmarks.
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && (b == 18 || b == 19));
    !is_special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    // Global unicast is 2000::/3; the rest is this machine, its link, its site, a group, or nothing yet.
    (a & 0xe000) == 0x2000 && !(a == 0x2001 && (b == 0x0db8 || b < 0x0200))
}

/// The IPv4 address an IPv6 one stands for: mapped, translated (`64:ff9b::/96`), or 6to4.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = address.segments();
    let joined = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match parts {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(joined(high, low)),
        [0x2002, high, low, ..] => Some(joined(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_public() {
        for text in
            ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "2001:4860:4860::8888", "64:ff9b::101:101"]
        {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
        for text in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "255.255.255.255",
            "224.0.0.1",
            "198.18.0.1",
            "192.0.2.1",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "ff02::1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001:db8::1",
            "::127.0.0.1",
        ] {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn private_networks_are_allowed_when_asked_for() {
        assert!(is_allowed("10.1.2.3".parse().unwrap(), Reach::Anywhere));
        assert!(!is_allowed("0.0.0.0".parse().unwrap(), Reach::Anywhere));
    }
}
