//! Numbers of bytes.

use crate::Quantity;

/// Returns how many bytes a quantity such as `8Gi`, `500M`, `1e9` or `0.5Ti` is, rounded up; `None` if it is none.
pub fn quantity_bytes(quantity: &str) -> Option<u64> {
    Quantity::read(quantity).ok()?.ceil()
}

/// Returns a number of bytes as people read it: `24 GiB`, `1.5 TiB`.
pub fn readable_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    // One decimal, in whole numbers: a float would round 1023.99 up to the next unit's name.
    let (mut tenths, mut unit) = (u128::from(bytes) * 10 / 1024, 0);
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths /= 1024;
        unit += 1;
    }
    let name = UNITS.get(unit).copied().unwrap_or_default();
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole} {name}"),
        (whole, rest) => format!("{whole}.{rest} {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_the_server_reads_them() {
        for (text, want) in [
            ("8Gi", Some(8 << 30)),
            ("0.5Ti", Some(512 << 30)),
            ("500M", Some(500_000_000)),
            ("1e9", Some(1_000_000_000)),
            ("1024", Some(1024)),
            ("1500m", Some(2)),
            ("1E", Some(1_000_000_000_000_000_000)),
            ("8GB", None),
            ("", None),
            ("-1Gi", None),
            ("0.1", Some(1)),
            ("0", Some(0)),
            ("1e400", None),
            // The server takes a missing number for nought.
            ("Gi", Some(0)),
        ] {
            assert_eq!(quantity_bytes(text), want, "{text}");
        }
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit() {
        for (bytes, want) in [
            (0, "0 bytes"),
            (1024, "1 KiB"),
            (24 << 30, "24 GiB"),
            (1536 << 30, "1.5 TiB"),
            ((1 << 30) - 1, "1023.9 MiB"),
            (u64::MAX, "15.9 EiB"),
        ] {
            assert_eq!(readable_bytes(bytes), want);
        }
    }
}
