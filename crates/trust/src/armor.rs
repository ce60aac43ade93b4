//! Reads the one armored block that a signature must be.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::refusal::SignatureRefusal;

/// A signature of RSA 4096 needs about 900 bytes of armor.
pub(crate) const MAX_ARMOR: usize = 16 * 1024;

const BEGIN: &str = "-----BEGIN PGP SIGNATURE-----";
const END: &str = "-----END PGP SIGNATURE-----";

/// Decodes exactly one armored OpenPGP signature block: its marker first, nothing but empty lines behind.
///
/// Stricter than GnuPG, which skips text around the block: such text is not covered by the signature, and
/// whoever adds it makes a second commit id for the same content.
pub(crate) fn decode(armored: &[u8]) -> Result<Vec<u8>, SignatureRefusal> {
    if armored.len() > MAX_ARMOR {
        return malformed("it is longer than 16 KiB");
    }
    let Ok(text) = std::str::from_utf8(armored) else { return malformed("it holds bytes that are not text") };
    refuse_other_formats(text)?;
    if text.bytes().any(|byte| byte != b'\n' && !(b' '..=b'~').contains(&byte)) {
        return malformed("it holds control characters");
    }
    if text.matches("-----BEGIN ").count() != 1 {
        return Err(SignatureRefusal::Multiple);
    }
    let Some(rest) = text.strip_prefix(BEGIN).and_then(|rest| rest.strip_prefix('\n')) else {
        return malformed("text precedes its first line");
    };
    let Some((inside, behind)) = rest.split_once(END) else { return malformed("it does not end") };
    // GitHub ends its signatures with one empty line more.
    if !matches!(behind, "" | "\n" | "\n\n") {
        return malformed("text follows its last line");
    }
    body(inside)
}

/// Names signatures of other kinds, which users meet in practice.
fn refuse_other_formats(text: &str) -> Result<(), SignatureRefusal> {
    let first = text.lines().next().unwrap_or_default();
    let what = match first.trim_end() {
        BEGIN => return Ok(()),
        "-----BEGIN SSH SIGNATURE-----" => "an SSH signature",
        "-----BEGIN SIGNED MESSAGE-----" | "-----BEGIN PKCS7-----" | "-----BEGIN CMS-----" => {
            "an X.509 signature (S/MIME or gitsign)"
        }
        "-----BEGIN PGP MESSAGE-----" | "-----BEGIN PGP SIGNED MESSAGE-----" => {
            "an inline-signed OpenPGP message"
        }
        other if other.starts_with("-----BEGIN ") => "of an unknown kind",
        _ => return malformed("it does not begin with an armor line"),
    };
    Err(SignatureRefusal::UnsupportedFormat { what: what.to_owned() })
}

/// Decodes armor headers, a blank line, base64 lines, and the checksum line if there is one.
fn body(inside: &str) -> Result<Vec<u8>, SignatureRefusal> {
    let mut lines = inside.lines();
    loop {
        match lines.next() {
            Some("") => break,
            Some(line) if line.starts_with("Version: ") || line.starts_with("Comment: ") => {}
            _ => return malformed("no blank line precedes its data"),
        }
    }
    let mut encoded = String::new();
    let mut checksum = None;
    let mut width = 76;
    for line in lines {
        if checksum.is_some() || line.is_empty() || line.len() > width {
            return malformed("its data lines are irregular");
        }
        match line.strip_prefix('=') {
            Some(digits) => checksum = Some(digits),
            // Only the last data line may be shorter than the first.
            None if encoded.is_empty() || line.len() == width => {
                width = line.len();
                encoded.push_str(line);
            }
            None => {
                width = 5;
                encoded.push_str(line);
            }
        }
    }
    let Ok(bytes) = STANDARD.decode(encoded) else { return malformed("its data is not base64") };
    // Some signers leave the checksum out, as RFC 9580 allows; a wrong one is always refused.
    match checksum.map(|digits| STANDARD.decode(digits)) {
        Some(Ok(sum)) if sum != crc24(&bytes) => malformed("its checksum is wrong"),
        Some(Err(_)) => malformed("its checksum is not base64"),
        _ => Ok(bytes),
    }
}

/// Computes the armor checksum of RFC 4880, section 6.1.
fn crc24(bytes: &[u8]) -> [u8; 3] {
    let mut crc: u32 = 0x00B7_04CE;
    for byte in bytes {
        crc ^= u32::from(*byte) << 16;
        for _ in 0..8 {
            crc <<= 1;
            if crc & 0x0100_0000 != 0 {
                crc ^= 0x0186_4CFB;
            }
        }
    }
    let [_, high, middle, low] = crc.to_be_bytes();
    [high, middle, low]
}

fn malformed<T>(why: &'static str) -> Result<T, SignatureRefusal> {
    Err(SignatureRefusal::Malformed(why))
}
