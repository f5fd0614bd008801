//! CPU time of this process: what neighbours on a shared machine disturb least.

use std::time::Duration;

/// User and system time that this process has taken.
#[cfg(unix)]
pub fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    now.try_into().expect("CPU time is never negative")
}

/// Elsewhere the wall clock has to do.
#[cfg(not(unix))]
pub fn cpu_time() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}
