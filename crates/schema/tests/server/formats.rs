//! Formats of texts, against the server.

use serde_json::{Map, Value, json};

use crate::bed::{Bed, Tally};

/// Each format with texts around its edges.
const FORMATS: [(&str, &[&str]); 26] = [
    (
        "bsonobjectid",
        &[
            "507f1f77bcf86cd799439011",
            "507F1F77BCF86CD799439011",
            "507f1f77bcf86cd79943901",
            "z07f1f77bcf86cd799439011",
            "",
        ],
    ),
    ("byte", &["", "YQ==", "YWI=", "YWJj", "YQ=", "YQ", "Y===", "YW I=", "YR=="]),
    (
        "cidr",
        &[
            "10.0.0.0/8",
            "10.0.0.1/8",
            "010.0.0.1/8",
            "10.0.0.0/33",
            "10.0.0.0/08",
            "10.0.0.0",
            "::/0",
            "::/129",
            "/8",
            "10.0.0.0/",
        ],
    ),
    (
        "creditcard",
        &[
            "4111111111111111",
            "4111-1111 1111x1111",
            "4111111111111112",
            "378282246310005",
            "5555555555554444",
            "6011111111111117",
            "30569309025904",
            "3530111333300000",
            "6212345678901232",
            "41",
            "",
        ],
    ),
    (
        "date",
        &[
            "2026-02-28",
            "2026-02-29",
            "2024-02-29",
            "2026-2-1",
            "20260228",
            "2026-02-28T00:00:00Z",
            "0000-01-01",
        ],
    ),
    (
        "date-time",
        &[
            "2026-02-28T10:00:00Z",
            "2026-02-28t10:00:00z",
            "2026-02-28T10:00:00.5+02:00",
            "2026-02-28T10:00:00x5z",
            "2026-02-28T10:00:00",
            "2026-02-28T24:00:00Z",
            "2026-02-28T23:59:60Z",
            "2026-02-28T10:00:00+99:99",
            "2026-02-28 10:00:00Z",
            "2026-02-28T10:00:00.Z",
            "2026-02-29T10:00:00Z",
        ],
    ),
    ("datetime", &["2026-02-28T10:00:00Z", "2026-02-28"]),
    (
        "duration",
        &[
            "1h30m",
            "22 ns",
            "1 day",
            "2 days and 1 hour",
            "3w",
            "5",
            "",
            "-1.5s",
            "1 fortnight",
            "1m5x",
            "1.5",
            "99999999999999999999h",
            "9999999999h",
        ],
    ),
    (
        "email",
        &[
            "a@b.c",
            "a.b+c@example.com",
            "a@localhost",
            "a",
            "",
            "example.com",
            "A <a@b.c>",
            "a@b@c",
            "\"a b\"@c",
            "a..b@c",
            ".a@b",
            "a@b.",
        ],
    ),
    ("hexcolor", &["#fff", "fff", "#FFFFFF", "#ffff", "", "#ggg"]),
    (
        "hostname",
        &[
            "example.com",
            "localhost",
            "a",
            "1a",
            "a-b.com",
            "-a.com",
            "a-.com",
            "a_b.com",
            "example.c",
            "example.123",
            "",
            "a.",
            "ä.com",
            "a..b",
            "☃.net",
            "a1",
            "a-b",
            "a-b-c",
            "example.com1",
        ],
    ),
    (
        "ipv4",
        &[
            "10.0.0.1",
            "010.0.0.01",
            "256.0.0.1",
            "10.0.0",
            "::ffff:1.2.3.4",
            "::1",
            "",
            "1.2.3.4.5",
            "1..2.3",
        ],
    ),
    ("ipv6", &["::1", "::ffff:1.2.3.4", "fe80::1%eth0", "1.2.3.4", "2001:DB8::1", ":::1", ""]),
    ("isbn", &["0321751043", "978-0321751041", "0321751044", "1", ""]),
    ("isbn10", &["0321751043", "0-321-75104-3", "080442957X", "080442957x", "978-0321751041", "0321751044"]),
    ("isbn13", &["978-0321751041", "9780321751041", "9780321751042", "0321751043"]),
    (
        "mac",
        &[
            "01:23:45:67:89:ab",
            "01-23-45-67-89-AB",
            "0123.4567.89ab",
            "01:23:45:67:89",
            "01:23:45-67:89:ab",
            "01:23:45:67:89:ab:cd:ef",
            "",
            "0:1:2:3:4:5",
        ],
    ),
    ("password", &["", "anything"]),
    (
        "rgbcolor",
        &["rgb(0,0,0)", "rgb( 255 , 10 , 9 )", "rgb(256,0,0)", "rgb(01,0,0)", "rgb(0,0)", "RGB(0,0,0)", ""],
    ),
    ("ssn", &["111-22-3333", "111 22 3333", "111223333", "111-22-333", "aaa-22-3333"]),
    ("uri", &["https://example.com/a?b#c", "/a", "a", "", "https://[::1", "mailto:a@b.c", "https://a b/"]),
    (
        "uuid",
        &[
            "123e4567-e89b-12d3-a456-426614174000",
            "123E4567E89B12D3A456426614174000",
            "123e4567-e89b-12d3-a456-42661417400",
            "123e4567--e89b12d3a456426614174000",
            "",
        ],
    ),
    (
        "uuid3",
        &[
            "a3bb189e-8bf9-3888-9912-ace4e6543002",
            "a3bb189e8bf938889912ace4e6543002",
            "a3bb189e-8bf9-4888-9912-ace4e6543002",
        ],
    ),
    (
        "uuid4",
        &[
            "f47ac10b-58cc-4372-a567-0e02b2c3d479",
            "f47ac10b-58cc-4372-c567-0e02b2c3d479",
            "f47ac10b-58cc-5372-a567-0e02b2c3d479",
        ],
    ),
    (
        "uuid5",
        &[
            "74738ff5-5367-5958-9aee-98fffdcd1876",
            "74738FF5-5367-5958-9AEE-98FFFDCD1876",
            "74738ff5-5367-4958-9aee-98fffdcd1876",
        ],
    ),
    ("k8s-short-name", &["a", "a-b", "A", "-a", "a-", "a.b", ""]),
];

#[tokio::test]
async fn formats_are_judged_as_by_the_server() {
    let field = |(name, _): &(&str, &[&str])| ((*name).to_owned(), json!({"type": "string", "format": name}));
    let mut fields: Map<String, Value> = FORMATS.iter().map(field).collect();
    let long: &[&str] = &["a", "a.b-c", "a..b", "A.b", "-a.b", ""];
    fields.extend([field(&("k8s-long-name", long))]);
    let bed = Bed::new(&json!({"type": "object", "properties": fields}), &json!([])).await;
    let (mut tally, mut differences) = (Tally::default(), Vec::new());
    for (name, texts) in FORMATS.into_iter().chain([("k8s-long-name", long)]) {
        for text in texts {
            let fields = json!({"spec": {name: text}});
            differences.extend(bed.difference(name, &fields, &mut tally).await);
        }
    }
    bed.end().await;
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
    // Addresses that only Go's parser of mail can judge.
    assert!(tally.accepted >= 80 && tally.refused >= 90 && tally.undecided == 6, "{tally:?}");
}
