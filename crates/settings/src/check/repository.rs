//! Rules of `windlass.yaml`.

use std::collections::BTreeMap;

use windlass_model::UnitName;

use super::Findings;
use super::values::LABEL_HINT;
use crate::repository::{HttpProbe, Probe, Repository, UnitSpec};
use crate::tree::quoted;

/// Checks everything that the form of `windlass.yaml` cannot say.
pub(crate) fn repository(repository: &Repository, found: &mut Findings<'_>) {
    units(&repository.units, found);
    for (index, probe) in repository.smoke.iter().enumerate() {
        self::probe(&format!("smoke[{index}]"), probe, found);
    }
    super::ownership::ignore(&repository.ignore, found);
    super::deletion::meant(&repository.deletions, found);
    found.want_once("probe", repository.smoke.iter().map(|probe| probe.name.as_str()), |index| {
        format!("smoke[{index}].name")
    });
}

fn units(units: &[UnitSpec], found: &mut Findings<'_>) {
    for (index, unit) in units.iter().enumerate() {
        let path = format!("units[{index}]");
        if UnitName::new(&unit.name).is_none() {
            let what = format!("{} is not a DNS label of at most 60 characters", quoted(&unit.name));
            found.rule(&format!("{path}.name"), what, LABEL_HINT);
        }
        found.want_path_inside(&format!("{path}.path"), &unit.path);
        found.want_environments(&format!("{path}.environments"), &unit.environments);
        for (position, name) in unit.after.iter().enumerate() {
            let known: Vec<&str> = units.iter().map(|unit| unit.name.as_str()).collect();
            if !known.contains(&name.as_str()) {
                let what = format!("there is no unit {}", quoted(name));
                found.rule(
                    &format!("{path}.after[{position}]"),
                    what,
                    format!("units are: {}", known.join(", ")),
                );
            }
        }
    }
    found.want_once("unit", units.iter().map(|unit| unit.name.as_str()), |index| {
        format!("units[{index}].name")
    });
    if let Some(index) = in_a_circle(units) {
        let what = format!("unit {} would have to be applied before itself", quoted(&units[index].name));
        found.rule(&format!("units[{index}].after"), what, "remove one of the `after` entries of the circle");
    }
}

/// Returns a unit that comes after itself, directly or through others.
fn in_a_circle(units: &[UnitSpec]) -> Option<usize> {
    let mut waiting: BTreeMap<usize, Vec<&str>> = units
        .iter()
        .enumerate()
        .map(|(index, unit)| (index, unit.after.iter().map(String::as_str).collect()))
        .collect();
    loop {
        let blocked: Vec<&str> = waiting.keys().map(|index| units[*index].name.as_str()).collect();
        let before = waiting.len();
        let mut next = waiting.clone();
        next.retain(|_, after| after.iter().any(|name| blocked.contains(name)));
        if next.len() == before {
            // What is left may merely wait for the circle; a member of the circle waits for itself.
            return waiting.keys().copied().find(|index| reaches(units, *index, *index));
        }
        waiting = next;
    }
}

fn reaches(units: &[UnitSpec], from: usize, to: usize) -> bool {
    let mut seen = vec![false; units.len()];
    let mut open = vec![from];
    while let Some(index) = open.pop() {
        for next in
            units[index].after.iter().filter_map(|name| units.iter().position(|unit| &unit.name == name))
        {
            if next == to {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) {
                open.push(next);
            }
        }
    }
    false
}

fn probe(path: &str, probe: &Probe, found: &mut Findings<'_>) {
    found.want_text(&format!("{path}.name"), &probe.name);
    match (&probe.service, &probe.url) {
        (Some(service), None) => self::service(path, service, probe.port, found),
        (None, Some(url)) => address(path, url, probe, found),
        (Some(_), Some(_)) => found.rule(path, "both `service` and `url` are given", "keep one of them"),
        (None, None) => {
            found.rule(path, "neither `service` nor `url` is given", "say what is asked: one of them");
        }
    }
    match (&probe.http, &probe.tcp) {
        (Some(http), None) => self::http(&format!("{path}.http"), http, probe, found),
        (None, Some(_)) => {}
        (Some(_), Some(_)) => found.rule(path, "both `http` and `tcp` are given", "keep one of them"),
        (None, None) => found.rule(
            path,
            "neither `http` nor `tcp` is given",
            "say how it is asked: `http: {path: /}` or `tcp: {}`",
        ),
    }
    found.want_environments(&format!("{path}.environments"), &probe.environments);
    found.want_some_time(&format!("{path}.timeout"), probe.timeout);
}

fn service(path: &str, service: &str, port: Option<u16>, found: &mut Findings<'_>) {
    if let Some((namespace, name)) = service.split_once('/') {
        found.want_label(&format!("{path}.service"), namespace);
        found.want_label(&format!("{path}.service"), name);
    } else {
        let what = format!("{} names no namespace", quoted(service));
        found.rule(&format!("{path}.service"), what, "write `namespace/name`");
    }
    if port.is_none() {
        found.rule(path, "`service` needs a `port`", "add the Service's port");
    }
}

fn address(path: &str, url: &str, probe: &Probe, found: &mut Findings<'_>) {
    let place = format!("{path}.url");
    if probe.port.is_some() {
        found.rule(
            &format!("{path}.port"),
            "`port` belongs to `service`",
            "write the port inside the address",
        );
    }
    let Some((scheme, rest)) =
        url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https" | "tcp"))
    else {
        let hint = "write `http://host`, `https://host` or `tcp://host:port`";
        return found.rule(&place, format!("{} is not an address that can be asked", quoted(url)), hint);
    };
    if probe.http.is_some() && scheme == "tcp" {
        found.rule(
            &place,
            "a `tcp://` address cannot be asked by `http`",
            "write `http://` or `https://`, or use `tcp`",
        );
    }
    if probe.tcp.is_some() && probe.http.is_none() && scheme != "tcp" {
        found.rule(
            &place,
            format!("`tcp` cannot ask {}", quoted(url)),
            "write `tcp://host:port`, or use `http`",
        );
    }
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.contains('@') {
        return found.secret(
            &place,
            "the address holds credentials",
            "probe something that answers without signing in",
        );
    }
    if authority.is_empty() || (scheme == "tcp" && !has_port(authority)) {
        found.rule(
            &place,
            format!("{} lacks host or port", quoted(url)),
            "write `http://host`, `https://host` or `tcp://host:port`",
        );
    } else if !matches!(rest.strip_prefix(authority), Some("" | "/")) {
        found.rule(&place, format!("{} holds a path", quoted(url)), "write the path under `http.path`");
    }
}

fn has_port(authority: &str) -> bool {
    authority
        .rsplit_once(':')
        .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0))
}

fn http(path: &str, http: &HttpProbe, probe: &Probe, found: &mut Findings<'_>) {
    if !http.path.starts_with('/') {
        let hint = format!("write `/{}`", http.path);
        found.rule(&format!("{path}.path"), format!("{} does not begin with `/`", quoted(&http.path)), hint);
    }
    if let Some(Err(error)) = http.body_matches.as_deref().map(regex::Regex::new) {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let what = format!("not a regular expression: {reason}");
        found.rule(
            &format!("{path}.bodyMatches"),
            what,
            "correct the expression, or use `body` for a plain text",
        );
    }
    let plain_url = probe.url.as_deref().is_some_and(|url| url.starts_with("http://"));
    if http.tls_name.is_some() && plain_url {
        found.rule(
            &format!("{path}.tlsName"),
            "`tlsName` contradicts an `http://` address",
            "write `https://`, or remove `tlsName`",
        );
    }
    if let Some(file) = &http.tls_ca {
        found.want_path_inside(&format!("{path}.tlsCa"), file);
        if http.tls_name.is_none() && (probe.service.is_some() || plain_url) {
            found.rule(&format!("{path}.tlsCa"), "`tlsCa` without TLS", "add `tlsName`: it turns TLS on");
        }
    }
}
