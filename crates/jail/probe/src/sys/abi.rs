//! The other two doors of an x86-64 kernel: 32-bit calls through `int 0x80` and x32 numbers.
//!
//! A seccomp filter that does not look at the architecture reads a 32-bit number as a 64-bit one and lets the
//! wrong call pass (seccomp(2), "Caveats").

/// Set in a system call's number, it asks for the x32 table.
pub const X32: libc::c_long = 0x4000_0000;

/// Makes the 32-bit system call `number` with one argument. `None` where the processor has no such door.
#[cfg(target_arch = "x86_64")]
#[must_use]
pub fn call_32bit(number: i32, argument: i32) -> Option<i32> {
    let mut result = i64::from(number);
    // SAFETY: the interrupt enters the kernel by the 32-bit door, which reads eax and ebx and writes only eax
    // and r8–r11; rbx belongs to the compiler, so it is swapped in and out around the interrupt. Callers pass
    // calls that take numbers only, so no memory is touched.
    unsafe {
        std::arch::asm!(
            "xchg rbx, {argument}",
            "int 0x80",
            "xchg rbx, {argument}",
            argument = inout(reg) i64::from(argument) => _,
            inout("rax") result,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _,
        );
    }
    // The answer is in eax; the upper half means nothing.
    let [a, b, c, d, ..] = result.to_le_bytes();
    Some(i32::from_le_bytes([a, b, c, d]))
}

/// Makes the 32-bit system call `number` with one argument. `None` where the processor has no such door.
#[cfg(not(target_arch = "x86_64"))]
#[must_use]
pub fn call_32bit(_number: i32, _argument: i32) -> Option<i32> {
    None
}
