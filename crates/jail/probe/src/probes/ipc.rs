//! Memory and keys that live outside the file tree: none is shared with the host.

use std::ffi::CString;
use std::path::Path;

use super::Probe;
use super::tools::find_in;
use crate::context::{Context, Secret};
use crate::report::{Attempt, Verdict};
use crate::sys::shm::Segment;
use crate::sys::{Arg, call};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("35-shm", "shared memory of the host cannot be reached", read_shared_memory),
    Probe::new("36-keyring", "keys of the host's session cannot be reached", read_keyring),
];

fn read_shared_memory(context: &Context) -> Verdict {
    let secret = context.secret(Secret::Memory);
    let read = Segment::open(context.shm_key, secret.len()).map(|mut segment| segment.bytes_mut().to_vec());
    let segment = match read {
        Ok(bytes) if bytes == secret.as_bytes() => Attempt::through("the host's segment was read"),
        Ok(_) => Attempt::stopped("a segment, but not the host's"),
        Err(errno) => Attempt::stopped(format!("shmget: {errno}")),
    };
    let object = Path::new("/dev/shm").join(&context.shm_name);
    Verdict::of(vec![segment, find_in(&object, &secret)])
}

/// Keyrings have no namespace: only a filter or a fresh session keyring keeps them apart.
fn read_keyring(context: &Context) -> Verdict {
    let name = CString::new(context.key_description.as_str()).unwrap_or_default();
    let secret = context.secret(Secret::Key);
    let rings = [("session", -3), ("user", -4), ("user session", -5)];
    let attempts = rings.iter().map(|(ring, number)| match read_key(*number, &name) {
        Ok(payload) if payload.starts_with(secret.as_bytes()) => {
            Attempt::through(format!("the secret was read from the {ring} keyring"))
        }
        Ok(_) => Attempt::through(format!("the key was found in the {ring} keyring")),
        Err(why) => Attempt::stopped(format!("{ring} keyring: {why}")),
    });
    Verdict::of(attempts.collect())
}

fn read_key(ring: i64, name: &CString) -> Result<Vec<u8>, String> {
    const SEARCH: i64 = 10;
    const READ: i64 = 11;
    let search = [Arg::Int(SEARCH), Arg::Int(ring), Arg::Text(c"user"), Arg::Text(name), Arg::Int(0)];
    let key = call(libc::SYS_keyctl, search).map_err(|errno| format!("search: {errno}"))?;
    let mut payload = [0; 256];
    // A key that is found but not readable is still a key that was found.
    _ = call(libc::SYS_keyctl, [Arg::Int(READ), Arg::Int(key), Arg::Into(&mut payload), Arg::Int(256)]);
    Ok(payload.to_vec())
}
