//! What a program without libc must bring along: entry, memory, panic, the four memory routines compilers call.
//!
//! No libc because its start costs half a millisecond in a virtual machine (CPUID traps) and a few hundred KiB per
//! process; this program is started once per sandbox and stays.

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::UnsafeCell,
    ptr,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::sys;

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call {main}",
    "ud2",
    main = sym start
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(".globl _start", "_start:", "mov x29, #0", "mov x30, #0", "bl {main}", "brk #1", main = sym start);

extern "C" fn start() -> ! {
    crate::main();
    sys::exit(0)
}

#[panic_handler]
fn panic(_info: &core::panic::PanicInfo<'_>) -> ! {
    // No formatting here: it would pull 20 KiB of code into every sandbox for a line nobody should ever see.
    sys::write_all(2, b"belljar-init: internal error\n");
    sys::exit(125)
}

/// Hands out memory and never takes it back. The keeper and PID 1 allocate only while building; shepherds live as long
/// as one command. The loops that go on for ever allocate nothing.
struct Bump {
    next: AtomicUsize,
    end: AtomicUsize,
    first: UnsafeCell<[u8; FIRST]>,
}

const FIRST: usize = 32 * 1024;
const CHUNK: usize = 1 << 20;

// SAFETY: Sync demands no data race: this program has one thread, so the cell and the two atomics are never shared.
unsafe impl Sync for Bump {}

#[global_allocator]
static MEMORY: Bump =
    Bump { next: AtomicUsize::new(0), end: AtomicUsize::new(0), first: UnsafeCell::new([0; FIRST]) };

// SAFETY: GlobalAlloc demands blocks that do not overlap and fit the layout: `next` only grows, is rounded up to the
// alignment, and a block is handed out only if it ends at or before `end`.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.end.load(Ordering::Relaxed) == 0 {
            let base = self.first.get() as usize;
            self.next.store(base, Ordering::Relaxed);
            self.end.store(base + FIRST, Ordering::Relaxed);
        }
        let aligned = |from: usize| (from + layout.align() - 1) & !(layout.align() - 1);
        let mut at = aligned(self.next.load(Ordering::Relaxed));
        if at + layout.size() > self.end.load(Ordering::Relaxed) {
            let size = (layout.size() + layout.align()).max(CHUNK);
            let Ok(base) = sys::map_memory(size) else { return ptr::null_mut() };
            self.end.store(base + size, Ordering::Relaxed);
            at = aligned(base);
        }
        self.next.store(at + layout.size(), Ordering::Relaxed);
        ptr::with_exposed_provenance_mut(at)
    }

    /// Nothing is handed out twice, so what comes from the kernel is still as it came: zero. Writing that once more would
    /// have it find a page for each of them.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: alloc demands a layout of some size: ours demands the same, and it is the same layout.
        unsafe { self.alloc(layout) }
    }

    unsafe fn dealloc(&self, _block: *mut u8, _layout: Layout) {}
}

/// Copies forwards.
///
/// # Safety
/// As C's `memcpy`: both regions are `count` bytes long and do not overlap.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `rep movsb` touches exactly the `count` bytes at both pointers, which the caller vouches for.
    unsafe {
        core::arch::asm!("rep movsb", inout("rcx") count => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    for index in 0..count {
        // SAFETY: `index < count`, and the caller vouches for `count` bytes behind `from`.
        let byte = unsafe { from.add(index).read_volatile() };
        // SAFETY: `index < count`, and the caller vouches for `count` bytes behind `to`.
        unsafe { to.add(index).write_volatile(byte) };
    }
    to
}

/// Copies between regions that may overlap.
///
/// # Safety
/// As C's `memmove`: both regions are `count` bytes long.
#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    if (to as usize).wrapping_sub(from as usize) >= count {
        // SAFETY: the target does not begin inside the source, so a forward copy reads each byte before it is overwritten.
        return unsafe { memcpy(to, from, count) };
    }
    for index in (0..count).rev() {
        // SAFETY: `index < count`, and the caller vouches for `count` bytes behind `from`.
        let byte = unsafe { from.add(index).read_volatile() };
        // SAFETY: `index < count`, and the caller vouches for `count` bytes behind `to`.
        unsafe { to.add(index).write_volatile(byte) };
    }
    to
}

/// Fills a region.
///
/// # Safety
/// As C's `memset`: the region is `count` bytes long.
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, byte: i32, count: usize) -> *mut u8 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `rep stosb` writes exactly the `count` bytes at the pointer, which the caller vouches for.
    unsafe {
        core::arch::asm!("rep stosb", inout("rcx") count => _, inout("rdi") to => _, in("al") byte.to_le_bytes()[0],
            options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "x86_64"))]
    for index in 0..count {
        // SAFETY: `index < count`, and the caller vouches for `count` bytes behind `to`. Volatile, because the compiler
        // would otherwise turn this loop into a call of itself.
        unsafe { to.add(index).write_volatile(byte.to_le_bytes()[0]) };
    }
    to
}

/// Compares two regions.
///
/// # Safety
/// As C's `memcmp`: both regions are `count` bytes long.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    for index in 0..count {
        // SAFETY: `index < count`, and the caller vouches for `count` bytes behind `left`.
        let a = unsafe { left.add(index).read_volatile() };
        // SAFETY: `index < count`, and the caller vouches for `count` bytes behind `right`.
        let b = unsafe { right.add(index).read_volatile() };
        if a != b {
            return i32::from(a) - i32::from(b);
        }
    }
    0
}

/// Says whether two regions differ.
///
/// # Safety
/// As C's `bcmp`: both regions are `count` bytes long.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const u8, right: *const u8, count: usize) -> i32 {
    // SAFETY: the contract of `bcmp` is that of `memcmp`, and the caller upholds it.
    unsafe { memcmp(left, right, count) }
}

/// Never reached: this program aborts on panic. Unoptimised builds of `core` still name it.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
