//! `url()` (apiserver, `pkg/cel/library/urls.go`). `getQuery` is missing.

use cel::common::types::{Kind, STRING_TYPE, Type};
use cel::{DeclarationError, Env};

use super::{Known, give, give_flag, give_text, not, text, typed};
use crate::url::Url;

static URL: Type = Type::simple_type(Kind::Opaque, "kubernetes.URL");

impl Known for Url {
    fn name() -> &'static Type {
        &URL
    }
}

pub(super) fn add(env: &mut Env) -> Result<(), DeclarationError> {
    env.add_overload("url", "string_to_url", vec![STRING_TYPE], |given| {
        give(Url::read(&text(&given, 0)?).ok_or_else(|| not("a URL"))?)
    })?;
    env.add_overload("isURL", "is_url_string", vec![STRING_TYPE], |given| {
        give_flag(Url::is_one(&text(&given, 0)?))
    })?;
    let member = |env: &mut Env, name: &str, id: &str, function| {
        env.add_member_overload(name, id, URL.to_owned(), Vec::new(), function)
    };
    member(env, "getScheme", "url_get_scheme", |given| give_text(typed::<Url>(&given, 0)?.scheme))?;
    member(env, "getHost", "url_get_host", |given| give_text(typed::<Url>(&given, 0)?.host))?;
    member(env, "getHostname", "url_get_hostname", |given| {
        give_text(typed::<Url>(&given, 0)?.host_and_port().0.to_owned())
    })?;
    member(env, "getPort", "url_get_port", |given| {
        give_text(typed::<Url>(&given, 0)?.host_and_port().1.to_owned())
    })?;
    member(env, "getEscapedPath", "url_get_escaped_path", |given| {
        give_text(typed::<Url>(&given, 0)?.escaped_path())
    })
}
