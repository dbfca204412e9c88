//! The race: every contestant once per round, in an order that changes from round to round.

use std::{
    io::{self, Write as _},
    process::{Command, ExitStatus, Output, Stdio},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use super::{
    contestant::{Contestant, How},
    shout,
    times::Times,
};

/// Rounds that fill caches and are not counted.
const WARM_UP: usize = 3;

/// How one contestant did.
#[derive(Debug)]
pub(crate) struct Race {
    pub(crate) name: &'static str,
    pub(crate) times: Times,
}

/// Lets all contestants run, `rounds` times each.
pub(crate) fn race(contestants: Vec<Contestant>, rounds: usize) -> anyhow::Result<Vec<Race>> {
    let mut able: Vec<_> = contestants.into_iter().filter_map(admit).collect();
    let mut outcomes = vec![Vec::new(); able.len()];
    let mut order: Vec<_> = (0..able.len()).collect();
    let mut dice = Dice::thrown();
    for round in 0..WARM_UP + rounds {
        dice.shuffle(&mut order);
        for &index in &order {
            let Some(contestant) = able.get_mut(index) else { continue };
            let outcome = once(contestant)?;
            if round >= WARM_UP
                && let Some(outcomes) = outcomes.get_mut(index)
            {
                outcomes.push(outcome);
            }
        }
        if round % 20 == 0 {
            println!("round {round} of {}", WARM_UP + rounds);
        }
    }
    let races = able.into_iter().zip(outcomes);
    Ok(races.map(|(able, outcomes)| Race { name: able.name, times: Times::new(outcomes) }).collect())
}

/// Tries a contestant once and leaves out what cannot run here, loudly.
fn admit(mut contestant: Contestant) -> Option<Contestant> {
    let output = match &mut contestant.how {
        How::Process(command) => command.stdin(Stdio::null()).output(),
        How::Fed(command, input) => {
            feed(command, input).map(|status| Output { status, stdout: Vec::new(), stderr: Vec::new() })
        }
        How::Asking(_) => return Some(contestant),
    };
    match output {
        Ok(output) if output.status.success() => Some(contestant),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            shout(&format!("{} is left out: {}: {}", contestant.name, output.status, said.trim()));
            None
        }
        Err(error) => {
            shout(&format!("{} is left out: {error}", contestant.name));
            None
        }
    }
}

/// From before the fork until after the reaping, as a shell would see it.
fn once(contestant: &mut Contestant) -> anyhow::Result<Option<Duration>> {
    let start = Instant::now();
    let succeeded = match &mut contestant.how {
        How::Process(command) => {
            let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn()?.wait()?.success()
        }
        How::Fed(command, input) => feed(command, input)?.success(),
        How::Asking(ask) => ask()?,
    };
    let took = start.elapsed();
    // What a contestant leaves the kernel to do must not fall on the next one.
    thread::sleep(contestant.settle);
    Ok(succeeded.then_some(took))
}

/// Starts a command, lets it read, and waits for it.
fn feed(command: &mut Command, input: &[u8]) -> io::Result<ExitStatus> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that does not read to the end has its reasons; its exit says whether they were good ones.
        let _unread = stdin.write_all(input);
    }
    child.wait()
}

/// A small generator: which order comes next only has to be unrelated to what the machine does.
struct Dice(u64);

impl Dice {
    fn thrown() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(u64::from(now.subsec_nanos()) << 1 | 1)
    }

    /// xorshift64.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            let bound = u64::try_from(last + 1).unwrap_or(1);
            let other = usize::try_from(self.next() % bound).unwrap_or(0);
            order.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_everyone_and_every_place_is_reached() {
        let mut dice = Dice(1);
        let mut firsts = [0_u32; 4];
        for _ in 0..400 {
            let mut order = vec![0, 1, 2, 3];
            dice.shuffle(&mut order);
            firsts[order[0]] += 1;
            order.sort_unstable();
            assert_eq!(order, [0, 1, 2, 3]);
        }
        assert!(firsts.iter().all(|&count| count > 60), "{firsts:?}");
    }
}
