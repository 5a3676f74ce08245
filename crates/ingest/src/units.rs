//! Quantities with their unit in the type: what crosses a crate border is never a bare number.

use serde::{Deserialize, Serialize};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident($inner:ty), $from:ident, $as_:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name($inner);

        impl $name {
            #[doc = concat!("Makes the quantity from a number in the unit that the name says (`", stringify!($from), "`).")]
            #[must_use]
            pub const fn $from(value: $inner) -> Self {
                Self(value)
            }

            #[doc = concat!("The number in the unit that the name says (`", stringify!($as_), "`).")]
            #[must_use]
            pub const fn $as_(self) -> $inner {
                self.0
            }
        }
    };
}

quantity!(
    /// The time of a kernel on one rank, in microseconds, the waiting for other ranks included.
    ExecTime(f64), from_micros, as_micros
);
quantity!(
    /// Bus bandwidth in decimal GB/s (1e9 bytes a second), comparable with hardware whatever the number of ranks.
    BusBandwidth(f64), from_gb_per_s, as_gb_per_s
);
quantity!(
    /// A message size in bytes as the Inspector writes it: per rank for `AllGather` and `ReduceScatter`.
    #[derive(Eq, Ord, Hash)]
    MessageSize(u64), from_bytes, as_bytes
);
quantity!(
    /// A moment of a host's wall clock: microseconds since the Unix epoch.
    #[derive(Eq, Ord, Hash)]
    Timestamp(i64), from_unix_micros, as_unix_micros
);
