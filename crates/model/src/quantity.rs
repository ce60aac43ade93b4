//! Quantities of bytes, as Kubernetes writes them (`k8s.io/apimachinery/pkg/api/resource`).

/// Returns how many bytes a quantity such as `8Gi`, `500M`, `1e9` or `0.5Ti` is, rounded up; `None` if it is none.
pub fn quantity_bytes(quantity: &str) -> Option<u64> {
    let text = quantity.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let number: f64 = number.parse().ok()?;
    let value = number * factor(suffix)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive whole number below 2^63"
    )]
    (value.is_finite() && (0.0..9.2e18).contains(&value)).then(|| value.ceil() as u64)
}

fn factor(suffix: &str) -> Option<f64> {
    let power = |base: f64, exponent: i32| Some(base.powi(exponent));
    match suffix {
        "" => Some(1.0),
        "m" => power(10.0, -3),
        "k" => power(10.0, 3),
        "M" => power(10.0, 6),
        "G" => power(10.0, 9),
        "T" => power(10.0, 12),
        "P" => power(10.0, 15),
        "E" => power(10.0, 18),
        "Ki" => power(1024.0, 1),
        "Mi" => power(1024.0, 2),
        "Gi" => power(1024.0, 3),
        "Ti" => power(1024.0, 4),
        "Pi" => power(1024.0, 5),
        "Ei" => power(1024.0, 6),
        exponent => power(10.0, exponent.strip_prefix(['e', 'E'])?.parse().ok()?),
    }
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
            ("Gi", None),
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
