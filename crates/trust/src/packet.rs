//! Reads the one signature packet, before GnuPG sees it.

use crate::refusal::SignatureRefusal;

/// What the header of a signature packet says. All of it is unproven until the signature is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packet {
    /// When the signature says it was made, in seconds since 1970.
    pub(crate) created: u32,
    /// The issuer's fingerprint or key id in hex, if the packet names one.
    pub(crate) issuer: Option<String>,
}

/// Reads exactly one version 4 signature packet over binary data, made with a strong digest.
///
/// GnuPG also accepts signatures of class 1, which hold for a document with other line ends, and does not
/// say so: the class must be read here. Layout: RFC 4880, sections 4.2 and 5.2.3.
pub(crate) fn read(bytes: &[u8]) -> Result<Packet, SignatureRefusal> {
    let mut outer = Reader(bytes);
    let body = outer.packet_body()?;
    if !outer.0.is_empty() {
        return Err(SignatureRefusal::Multiple);
    }
    let mut reader = Reader(body);
    match reader.byte()? {
        4 => {}
        version => return unsupported(format!("a version {version} OpenPGP signature")),
    }
    match reader.byte()? {
        0 => {}
        class => return unsupported(format!("an OpenPGP signature of class 0x{class:02x}")),
    }
    let numbers = numbers(reader.byte()?)?;
    strong_digest(reader.byte()?)?;
    let hashed = reader.sized()?;
    let unhashed = reader.sized()?;
    let mut facts = Facts::default();
    facts.collect(hashed, true)?;
    facts.collect(unhashed, false)?;
    let _hash_tag = reader.take(2)?;
    for _ in 0..numbers {
        let bits = reader.number(2)?;
        reader.take(bits.div_ceil(8))?;
    }
    if !reader.0.is_empty() {
        return Err(SignatureRefusal::Malformed("its packet holds more than the signature"));
    }
    let created = facts.created.ok_or(SignatureRefusal::Malformed("it does not say when it was made"))?;
    Ok(Packet { created, issuer: facts.fingerprint.or(facts.key_id) })
}

const CUT: SignatureRefusal = SignatureRefusal::Malformed("its packet is cut off");

fn unsupported<T>(what: String) -> Result<T, SignatureRefusal> {
    Err(SignatureRefusal::UnsupportedFormat { what })
}

/// Returns how many numbers a signature of this algorithm consists of. Their declared bit counts are not
/// compared with their values: GitHub rounds them up to whole bytes.
fn numbers(algorithm: u8) -> Result<usize, SignatureRefusal> {
    match algorithm {
        1 | 3 => Ok(1),
        17 | 19 | 22 => Ok(2),
        other => unsupported(format!("an OpenPGP signature with key algorithm {other}")),
    }
}

fn strong_digest(id: u8) -> Result<(), SignatureRefusal> {
    let weak = |digest: &str| Err(SignatureRefusal::WeakDigest { digest: digest.to_owned() });
    match id {
        8..=10 => Ok(()),
        1 => weak("MD5"),
        2 => weak("SHA-1"),
        3 => weak("RIPEMD-160"),
        11 => weak("SHA-224"),
        other => unsupported(format!("an OpenPGP signature with digest algorithm {other}")),
    }
}

const CREATED: u8 = 2;
const ISSUER: u8 = 16;
const ISSUER_FINGERPRINT: u8 = 33;

/// What the subpackets say.
#[derive(Default)]
struct Facts {
    created: Option<u32>,
    fingerprint: Option<String>,
    key_id: Option<String>,
}

impl Facts {
    fn collect(&mut self, area: &[u8], hashed: bool) -> Result<(), SignatureRefusal> {
        let mut reader = Reader(area);
        while !reader.0.is_empty() {
            let length = reader.subpacket_length()?;
            let mut content = Reader(reader.take(length)?);
            let kind = content.byte()? & 0x7f;
            match (kind, content.0) {
                (CREATED, date) => self.date(date, hashed)?,
                (ISSUER, id) if id.len() == 8 => self.key_id = Some(hex::encode_upper(id)),
                (ISSUER_FINGERPRINT, [4, print @ ..]) if print.len() == 20 => {
                    self.fingerprint = Some(hex::encode_upper(print));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes the date. Only the hashed area is signed: a date outside of it proves nothing.
    fn date(&mut self, date: &[u8], hashed: bool) -> Result<(), SignatureRefusal> {
        match date {
            [a, b, c, d] if hashed && self.created.is_none() => {
                self.created = Some(u32::from_be_bytes([*a, *b, *c, *d]));
                Ok(())
            }
            _ => Err(SignatureRefusal::Malformed("its date is not signed, is no date, or is given twice")),
        }
    }
}

/// Reads from the front of a slice.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], SignatureRefusal> {
        let (front, rest) = self.0.split_at_checked(count).ok_or(CUT)?;
        self.0 = rest;
        Ok(front)
    }

    fn byte(&mut self) -> Result<u8, SignatureRefusal> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self, bytes: usize) -> Result<usize, SignatureRefusal> {
        Ok(self.take(bytes)?.iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)))
    }

    fn sized(&mut self) -> Result<&'a [u8], SignatureRefusal> {
        let length = self.number(2)?;
        self.take(length)
    }

    /// Reads the packet header in the old or the new form and returns the packet's body.
    fn packet_body(&mut self) -> Result<&'a [u8], SignatureRefusal> {
        let tag = self.byte()?;
        let (kind, length) = match tag >> 6 {
            0b11 => (tag & 0x3f, self.new_length()?),
            0b10 if tag & 3 < 3 => ((tag >> 2) & 0x0f, self.number(1 << (tag & 3))?),
            0b10 => return Err(SignatureRefusal::Malformed("its packet has no length")),
            _ => return Err(SignatureRefusal::Malformed("it is not an OpenPGP packet")),
        };
        if kind != 2 {
            return unsupported("an OpenPGP message that is no detached signature".to_owned());
        }
        self.take(length)
    }

    fn new_length(&mut self) -> Result<usize, SignatureRefusal> {
        match usize::from(self.byte()?) {
            first @ ..192 => Ok(first),
            first @ 192..224 => Ok(((first - 192) << 8) + usize::from(self.byte()?) + 192),
            255 => self.number(4),
            _ => Err(SignatureRefusal::Malformed("its packet comes in parts")),
        }
    }

    fn subpacket_length(&mut self) -> Result<usize, SignatureRefusal> {
        match usize::from(self.byte()?) {
            first @ ..192 => Ok(first),
            first @ 192..255 => Ok(((first - 192) << 8) + usize::from(self.byte()?) + 192),
            _ => self.number(4),
        }
    }
}
