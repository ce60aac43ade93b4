//! Positions, lints, limits and messages.

use proptest::prelude::*;
use windlass_yaml::{parse, parse_one};

#[test]
fn positions() {
    let text = "# comment\na: 1\nb:\n  - c: &x {d: [1, 2]}\n    'e/f~': 2\n  - *x\nm:\n  <<: *x\n";
    let document = parse_one(text.as_bytes()).unwrap();
    assert_eq!(document.line, 2);
    let check = |pointer: &str, want: Option<&str>| {
        assert_eq!(document.position(pointer).map(|p| p.to_string()).as_deref(), want, "{pointer}");
    };
    check("", Some("2:1"));
    check("/a", Some("2:1"));
    check("/b", Some("3:1"));
    check("/b/0", Some("4:5"));
    check("/b/0/c/d/1", Some("4:19"));
    check("/b/0/e~1f~0", Some("5:5"));
    check("/b/1", Some("6:5"));
    check("/b/1/d", Some("4:12"));
    check("/m/d", Some("4:12"));
    for missing in ["/x", "/a/0", "/b/2", "/b/-", "a", "/"] {
        check(missing, None);
    }
}

#[test]
fn positions_in_later_documents_and_in_json() {
    let documents = parse(b"a: 1\n---\n\nb:\n  c: 2\n").unwrap();
    assert_eq!(documents[1].position("/b/c").unwrap().to_string(), "5:3");
    let documents = parse("{\"a\": 1}\n  {\"é\": \"é\", \"b\": [{\"c\": 1}]}".as_bytes()).unwrap();
    assert_eq!(documents[1].line, 2);
    assert_eq!(documents[1].position("/b/0/c").unwrap().to_string(), "2:21");
    let documents = parse(b"{\"a\": 1}\n---\nb: 1\n").unwrap();
    assert_eq!(documents[1].position("/b").unwrap().to_string(), "3:1");
}

#[test]
fn lints_name_the_danger_and_not_the_value() {
    let check = |text: &str, want: &[&str]| {
        let document = parse_one(text.as_bytes()).unwrap();
        let got: Vec<String> =
            document.lints.iter().map(|lint| format!("{} {}", lint.position, lint.text)).collect();
        assert_eq!(got.len(), want.len(), "{text}: {got:?}");
        assert!(got.iter().zip(want).all(|(got, want)| got.starts_with(want)), "{text}: {got:?}");
    };
    check("a: yes", &["1:4 an unquoted yes, no, on, off, y or n is read as the boolean true"]);
    check("a: [off, n]", &["1:5 an unquoted", "1:10 an unquoted"]);
    check("a: [true, FALSE, 'yes', !!str yes, 0, 0.5, 10, 0x1F, 9007199254740992]", &[]);
    check("a: 0755", &["1:4 a number with a leading zero"]);
    check("a: -08", &["1:4 a number with a leading zero"]);
    check("a: 1_000", &["1:4 `_` inside a number"]);
    check("a: 9007199254740993", &["1:4 an integer beyond 2^53"]);
    check("{\"a\": 9007199254740993}", &["1:7 an integer beyond 2^53"]);
    check("a: 18446744073709551615", &["1:4 an integer beyond 2^53"]);
    check(
        "on: {1: a}",
        &["1:1 the key is no text and is read as `true`", "1:6 the key is no text and is read as `1`"],
    );
    check("x: &x {a: 1}\nz:\n  a: 2\n  <<: *x", &["4:3 the merge stands after the key `a`"]);
    check("x: &x {a: 1}\nz:\n  <<: *x\n  a: 2", &[]);
}

#[test]
fn errors_say_where_and_what_to_do() {
    let check = |text: &str, want: &str, hint: &str| {
        let error = parse(text.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), want, "{text}");
        assert!(error.hint.contains(hint), "{text}: {}", error.hint);
    };
    check("a: 1\nb: 2\na: 3", "line 3, column 1: key `a` is here again, first on line 1", "keep one");
    check(
        "a: 1\n---\nb:\n\tc: 1",
        "line 4, column 1: found character that cannot start any token while scanning for the next token",
        "spaces",
    );
    check("a: b: c", "line 1, column 5: mapping values are not allowed in this context", "quotes");
    check("a: *b", "line 1, column 4: an alias without anchor", "anchor");
    check("a: &b [*b]", "line 1, column 8: an alias inside the node that it stands for", "write");
    check(
        "a: 'b",
        "line 2, column 1: found unexpected end of stream while scanning a quoted scalar",
        "close",
    );
    check("a: .inf", "line 1, column 4: a number that JSON cannot hold", "quote");
    check("a: {b?c: 1}", "line 1, column 5: an unquoted `?` inside brackets", "quotes");
    check("a: \u{2028}", "line 1, column 4: character U+2028 is not allowed", "escape");
    check("[!a,b]", "line 1, column 1: the parser cannot read this document", "comma");
    check("{\"a\": 1, \"a\": 2}", "line 1, column 10: key `a` is here again, first on line 1", "keep one");
}

#[test]
fn budgets() {
    let deep = |depth: usize| format!("a: {}1{}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    assert!(parse(deep(120).as_bytes()).is_ok());
    assert!(parse(deep(121).as_bytes()).unwrap_err().message.contains("120 collections"));
    assert!(parse(deep(200_000).as_bytes()).is_err());
    let json = |depth: usize| format!("{{\"a\": {}1{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    assert!(parse(json(120).as_bytes()).is_ok());
    assert!(parse(json(121).as_bytes()).unwrap_err().message.contains("120 collections"));
    let levels = |step: &str| {
        (0..60)
            .map(|n| format!("a{}: &a{} {step}\n", n + 1, n + 1).replace('*', &format!("*a{n}")))
            .collect::<String>()
    };
    let by_alias = format!("a0: &a0 [[[[[[[[[[1]]]]]]]]]]\n{}", levels("[[[[[[[[[*]]]]]]]]]"));
    assert!(parse(by_alias.as_bytes()).unwrap_err().message.contains("120 collections"));
    let bomb = format!("a0: &a0 [1, 1]\n{}", levels("[*, *]"));
    assert!(parse(bomb.as_bytes()).unwrap_err().message.contains("aliases expand"));
}

#[test]
fn exactly_one_document() {
    assert!(parse_one(b"a: 1").is_ok());
    assert_eq!(parse_one(b"# nothing").unwrap_err().message, "there is no document");
    assert_eq!(parse_one(b"a: 1\n---\nb: 1").unwrap_err().to_string(), "line 3, column 1: a second document");
}

#[test]
fn debug_shows_no_value() {
    assert_eq!(format!("{:?}", parse(b"password: hunter2").unwrap()), "[Document(line 1)]");
}

/// Pieces that meet in many ways: what a mistyped manifest is made of.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "yes",
        "0755",
        ": ",
        ":",
        "- ",
        "? ",
        "\n",
        "\n  ",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\"",
        "'",
        "|\n",
        ">-\n  ",
        "#",
        " ",
        "\t",
        "&a ",
        "*a",
        "<<: ",
        "!!str ",
        "!!binary ",
        "!",
        "---\n",
        "...\n",
        "%",
        "\\",
        "\\x4",
        "\r",
        "\u{feff}",
        "é",
        "1_0",
        "{\"a\":",
        "\\ud800",
        "1e9",
        "~",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _result = parse(&bytes);
    }

    #[test]
    fn no_text_makes_it_panic(text in pieces()) {
        let _result = parse(text.as_bytes());
    }

    #[test]
    fn every_position_lies_in_the_text(text in pieces()) {
        let lines = text.split(['\n', '\r']).count() as u64 + 1;
        match parse(text.as_bytes()) {
            Ok(documents) => prop_assert!(documents.iter().all(|document| (1..=lines).contains(&document.line))),
            Err(error) => prop_assert!((1..=lines).contains(&error.line), "{}", error),
        }
    }

    /// What the emitter that Windlass uses writes is read back unchanged, whatever the texts look like.
    #[test]
    fn emitted_texts_are_read_back(texts in prop::collection::vec("\\PC{0,12}|[yYnN0-9._:+-]{1,6}|on|off|yes|no|null|~", 1..6)) {
        let value: serde_json::Value = texts.iter().map(|text| (format!("k{text}"), text.clone())).collect::<std::collections::BTreeMap<_, _>>().into_iter().map(|(k, v)| (k, serde_json::Value::from(v))).collect::<serde_json::Map<_, _>>().into();
        let yaml = serde_saphyr::to_string(&value).unwrap();
        prop_assert_eq!(&parse_one(yaml.as_bytes()).unwrap().value, &value, "{}", yaml);
    }
}
