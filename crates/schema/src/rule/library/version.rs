//! `semver()`: semantic versions (apiserver, `pkg/cel/library/semverlib.go`, with `github.com/blang/semver`).

use std::cmp::Ordering;

use cel::common::types::{BOOL_TYPE, Kind, STRING_TYPE, Type};
use cel::{DeclarationError, Env};

use super::{Given, Known, flag, give, give_flag, give_number, give_order, not, text, typed, undecided};

static VERSION: Type = Type::simple_type(Kind::Opaque, "kubernetes.Semver");

/// A version; what it says about its build takes no part in comparing.
#[derive(Debug, Clone)]
pub(super) struct Version {
    numbers: [u64; 3],
    pre: Vec<Part>,
}

/// A part of what makes a version a pre-release: numbers come before texts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Number(u64),
    Text(String),
}

impl Known for Version {
    fn name() -> &'static Type {
        &VERSION
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.order(other) == Ordering::Equal
    }
}

impl Version {
    fn read(text: &str, normalise: bool) -> Option<Self> {
        if normalise { Self::strict(&normal(text)?) } else { Self::strict(text) }
    }

    fn strict(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, '.');
        let (major, minor, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let (rest, build) = rest.split_once('+').map_or((rest, None), |(rest, build)| (rest, Some(build)));
        let (patch, pre) = rest.split_once('-').map_or((rest, None), |(patch, pre)| (patch, Some(pre)));
        let well_built =
            build.is_none_or(|build| build.split('.').all(|part| !part.is_empty() && is_plain(part)));
        let pre: Option<Vec<Part>> =
            pre.map_or(Some(Vec::new()), |pre| pre.split('.').map(Part::read).collect());
        well_built.then_some(Self { numbers: [number(major)?, number(minor)?, number(patch)?], pre: pre? })
    }

    fn order(&self, other: &Self) -> Ordering {
        // A version comes after its pre-releases.
        let released = |version: &Self| version.pre.is_empty();
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| released(self).cmp(&released(other)))
            .then_with(|| self.pre.cmp(&other.pre))
    }
}

impl Part {
    fn read(text: &str) -> Option<Self> {
        if text.is_empty() || !is_plain(text) {
            return None;
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return number(text).map(Self::Number);
        }
        Some(Self::Text(text.to_owned()))
    }
}

fn number(text: &str) -> Option<u64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text.len() == 1 || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Takes off a `v` and leading zeros, and fills up what is missing.
fn normal(text: &str) -> Option<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let mut parts: Vec<String> = text.splitn(3, '.').map(without_zeros).collect();
    if parts.len() < 3 && parts.last().is_some_and(|last| last.contains(['+', '-'])) {
        return None;
    }
    parts.resize(3, "0".to_owned());
    Some(parts.join("."))
}

fn without_zeros(part: &str) -> String {
    if part.len() < 2 {
        return part.to_owned();
    }
    let rest = part.trim_start_matches('0');
    if rest.starts_with(|first: char| first.is_ascii_digit()) { rest.to_owned() } else { format!("0{rest}") }
}

fn give_part<'b, 'v>(version: &Version, position: usize) -> Given<'b, 'v> {
    let number = version.numbers.get(position).and_then(|number| i64::try_from(*number).ok());
    give_number(number.ok_or_else(undecided)?)
}

pub(super) fn add(env: &mut Env) -> Result<(), DeclarationError> {
    const WHAT: &str = "a semantic version";
    env.add_overload("semver", "string_to_semver", vec![STRING_TYPE], |given| {
        give(Version::read(&text(&given, 0)?, false).ok_or_else(|| not(WHAT))?)
    })?;
    env.add_overload("semver", "string_bool_to_semver", vec![STRING_TYPE, BOOL_TYPE], |given| {
        give(Version::read(&text(&given, 0)?, flag(&given, 1)?).ok_or_else(|| not(WHAT))?)
    })?;
    env.add_overload("isSemver", "is_semver_string", vec![STRING_TYPE], |given| {
        give_flag(Version::read(&text(&given, 0)?, false).is_some())
    })?;
    env.add_overload("isSemver", "is_semver_string_bool", vec![STRING_TYPE, BOOL_TYPE], |given| {
        give_flag(Version::read(&text(&given, 0)?, flag(&given, 1)?).is_some())
    })?;
    let member = |env: &mut Env, name: &str, id: &str, arguments, function| {
        env.add_member_overload(name, id, VERSION.to_owned(), arguments, function)
    };
    let other = || vec![VERSION.to_owned()];
    member(env, "isGreaterThan", "semver_is_greater_than", other(), |given| {
        give_flag(typed::<Version>(&given, 0)?.order(&typed(&given, 1)?).is_gt())
    })?;
    member(env, "isLessThan", "semver_is_less_than", other(), |given| {
        give_flag(typed::<Version>(&given, 0)?.order(&typed(&given, 1)?).is_lt())
    })?;
    member(env, "compareTo", "semver_compare_to", other(), |given| {
        give_order(typed::<Version>(&given, 0)?.order(&typed(&given, 1)?))
    })?;
    member(env, "major", "semver_major", Vec::new(), |given| give_part(&typed(&given, 0)?, 0))?;
    member(env, "minor", "semver_minor", Vec::new(), |given| give_part(&typed(&given, 0)?, 1))?;
    member(env, "patch", "semver_patch", Vec::new(), |given| give_part(&typed(&given, 0)?, 2))
}
