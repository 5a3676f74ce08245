//! Which tables there are.

use serde::{Deserialize, Serialize};

/// A table of the dataset: a folder of Parquet files of one schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Table {
    /// A row per collective record.
    Collectives,
    /// A row per Send/Recv record.
    P2p,
    /// A row per channel of a verbose record.
    Channels,
    /// A row per proxy record or step.
    Proxy,
    /// A row per `dump_stats` marker.
    DumpStats,
}

impl Table {
    /// Every table.
    pub const ALL: [Self; 5] = [
        Self::Collectives,
        Self::P2p,
        Self::Channels,
        Self::Proxy,
        Self::DumpStats,
    ];

    /// The folder under `parquet/`.
    #[must_use]
    pub const fn folder(self) -> &'static str {
        match self {
            Self::Collectives => "collectives",
            Self::P2p => "p2p",
            Self::Channels => "channels",
            Self::Proxy => "proxy",
            Self::DumpStats => "dump_stats",
        }
    }
}
