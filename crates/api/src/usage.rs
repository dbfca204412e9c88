//! What sandboxes use. What a host cannot tell is absent, never zero.

use serde::Serialize;
use utoipa::ToSchema;

/// One measurement.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub struct Usage {
    /// Processor time since creation, in microseconds.
    pub cpu_micros: Option<u64>,
    /// Time spent waiting because of the processor limit, in microseconds.
    pub throttled_micros: Option<u64>,
    /// Memory now.
    pub memory_bytes: Option<u64>,
    /// The most memory ever.
    pub memory_peak_bytes: Option<u64>,
    /// Processes and threads now.
    pub pids: Option<u64>,
    /// Bytes on the private disk.
    pub disk_bytes: Option<u64>,
    /// Inodes on the private disk.
    pub inodes: Option<u64>,
    /// Bytes received from the network.
    pub net_rx_bytes: Option<u64>,
    /// Bytes sent to the network.
    pub net_tx_bytes: Option<u64>,
    /// Times the kernel killed for memory.
    pub oom_kills: Option<u64>,
    /// Forks refused by the process limit.
    pub forks_refused: Option<u64>,
}

/// What was used in one step of a history.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct UsagePoint {
    /// Where the step begins.
    #[schema(format = DateTime)]
    pub time: String,
    /// How many measurements it is made of.
    pub samples: u64,
    /// Processor time since creation, at the last of them.
    pub cpu_micros: Option<u64>,
    /// Memory on average.
    pub memory_bytes: Option<u64>,
    /// The most memory measured.
    pub memory_max_bytes: Option<u64>,
    /// The most disk measured.
    pub disk_bytes: Option<u64>,
    /// Bytes received since creation.
    pub net_rx_bytes: Option<u64>,
    /// Bytes sent since creation.
    pub net_tx_bytes: Option<u64>,
    /// The most processes measured.
    pub pids: Option<u64>,
}
