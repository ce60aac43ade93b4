//! Every mistake, with the exact message it gets.

use crate::{Environment, Repository, SettingsError, SettingsErrors};

/// A small correct environment file; the tests break one line of it.
const ENVIRONMENT: &str = "\
environment: prd
cluster:
  kubeconfig: kube/config
  context: prd
source:
  repository: ssh://git@example.org/platform.git
  branch: main
  keys:
    - fingerprint: 968479a1 aff927e3 7d1a566b b5690eee bb952194
      name: web-flow
      file: keys/web-flow.asc
policies:
  none: no policy engine here
approval:
  approvers:
    - {name: anna, key: ssh-ed25519 AAAA anna}
";

const REPOSITORY: &str = "\
units:
  - name: base
    path: infrastructure/stateful
  - name: shop
    path: apps/shop/stateful/{env}
    after: [base]
smoke:
  - name: shop answers
    service: shop/gateway
    port: 443
    http: {path: /healthz}
";

/// Returns the message without the file's name, and makes sure that it comes with advice.
fn message(error: &SettingsError) -> String {
    assert!(!error.hint().is_empty(), "{error}");
    error.to_string().strip_prefix("x.yaml:").unwrap().to_owned()
}

fn messages<T>(result: Result<T, SettingsErrors>) -> Vec<String> {
    match result {
        Ok(_) => Vec::new(),
        Err(errors) => errors.all().iter().map(message).collect(),
    }
}

fn replaced(base: &str, from: &str, to: &str) -> String {
    assert_eq!(base.matches(from).count(), 1, "`{from}` must occur once");
    base.replace(from, to)
}

pub(super) fn check_environment(from: &str, to: &str, want: &[&str]) {
    let text = replaced(ENVIRONMENT, from, to);
    assert_eq!(messages(Environment::parse(&text, "x.yaml")), want, "{to}");
}

pub(super) fn check_repository(from: &str, to: &str, want: &[&str]) {
    let text = replaced(REPOSITORY, from, to);
    assert_eq!(messages(Repository::parse(&text, "x.yaml")), want, "{to}");
}

#[test]
fn forms() {
    let check = check_environment;
    check("branch: main", "branch: main", &[]);
    check("branch: main", "brnach: main", &["7:3: source: unknown key `brnach`: did you mean `branch`?"]);
    check("context: prd", "context: 7", &["4:12: cluster.context: expected a text, found the number 7"]);
    check("context: prd", "context:", &["4:10: cluster.context: expected a text, found nothing"]);
    check(
        "environment: prd",
        "environment: prd\nguard: {}\nzzz: 1",
        &["2:1: unknown key `guard`: did you mean `guards`?", "3:1: unknown key `zzz`"],
    );
    check(
        "approval:\n",
        "approval:\n  required: allways\n  terminal: yes\n  validFor: 90\n  count: 0\n",
        &[
            "15:13: approval.required: expected one of `always`, `risky`, `never`, found `allways`",
            "16:13: approval.terminal: expected `true` or `false`, found the text `yes`",
            "17:13: approval.validFor: expected a duration such as `90s`, `10m` or `1h30m`, found the number 90",
            "18:10: approval.count: expected a whole number from 1, found the number 0",
        ],
    );
    check(
        "approval:\n",
        "approval:\n  terminal: \"true\"\n  validFor: 1 h\n  count: \"1\"\n  directory: [a]\n",
        &[
            "15:13: approval.terminal: expected `true` or `false`, found the text `true`",
            "16:13: approval.validFor: expected a duration such as `90s`, `10m` or `1h30m`, found `1 h`",
            "17:10: approval.count: expected a whole number from 1, found the text `1`",
            "18:14: approval.directory: expected a text, found a list",
        ],
    );
    check("approval:\n", "timeouts:\napproval:\n", &["14:9: timeouts: expected a mapping, found nothing"]);
    check(
        "approval:\n",
        "guards: {pruneBudget: {percent: 101}, protectedKinds: Secret}\napproval:\n",
        &[
            "14:33: guards.pruneBudget.percent: expected a whole number from 0 to 100, found the number 101",
            "14:55: guards.protectedKinds: expected a list, found `Secret`",
        ],
    );
    check(
        "branch: main",
        "branch: main\n  branch: other",
        &["8:3: not readable: key `branch` is given twice"],
    );
    check("branch: main", "branch: [main", &["8:7: not readable: illegal placement of ':' indicator"]);
    check("branch: main", "branch: *main", &["7:11: not readable: alias references unknown anchor"]);
    check(
        "branch: main",
        "branch: main\n  unsigned: true",
        &["8:13: source.unsigned: expected one of `refused`, `allowed`, found `true`"],
    );
    assert_eq!(messages(Environment::parse("", "x.yaml")).len(), 4);
    assert_eq!(messages(Environment::parse("- a", "x.yaml")), ["1:1: expected a mapping, found a list"]);
    assert_eq!(
        messages(Environment::parse(&format!("{ENVIRONMENT}---\na: 1\n"), "x.yaml")),
        ["18:1: not readable: a second YAML document begins"]
    );
}

#[test]
fn rules_of_the_environment_file() {
    let check = check_environment;
    check(
        "environment: prd",
        "environment: Prd",
        &["1:14: environment: `Prd` is not a DNS label of at most 40 characters"],
    );
    check(
        "kubeconfig: kube/config",
        "kubeconfig: ~/.kube/config",
        &["3:15: cluster.kubeconfig: `~` does not stand for the home directory here"],
    );
    check("context: prd", "context: ''", &["4:12: cluster.context: must not be empty"]);
    check(
        "ssh://git@example.org/platform.git",
        "git@example.org:platform.git",
        &["6:15: source.repository: `git@example.org:platform.git` is not a full address"],
    );
    check(
        "ssh://git@example.org/platform.git",
        "git://example.org/platform.git",
        &["6:15: source.repository: the scheme `git` is not supported"],
    );
    check(
        "ssh://git@example.org/platform.git",
        "../platform",
        &["6:15: source.repository: `../platform` is not an address"],
    );
    check(
        "ssh://git@example.org/platform.git",
        "file://platform",
        &["6:15: source.repository: `file://platform` names no repository"],
    );
    check("ssh://git@example.org/platform.git", "file:///srv/platform.git", &[]);
    check("ssh://git@example.org/platform.git", "https://example.org/platform.git", &[]);
    check(
        "ssh://git@example.org/platform.git",
        "https://u:hunter2@example.org/p",
        &["6:15: source.repository: the address holds credentials"],
    );
    check(
        "branch: main",
        "branch: refs/heads/main",
        &["7:11: source.branch: `refs/heads/main` is a reference, not the name of a branch"],
    );
    check(
        "968479a1 aff927e3 7d1a566b b5690eee bb952194",
        "B5690EEEBB952194",
        &[
            "9:20: source.keys[0].fingerprint: `B5690EEEBB952194` is not a fingerprint: expected 40 hex digits",
        ],
    );
    check(
        "968479a1 aff927e3 7d1a566b b5690eee bb952194",
        "1234567890123456789012345678901234567890",
        &["9:20: source.keys[0].fingerprint: expected a text, found the number 1.2345678901234568e+39"],
    );
    check(
        "policies:",
        "    - {fingerprint: 968479A1AFF927E37D1A566BB5690EEEBB952194, name: again, file: again.asc}\npolicies:",
        &[
            "12:21: source.keys[1].fingerprint: fingerprint `968479A1AFF927E37D1A566BB5690EEEBB952194` is given twice",
        ],
    );
    check(
        "      name: web-flow",
        "      name: web-flow\n      notBefore: 2026-02-30\n      notAfter: 26-1-1",
        &[
            "11:18: source.keys[0].notBefore: `2026-02-30` is not a day",
            "12:17: source.keys[0].notAfter: `26-1-1` is not a day",
        ],
    );
    check(
        "      name: web-flow",
        "      name: w\n      notBefore: 2026-02-02\n      notAfter: 2026-02-01",
        &["12:17: source.keys[0].notAfter: the last day lies before the first"],
    );
    check(
        "      name: web-flow",
        "      name: web-flow\n      acceptExpired: true",
        &["11:22: source.keys[0].acceptExpired: needs `notAfter`"],
    );
    check(
        "      name: web-flow",
        "      name: web-flow\n      committer: noreply@github.com",
        &["11:18: source.keys[0].committer: `noreply@github.com` is not a committer"],
    );
    check(
        "policies:\n  none: no policy engine here\n",
        "policies: {}\n",
        &["12:11: policies: no policy is listed"],
    );
    check(
        "approval:\n",
        "guards:\n  freezes:\n    - {name: f, reason: r, from: 2026-12-18, until: 2026-12-17, timeZone: Mars}\n    - {name: f, reason: r, weekly: {from: Fri 4pm, until: Monday 08:00}}\n    - {name: f, reason: r, from: 2026-12-18}\napproval:\n",
        &[
            "16:53: guards.freezes[0].until: the freeze ends before it begins",
            "16:75: guards.freezes[0].timeZone: `Mars` is not a time zone that this machine knows",
            "17:43: guards.freezes[1].weekly.from: `Fri 4pm` is not a time of the week",
            "17:59: guards.freezes[1].weekly.until: `Monday 08:00` is not a time of the week",
            "18:7: guards.freezes[2]: it is not clear when the freeze is",
        ],
    );
    check("none: no policy engine here", "none: ''", &["13:9: policies.none: must not be empty"]);
    check(
        "  none: no policy engine here",
        "  validatingAdmissionPolicies:\n    - name: p\n      binding: b\n      refuses:\n        kind: Pod\n        metadata: {name: 7}\n  none: x",
        &[
            "17:9: policies.validatingAdmissionPolicies[0].refuses.apiVersion: the object needs this field, as a text",
            "18:26: policies.validatingAdmissionPolicies[0].refuses.metadata.name: the object needs this field, as a text",
            "19:9: policies.none: is given although policies are listed",
        ],
    );
    check(
        "  none: no policy engine here",
        "  gatekeeper: {constraints: [{kind: K, name: n, refuses: Pod}], namespace: A}",
        &[
            "13:58: policies.gatekeeper.constraints[0].refuses: is not an object",
            "13:76: policies.gatekeeper.namespace: `A` is not a DNS label",
        ],
    );
    check(
        "  approvers:\n    - {name: anna, key: ssh-ed25519 AAAA anna}",
        "  terminal: false",
        &["15:3: approval: an approval is required, but nobody could give one"],
    );
    check(
        "approval:\n",
        "approval:\n  count: 2\n",
        &["15:10: approval.count: 2 people must approve, but 1 can"],
    );
    check(
        "    - {name: anna, key: ssh-ed25519 AAAA anna}",
        "    - {name: anna, key: ssh-ed25519 AAAA anna}\n    - {name: ben, key: ssh-ed25519 AAAA ben, email: Ben <b@x>}",
        &[
            "17:24: approval.approvers[1].key: key `AAAA` is given twice",
            "17:53: approval.approvers[1].email: `Ben <b@x>` is not a mail address",
        ],
    );
    check(
        "approval:\n",
        "approval:\n  validFor: 0s\n",
        &["15:13: approval.validFor: must be longer than nothing"],
    );
    check(
        "approval:\n",
        "approval:\n  validFor: 8d\n",
        &["15:13: approval.validFor: must not be longer than 7 days"],
    );
    check(
        "approval:\n",
        "timeouts: {request: 0s, lock: 0s}\napproval:\n",
        &["14:21: timeouts.request: must be longer than nothing"],
    );
    check(
        "approval:\n",
        "record: {namespace: Sys, keep: 0}\napproval:\n",
        &["14:32: record.keep: expected a whole number from 1, found the number 0"],
    );
    check(
        "approval:\n",
        "record: {namespace: Sys}\napproval:\n",
        &["14:21: record.namespace: `Sys` is not a DNS label"],
    );
    check(
        "approval:\n",
        "guards:\n  protectedKinds: [postgresql, A.b_c]\n  allowDeletions:\n    - {kind: Secret, namespace: N, name: '', until: soon, reason: ' '}\napproval:\n",
        &[
            "15:20: guards.protectedKinds[0]: `postgresql` is not a kind",
            "15:32: guards.protectedKinds[1]: `A.b_c` is not a kind",
            "17:33: guards.allowDeletions[0].namespace: `N` is not a DNS label",
            "17:42: guards.allowDeletions[0].name: must not be empty",
            "17:53: guards.allowDeletions[0].until: `soon` is not a day",
            "17:67: guards.allowDeletions[0].reason: must not be empty",
        ],
    );
}

#[test]
fn rules_of_windlass_yaml() {
    let check = check_repository;
    check("after: [base]", "after: [base]", &[]);
    check(
        "name: base",
        "name: Base",
        &[
            "2:11: units[0].name: `Base` is not a DNS label of at most 60 characters",
            "6:13: units[1].after[0]: there is no unit `base`",
        ],
    );
    check(
        "name: base",
        "name: shop",
        &[
            "4:11: units[1].name: unit `shop` is given twice",
            "6:13: units[1].after[0]: there is no unit `base`",
        ],
    );
    check(
        "after: [base]",
        "after: [shop]",
        &["6:12: units[1].after: unit `shop` would have to be applied before itself"],
    );
    check(
        "    path: infrastructure/stateful",
        "    path: infrastructure/stateful\n    after: [shop]",
        &["4:12: units[0].after: unit `base` would have to be applied before itself"],
    );
    check(
        "path: infrastructure/stateful",
        "path: ../infrastructure",
        &["3:11: units[0].path: `../infrastructure` is not a path inside the repository"],
    );
    check(
        "path: infrastructure/stateful",
        "path: /infrastructure\n    environments: [prd, PRD]",
        &[
            "3:11: units[0].path: `/infrastructure` is not a path inside the repository",
            "4:25: units[0].environments[1]: `PRD` is not a DNS label of at most 40 characters",
        ],
    );
    check(
        "service: shop/gateway",
        "url: https://example.org",
        &["10:11: smoke[0].port: `port` belongs to `service`"],
    );
    check("    port: 443\n", "", &["8:5: smoke[0]: `service` needs a `port`"]);
    check(
        "port: 443",
        "port: 0",
        &["10:11: smoke[0].port: expected a whole number from 1 to 65535, found the number 0"],
    );
    check(
        "service: shop/gateway",
        "service: gateway",
        &["9:14: smoke[0].service: `gateway` names no namespace"],
    );
    check(
        "service: shop/gateway",
        "service: shop/gateway\n    url: tcp://a:1",
        &["8:5: smoke[0]: both `service` and `url` are given"],
    );
    check(
        "    service: shop/gateway\n    port: 443\n",
        "",
        &["8:5: smoke[0]: neither `service` nor `url` is given"],
    );
    check(
        "http: {path: /healthz}",
        "http: {path: /}\n    tcp: {}",
        &["8:5: smoke[0]: both `http` and `tcp` are given"],
    );
    check("    http: {path: /healthz}\n", "", &["8:5: smoke[0]: neither `http` nor `tcp` is given"]);
    check(
        "path: /healthz",
        "path: healthz, status: 99",
        &["11:35: smoke[0].http.status: expected a whole number from 100 to 599, found the number 99"],
    );
    check(
        "path: /healthz",
        "path: healthz, bodyMatches: 'a(b'",
        &[
            "11:18: smoke[0].http.path: `healthz` does not begin with `/`",
            "11:40: smoke[0].http.bodyMatches: not a regular expression: unclosed group",
        ],
    );
    check(
        "path: /healthz",
        "tlsCa: ../ca.pem",
        &[
            "11:19: smoke[0].http.tlsCa: `../ca.pem` is not a path inside the repository",
            "11:19: smoke[0].http.tlsCa: `tlsCa` without TLS",
        ],
    );
    check(
        "http: {path: /healthz}",
        "http: {}\n    attempts: 0\n    interval: 0s",
        &["12:15: smoke[0].attempts: expected a whole number from 1, found the number 0"],
    );
    check(
        "http: {path: /healthz}",
        "http: {}\n    timeout: 0s",
        &["12:14: smoke[0].timeout: must be longer than nothing"],
    );
    let url = |url: &str, how: &str, want: &[&str]| {
        check(
            "    service: shop/gateway\n    port: 443\n    http: {path: /healthz}",
            &format!("    url: {url}\n    {how}"),
            want,
        );
    };
    url("https://example.org", "http: {}", &[]);
    url("tcp://example.org:5672", "tcp: {}", &[]);
    url(
        "ftp://example.org",
        "http: {}",
        &["9:10: smoke[0].url: `ftp://example.org` is not an address that can be asked"],
    );
    url(
        "https://example.org/healthz",
        "http: {}",
        &["9:10: smoke[0].url: `https://example.org/healthz` holds a path"],
    );
    url("https://u:hunter2@example.org", "http: {}", &["9:10: smoke[0].url: the address holds credentials"]);
    url("tcp://example.org", "tcp: {}", &["9:10: smoke[0].url: `tcp://example.org` lacks host or port"]);
    url(
        "tcp://example.org:1",
        "http: {}",
        &["9:10: smoke[0].url: a `tcp://` address cannot be asked by `http`"],
    );
    url("http://example.org", "tcp: {}", &["9:10: smoke[0].url: `tcp` cannot ask `http://example.org`"]);
    url(
        "http://example.org",
        "http: {tlsName: example.org}",
        &["10:21: smoke[0].http.tlsName: `tlsName` contradicts an `http://` address"],
    );
}

#[test]
fn mistakes_are_shown_in_their_line() {
    let text = ENVIRONMENT.replace("branch: main", "brnach: main");
    let errors = Environment::parse(&text, "x.yaml").unwrap_err();
    let want = "\
x.yaml:7:3: source: unknown key `brnach`: did you mean `branch`?
   |
 7 |   brnach: main
   |   ^
 help: known keys here: branch, keys, repository, unsigned
";
    assert_eq!(errors.render(&text), want);
    let several = Environment::parse("environment: Prd\n", "x.yaml").unwrap_err();
    assert_eq!(several.to_string(), "x.yaml:1:1: missing key `cluster` (and 2 more)");
}

#[test]
fn credentials_are_never_shown() {
    let text = ENVIRONMENT.replace("ssh://git@", "https://robot:hunter2@");
    let errors = Environment::parse(&text, "x.yaml").unwrap_err();
    assert!(!format!("{errors} {errors:?} {}", errors.render(&text)).contains("hunter2"));
}

#[test]
fn fingerprints_and_paths_are_brought_into_one_form() {
    let environment = Environment::parse(ENVIRONMENT, "x.yaml").unwrap();
    assert_eq!(environment.source.keys[0].fingerprint, "968479A1AFF927E37D1A566BB5690EEEBB952194");
    let text = REPOSITORY.replace("{path: /healthz}", "{}");
    let repository = Repository::parse(&text, "x.yaml").unwrap();
    assert_eq!(repository.smoke[0].http.as_ref().map(|http| http.path.as_str()), Some("/"));
}

/// Only `true` and `false` are booleans, and an octal port is not read as a decimal one.
#[test]
fn values_are_read_as_in_manifests() {
    let text = ENVIRONMENT.replace(
        "  none: no policy engine here",
        "  validatingAdmissionPolicies:\n    - name: no\n      binding: b\n      refuses: {apiVersion: v1, kind: Pod, metadata: {name: a}, mode: 0755}",
    );
    let environment = Environment::parse(&text, "x.yaml").unwrap();
    let policy = &environment.policies.validating_admission_policies[0];
    assert_eq!(policy.name, "no");
    assert_eq!(policy.refuses["mode"], 493);
}

#[test]
fn an_empty_windlass_yaml_means_convention() {
    for text in ["", "# nothing yet\n", "{}", "units: []\nsmoke: []\n"] {
        assert_eq!(Repository::parse(text, "x.yaml"), Ok(Repository::default()), "{text}");
    }
}
