//! The address of a repository.

use std::fmt;

/// How a repository is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scheme {
    File,
    Ssh,
    Https,
    /// Plain HTTP, to this machine only.
    Http,
}

impl Scheme {
    /// Returns the name that `GIT_ALLOW_PROTOCOL` knows.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Ssh => "ssh",
            Self::Https => "https",
            Self::Http => "http",
        }
    }
}

/// A repository address that is safe to give to `git`. Shown without user names and passwords.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    text: String,
    scheme: Scheme,
}

impl Address {
    /// Takes an address, or says what is wrong with it.
    ///
    /// `ext::` and other transports run programs; an address that begins with `-` is an option to `git`; a
    /// host that begins with `-` is an option to `ssh` (CVE-2017-1000117).
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(
                "it has no scheme: write `ssh://git@host/path`, `https://host/path` or `file:///path`",
            );
        };
        let scheme = match scheme {
            "file" => Scheme::File,
            "ssh" => Scheme::Ssh,
            "https" => Scheme::Https,
            "http" => Scheme::Http,
            _ => return Err("its scheme is not file, ssh or https"),
        };
        if text.chars().any(char::is_control) {
            return Err("it holds control characters");
        }
        if scheme == Scheme::File {
            let legal = rest.starts_with('/') && rest.len() > 1;
            return if legal {
                Ok(Self { text: text.to_owned(), scheme })
            } else {
                Err("its path is not absolute")
            };
        }
        check_remote(scheme, rest)?;
        Ok(Self { text: text.to_owned(), scheme })
    }

    /// Returns the address as `git` needs it.
    pub(crate) fn for_git(&self) -> &str {
        &self.text
    }

    pub(crate) fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Returns the path of a `file://` address.
    pub(crate) fn file_path(&self) -> Option<&str> {
        if self.scheme == Scheme::File { self.text.strip_prefix("file://") } else { None }
    }
}

fn check_remote(scheme: Scheme, rest: &str) -> Result<(), &'static str> {
    let (authority, path) = rest.split_once('/').ok_or("it has no path")?;
    let (user, host) =
        authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if rest.contains(char::is_whitespace) || path.is_empty() {
        return Err("it holds white space, or no path");
    }
    if host.is_empty() || host.starts_with(['-', ':']) || path.starts_with('-') {
        return Err("its host or path is missing or begins with `-`");
    }
    if user.is_some_and(|user| user.contains(':') || user.starts_with('-')) {
        return Err("it holds a password: use `.netrc`, GIT_ASKPASS or an SSH key");
    }
    if scheme == Scheme::Http && !is_loopback(host) {
        return Err("plain http is for this machine only: use https");
    }
    Ok(())
}

fn is_loopback(host: &str) -> bool {
    let name = host.strip_prefix("[::1]").map_or_else(|| host.split(':').next().unwrap_or(host), |_| "::1");
    matches!(name, "localhost" | "127.0.0.1" | "::1")
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_userinfo(&self.text))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Removes user names and passwords from every address in a text.
pub(crate) fn without_userinfo(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        out.push_str(before);
        out.push_str("://");
        let end = after
            .find(|c: char| c == '/' || c.is_whitespace() || c == '\'' || c == '"')
            .unwrap_or(after.len());
        rest = match after[..end].rfind('@') {
            Some(at) => &after[at + 1..],
            None => after,
        };
    }
    out.push_str(rest);
    out
}

/// Says what is wrong with a branch name, following `git check-ref-format`.
pub(crate) fn check_branch(name: &str) -> Result<(), &'static str> {
    let forbidden = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    let bad_part =
        |part: &str| part.is_empty() || part.starts_with('.') || part.to_ascii_lowercase().ends_with(".lock");
    if name.starts_with("refs/") {
        return Err("write the branch without `refs/heads/`");
    }
    if name.is_empty() || name.len() > 200 || name.starts_with('-') || name == "HEAD" || name == "@" {
        return Err("it is not a branch name");
    }
    if name.contains(forbidden) || name.contains("..") || name.contains("@{") || name.ends_with('.') {
        return Err("it holds characters that a branch name cannot have");
    }
    if name.split('/').any(bad_part) { Err("a part of it is not legal in a branch name") } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let check = |text: &str, legal: bool| assert_eq!(Address::parse(text).is_ok(), legal, "{text}");
        for text in [
            "file:///srv/platform.git",
            "file:///srv/with space",
            "ssh://git@example.com/o/r.git",
            "ssh://git@example.com:2222/o/r.git",
            "https://example.com/o/r",
            "https://org@dev.azure.com/org/p/_git/r",
            "http://127.0.0.1:8080/r",
            "http://[::1]:8080/r",
            "http://localhost/r",
        ] {
            check(text, true);
        }
        for text in [
            "",
            "/srv/platform.git",
            "git@example.com:o/r.git",
            "ext::sh -c id",
            "ext://x/y",
            "git://example.com/r",
            "file://host/r",
            "file:///",
            "-u://x/y",
            "--upload-pack=id://x/y",
            "ssh://-oProxyCommand=id/r",
            "ssh://git@-oProxyCommand=id/r",
            "ssh://-l@host/r",
            "ssh://host/-r",
            "ssh:///r",
            "https://example.com",
            "https://u:secret@example.com/r",
            "https://example.com/a b",
            "https://example.com/a\nb",
            "http://example.com/r",
            "http://127.0.0.1.example.com/r",
            "HTTPS://example.com/r",
        ] {
            check(text, false);
        }
    }

    #[test]
    fn no_credentials_are_shown() {
        let check = |text: &str, want: &str| assert_eq!(without_userinfo(text), want);
        check("fatal: 'https://u:p@h/r': no, ssh://git@h/r", "fatal: 'https://h/r': no, ssh://h/r");
        check("https://a@b@h/r and x@y", "https://h/r and x@y");
        check("https://h/path@2", "https://h/path@2");
        check("https://token@h", "https://h");
        assert_eq!(
            Address::parse("https://token@h/r").map(|a| format!("{a} {a:?}")),
            Ok("https://h/r https://h/r".into())
        );
    }

    #[test]
    fn branches() {
        let check = |name: &str, legal: bool| assert_eq!(check_branch(name).is_ok(), legal, "{name}");
        for name in ["main", "release/1.2", "62bc080798ced7f198836a2a33ce522a55ebc7a9", "a-b_c", "ü"] {
            check(name, true);
        }
        for name in [
            "",
            "refs/heads/main",
            "-x",
            "HEAD",
            "@",
            "a..b",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[",
            "a\\b",
            "a@{1}",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.lock",
            "a.lock/b",
            "a.",
            "a\n",
            "main:refs/heads/x",
        ] {
            check(name, false);
        }
    }
}
