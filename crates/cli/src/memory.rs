//! How much memory a run keeps to.

/// A budget in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory(u64);

const MIB: u64 = 1 << 20;

/// A record takes 32 bytes while it is held and 40 while its communicator is matched; the rest is for what a job of tens of ranks holds
/// beside its records. A job of 64 ranks and a gigabyte of dumps keeps to its budget so, from the least that is allowed on.
const BYTES_PER_RECORD: u64 = 128;

impl Memory {
    /// Four million records. What goes beyond waits on disk, which costs little.
    pub const DEFAULT: Self = Self(512 * MIB);

    /// What a job of 64 ranks takes with hardly a record held.
    const LEAST: u64 = 256 * MIB;

    /// Records that may be held at a time.
    pub const fn records(self) -> u64 {
        self.0 / BYTES_PER_RECORD
    }

    /// "2G", "1.5GiB", "800m": powers of 1024, as other programs have it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wanted = || "a size such as 512M or 4G is wanted".to_owned();
        let text = text.trim().to_ascii_lowercase();
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let unit = match unit.trim() {
            "k" | "kb" | "kib" => 1024.0,
            "m" | "mb" | "mib" => 1024_f64.powi(2),
            "g" | "gb" | "gib" => 1024_f64.powi(3),
            "t" | "tb" | "tib" => 1024_f64.powi(4),
            _ => return Err(wanted()),
        };
        let number: f64 = number.parse().map_err(|_| wanted())?;
        // `as` saturates.
        let bytes = (number * unit) as u64;
        if bytes < Self::LEAST {
            return Err(format!("at least {}M is needed", Self::LEAST / MIB));
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        for (text, bytes) in [
            ("512M", 512 * MIB),
            ("2g", 2048 * MIB),
            (" 1.5 GiB ", 1536 * MIB),
            ("262144kb", 256 * MIB),
        ] {
            assert_eq!(Memory::parse(text), Ok(Memory(bytes)), "{text}");
        }
        for text in ["", "512", "-1G", "G", "1e9G", "255M", "1.2.3G", "12 apples"] {
            assert!(Memory::parse(text).is_err(), "{text}");
        }
        assert_eq!(Memory::DEFAULT.records(), 4 << 20);
    }
}
