//! From rules to a classic BPF program shaped as a binary tree over call numbers.

use super::rules::{Answer, LAST_KNOWN, Rule};

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
const JUMP_IF_SET: u16 = 0x45;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const FORBID: u32 = 0x0005_0001;
const ABSENT: u32 = 0x0005_0026;
const NO_SUCH_FAMILY: u32 = 0x0005_0061;

const OFFSET_NUMBER: u32 = 0;
const OFFSET_ARCH: u32 = 4;
const OFFSET_ARGS: u32 = 16;

#[cfg(target_arch = "x86_64")]
const ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCH: u32 = 0xc000_00b7;

/// One instruction: code, jump if true, jump if false, operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Op(u16, u8, u8, u32);

const fn ret(answer: u32) -> Op {
    Op(RETURN, 0, 0, answer)
}

/// The low half of an argument. The kernel itself looks no further for these, so neither do we: a request with high
/// bits set must not slip past (TIOCSTI + 2^32).
const fn load_arg(index: u8) -> Op {
    Op(LOAD, 0, 0, OFFSET_ARGS + 8 * index as u32)
}

pub(super) fn compile(rules: &[Rule]) -> Vec<u8> {
    let mut ops = vec![
        Op(LOAD, 0, 0, OFFSET_ARCH),
        Op(JUMP_IF_EQUAL, 1, 0, ARCH),
        // Another architecture's numbers mean other calls: int 0x80 must not be a way round.
        ret(ABSENT),
        Op(LOAD, 0, 0, OFFSET_NUMBER),
    ];
    ops.extend(tree(&ranges(rules)));
    ops.iter().flat_map(encode).collect()
}

fn encode(op: &Op) -> [u8; 8] {
    let ([a, b], [e, f, g, h]) = (op.0.to_ne_bytes(), op.3.to_ne_bytes());
    [a, b, op.1, op.2, e, f, g, h]
}

/// From the first call number on, this answer; `None` is "allowed".
type Range = (u32, Option<Answer>);

fn ranges(rules: &[Rule]) -> Vec<Range> {
    let mut answers = vec![None; LAST_KNOWN as usize + 1];
    for rule in rules {
        if let Some(slot) = usize::try_from(rule.number).ok().and_then(|number| answers.get_mut(number)) {
            *slot = Some(rule.answer);
        }
    }
    let mut found: Vec<Range> = Vec::new();
    for (number, answer) in (0..).zip(answers) {
        // Conditional answers are never merged: each leaf inspects the arguments of its own call.
        if found.last().is_none_or(|(_, last)| *last != answer) {
            found.push((number, answer));
        }
    }
    // Beyond the table, and with the x32 bit set, nothing exists.
    found.push((LAST_KNOWN + 1, Some(Answer::Absent)));
    found
}

fn tree(ranges: &[Range]) -> Vec<Op> {
    let (left, right) = match ranges {
        [] => return vec![ret(ABSENT)],
        [(_, answer)] => return leaf(*answer),
        several => several.split_at(several.len() / 2),
    };
    let pivot = right.first().map_or(0, |(first, _)| *first);
    let (below, above) = (tree(left), tree(right));
    let distance = u32::try_from(below.len()).unwrap_or(u32::MAX);
    let mut ops = match u8::try_from(distance) {
        Ok(near) => vec![Op(JUMP_IF_AT_LEAST, near, 0, pivot)],
        // A conditional jump reaches 255 instructions; an unconditional one goes on from there.
        Err(_) => vec![Op(JUMP_IF_AT_LEAST, 0, 1, pivot), Op(JUMP, 0, 0, distance)],
    };
    ops.extend(below);
    ops.extend(above);
    ops
}

fn leaf(answer: Option<Answer>) -> Vec<Op> {
    const NAMESPACES: u32 =
        0x0002_0000 | 0x0200_0000 | 0x0400_0000 | 0x0800_0000 | 0x1000_0000 | 0x2000_0000 | 0x4000_0000;
    const SET_ID: u32 = 0o6000;
    const CREATES: u32 = 0o100 | 0o20_000_000;
    match answer {
        None => vec![ret(ALLOW)],
        Some(Answer::Forbid) => vec![ret(FORBID)],
        Some(Answer::Absent) => vec![ret(ABSENT)],
        Some(Answer::UnlessNamespace { arg }) => {
            vec![load_arg(arg), Op(JUMP_IF_SET, 0, 1, NAMESPACES), ret(FORBID), ret(ALLOW)]
        }
        Some(Answer::UnlessSetId { arg }) => {
            vec![load_arg(arg), Op(JUMP_IF_SET, 0, 1, SET_ID), ret(FORBID), ret(ALLOW)]
        }
        Some(Answer::UnlessCreatesSetId { flags, mode }) => vec![
            load_arg(flags),
            Op(JUMP_IF_SET, 0, 3, CREATES),
            load_arg(mode),
            Op(JUMP_IF_SET, 0, 1, SET_ID),
            ret(FORBID),
            ret(ALLOW),
        ],
        Some(Answer::OnlyCommonSockets) => vec![
            load_arg(0),
            Op(JUMP_IF_EQUAL, 6, 0, 1),
            Op(JUMP_IF_EQUAL, 5, 0, 2),
            Op(JUMP_IF_EQUAL, 4, 0, 10),
            Op(JUMP_IF_EQUAL, 0, 2, 16),
            load_arg(2),
            Op(JUMP_IF_EQUAL, 1, 0, 0),
            ret(NO_SUCH_FAMILY),
            ret(ALLOW),
        ],
        Some(Answer::UnlessTerminalAttack) => vec![
            load_arg(1),
            Op(JUMP_IF_EQUAL, 3, 0, 0x5412),
            Op(JUMP_IF_EQUAL, 2, 0, 0x541c),
            Op(JUMP_IF_EQUAL, 1, 0, 0x541d),
            ret(ALLOW),
            ret(FORBID),
        ],
        Some(Answer::OnlyOrdinaryPersonality) => vec![
            load_arg(0),
            Op(JUMP_IF_EQUAL, 2, 0, 0xffff_ffff),
            Op(AND, 0, 0, !0x0002_0008),
            Op(JUMP_IF_EQUAL, 0, 1, 0),
            ret(ALLOW),
            ret(FORBID),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seccomp::RULES;

    /// Runs a program as the kernel would.
    fn judge(arch: u32, number: u32, args: [u64; 6]) -> u32 {
        let code = compile(RULES);
        let ops: Vec<Op> = code
            .chunks_exact(8)
            .map(|c| {
                Op(u16::from_ne_bytes([c[0], c[1]]), c[2], c[3], u32::from_ne_bytes([c[4], c[5], c[6], c[7]]))
            })
            .collect();
        let (mut at, mut a) = (0, 0_u32);
        loop {
            let Op(code, yes, no, k) = ops[at];
            at += 1;
            let jump = |taken: bool| usize::from(if taken { yes } else { no });
            match code {
                LOAD if k == OFFSET_NUMBER => a = number,
                LOAD if k == OFFSET_ARCH => a = arch,
                LOAD => a = u32::try_from(args[(k as usize - 16) / 8] & 0xffff_ffff).unwrap(),
                AND => a &= k,
                JUMP => at += k as usize,
                JUMP_IF_EQUAL => at += jump(a == k),
                JUMP_IF_AT_LEAST => at += jump(a >= k),
                JUMP_IF_SET => at += jump(a & k != 0),
                RETURN => return k,
                other => panic!("unknown instruction {other:#x}"),
            }
        }
    }

    fn native(number: i64, args: [u64; 6]) -> u32 {
        judge(ARCH, u32::try_from(number).unwrap(), args)
    }

    #[test]
    fn every_plain_rule_answers_as_written_and_the_rest_is_allowed() {
        for number in 0..=LAST_KNOWN {
            let rule = RULES.iter().find(|rule| rule.number == i64::from(number));
            let expected = match rule.map(|rule| rule.answer) {
                Some(Answer::Forbid) => FORBID,
                Some(Answer::Absent) => ABSENT,
                None => ALLOW,
                Some(_) => continue,
            };
            assert_eq!(judge(ARCH, number, [0; 6]), expected, "call {number}");
        }
    }

    #[test]
    fn unknown_calls_and_foreign_architectures_do_not_exist() {
        assert_eq!(judge(ARCH, LAST_KNOWN + 1, [0; 6]), ABSENT);
        assert_eq!(judge(ARCH, 0x4000_0000, [0; 6]), ABSENT);
        assert_eq!(judge(0x4000_0003, 20, [0; 6]), ABSENT);
    }

    #[test]
    fn conditions_look_at_the_low_half_only() {
        let high = 1_u64 << 32;
        assert_eq!(native(libc::SYS_ioctl, [0, 0x5412 + high, 0, 0, 0, 0]), FORBID);
        assert_eq!(native(libc::SYS_ioctl, [0, 0x5413, 0, 0, 0, 0]), ALLOW);
        assert_eq!(native(libc::SYS_clone, [0x1000_0011 + high, 0, 0, 0, 0, 0]), FORBID);
        assert_eq!(native(libc::SYS_clone, [0x3d_0f00, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(native(libc::SYS_socket, [40, 1, 0, 0, 0, 0]), NO_SUCH_FAMILY);
        assert_eq!(native(libc::SYS_socket, [16, 3, 0, 0, 0, 0]), ALLOW);
        assert_eq!(native(libc::SYS_socket, [16, 3, 9, 0, 0, 0]), NO_SUCH_FAMILY);
        for family in [1, 2, 10] {
            assert_eq!(native(libc::SYS_socket, [family, 1, 0, 0, 0, 0]), ALLOW);
        }
        assert_eq!(native(libc::SYS_personality, [0x4_0000, 0, 0, 0, 0, 0]), FORBID);
        assert_eq!(native(libc::SYS_personality, [0xffff_ffff, 0, 0, 0, 0, 0]), ALLOW);
        assert_eq!(native(libc::SYS_fchmod, [3, 0o4755, 0, 0, 0, 0]), FORBID);
        assert_eq!(native(libc::SYS_fchmod, [3, 0o755, 0, 0, 0, 0]), ALLOW);
        assert_eq!(native(libc::SYS_openat, [0, 0, 0o101, 0o4755, 0, 0]), FORBID);
        assert_eq!(native(libc::SYS_openat, [0, 0, 0, 0o4755, 0, 0]), ALLOW);
    }

    #[test]
    fn the_path_to_any_answer_is_short() {
        assert!(compile(RULES).len() / 8 < 512, "{}", compile(RULES).len() / 8);
    }
}
