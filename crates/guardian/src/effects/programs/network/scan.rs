//! Scans and attacks, and the small questions that are neither.

use super::super::call::Call;
use super::super::options::Options;
use super::is_local;
use crate::effects::act::{Act, Change, Traffic};
use crate::effects::invocation::Outcome;
use crate::shell::value::{Piece, Value};

/// Programs that try hosts, ports, names or passwords, whatever they are told.
const SCANNERS: &[&str] = &[
    "nmap",
    "zenmap",
    "masscan",
    "zmap",
    "zgrab",
    "zgrab2",
    "netdiscover",
    "arp-scan",
    "arping",
    "rustscan",
    "unicornscan",
    "hping",
    "hping3",
    "nping",
    "naabu",
    "nikto",
    "sqlmap",
    "hydra",
    "xhydra",
    "medusa",
    "ncrack",
    "patator",
    "john",
    "hashcat",
    "gobuster",
    "dirb",
    "dirbuster",
    "dirsearch",
    "ffuf",
    "wfuzz",
    "feroxbuster",
    "wpscan",
    "joomscan",
    "droopescan",
    "nuclei",
    "httpx-toolkit",
    "msfconsole",
    "msfvenom",
    "msfdb",
    "searchsploit",
    "beef-xss",
    "responder",
    "ettercap",
    "bettercap",
    "aircrack-ng",
    "airodump-ng",
    "aireplay-ng",
    "airmon-ng",
    "kismet",
    "reaver",
    "wifite",
    "tshark",
    "tcpdump",
    "dumpcap",
    "wireshark",
    "ngrep",
    "dsniff",
    "arpspoof",
    "dnsspoof",
    "mitmproxy",
    "mitmdump",
    "mitmweb",
    "dnsenum",
    "dnsrecon",
    "dnsmap",
    "fierce",
    "amass",
    "subfinder",
    "sublist3r",
    "assetfinder",
    "theHarvester",
    "theharvester",
    "recon-ng",
    "whatweb",
    "wafw00f",
    "enum4linux",
    "crackmapexec",
    "netexec",
    "nxc",
    "smbmap",
    "rpcclient",
    "nbtscan",
    "snmpwalk",
    "snmp-check",
    "onesixtyone",
    "sslscan",
    "sslyze",
    "testssl.sh",
    "testssl",
    "ike-scan",
    "sipvicious",
    "svmap",
    "slowloris",
    "slowhttptest",
    "goldeneye",
    "hulk",
    "loic",
    "t50",
    "thc-ssl-dos",
    "scapy",
    "impacket-secretsdump",
    "secretsdump.py",
    "kerbrute",
    "bloodhound",
    "evil-winrm",
    "chisel",
    "ligolo-ng",
    "proxytunnel",
    "commix",
    "xsser",
    "arachni",
    "skipfish",
    "zaproxy",
    "zap-cli",
    "masscan-web",
    "shodan",
    "censys",
    "angryip",
    "ipscan",
    "netscan",
    "pingsweep",
    "macchanger",
    "katana",
    "p0f",
    "mdk3",
    "mdk4",
    "bully",
    "hostapd-wpe",
    "showmount",
    "ldapsearch",
    "ldapdomaindump",
    "gau",
    "waybackurls",
    "paramspider",
    "dalfox",
    "xsstrike",
    "puredns",
    "massdns",
    "dnsx",
    "tlsx",
    "wapiti",
];

/// Whether a program is of this family.
pub(super) fn knows(name: &str) -> bool {
    SCANNERS.contains(&name)
}

/// A scanner.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() || call.says(&["--list-interfaces", "-D"]) && call.args.len() == 1 {
        return Outcome::harmless();
    }
    let last = call.args.iter().rev().find(|arg| !arg.prefix().starts_with(b"-"));
    let to = last.cloned().unwrap_or_else(|| Value::known("the network"));
    // Packets in a file are read, not taken off the wire.
    if matches!(call.name, "tshark" | "tcpdump" | "ngrep" | "wireshark") {
        let read = call.read(&Options::new("r:w:i:c:f:Y:s:", "read-file="));
        if let Some(file) = read.value("r read-file") {
            return Outcome::of([call.reads(file)]);
        }
        let mut outcome =
            Outcome::of([call.network(Traffic::Scan, &Value::known("packets of others"), Vec::new())]);
        for file in read.values("w") {
            outcome.push(call.writes(file, Change::Replace));
        }
        return outcome;
    }
    let mut outcome = Outcome::of([call.network(Traffic::Scan, &to, Vec::new())]);
    let files = call.read(&Options::new("o:iL:P:w:", "output="));
    if let Some(file) = files.value("w").filter(|_| matches!(call.name, "gobuster" | "ffuf")) {
        outcome.push(call.reads(file));
    }
    outcome
}

/// `ping` and the ways to a host: one is asked, a network is scanned.
pub(in super::super) fn ping(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("c:i:I:l:m:M:p:Q:s:S:t:T:w:W:f:g?B:C:H:r:q:", ""));
    if call.is_asked() {
        return Outcome::harmless();
    }
    let floods = call.name.starts_with("ping") && call.says(&["-f"]);
    let sweeps = call.name == "fping" && (call.says(&["-g", "-ga", "-ag"]) || read.operands.len() > 8);
    let traffic = |to: &Value| {
        let net = to.prefix().contains(&b'/') && to.prefix().first().is_some_and(u8::is_ascii_digit);
        if floods || sweeps || net || is_row(to) { Traffic::Scan } else { Traffic::Fetch }
    };
    let targets = call.targets(&read);
    let acts = targets.iter().map(|to| call.network(traffic(to), to, call.invocation.flows.clone()));
    Outcome::of(acts)
}

/// Whether an address is one of many: its beginning is a network's and its end is counted.
pub(in super::super) fn is_row(address: &Value) -> bool {
    let numbers = address.prefix().iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
    address.prefix().contains(&b'.')
        && numbers
        && address.pieces.iter().any(|piece| matches!(piece, Piece::Unknown(_) | Piece::Glob(_)))
}

/// Questions to the system of names; what stands in a name is sent along.
pub(in super::super) fn names(call: &Call<'_>) -> Outcome {
    if call.is_asked() || call.args.is_empty() {
        return Outcome::harmless();
    }
    let read = call.read(&Options::new("t:p:k:y:q:x:c:f:b:", ""));
    let mut outcome = Outcome::default();
    for file in read.values("f") {
        outcome.push(call.reads(file));
    }
    let transfers = call.words().any(|word| word.eq_ignore_ascii_case("axfr"));
    let traffic = if transfers { Traffic::Scan } else { Traffic::Fetch };
    let to = read.operands.last().cloned().unwrap_or_default();
    outcome.push(call.network(traffic, &to, call.invocation.flows.clone()));
    outcome
}

/// Load on a server: on this machine it is a measurement, elsewhere an attack for all that is known.
pub(in super::super) fn load(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    // Where to is in a file, or in what it reads.
    if call.name == "vegeta" && call.says(&["attack"]) {
        return Outcome::of([call.network(
            Traffic::Scan,
            &Value::known("the targets of vegeta"),
            Vec::new(),
        )]);
    }
    if call.name == "k6" {
        return Outcome::of([Act::Run { code: crate::effects::act::Code::Project, with: "k6".to_owned() }]);
    }
    let urls: Vec<&Value> =
        call.args.iter().filter(|arg| arg.prefix().windows(3).any(|window| window == b"://")).collect();
    Outcome::of(urls.iter().map(|url| {
        let traffic = if is_local(url) { Traffic::Fetch } else { Traffic::Scan };
        call.network(traffic, url, Vec::new())
    }))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn scans_are_told_from_questions() {
        check(&[
            ("nmap -A 172.16.0.0/16", "scan 172.16.0.0/16"),
            ("nmap --version", "compute"),
            ("ping -c 3 example.com", "fetch example.com"),
            ("ping -c1 192.168.1.?i", "scan 192.168.1.?"),
            ("fping -g 192.168.1.0/24", "scan 192.168.1.0/24"),
            ("dig +short example.com", "fetch example.com"),
            ("dig axfr example.com", "scan example.com"),
            ("ab -n 100 -c 10 http://localhost:3000/", "fetch http://localhost:3000/"),
            ("ab -n 1000 https://example.com/", "scan https://example.com/"),
            ("tcpdump -r x.pcap", "read /home/dev/project/x.pcap"),
        ]);
    }
}
