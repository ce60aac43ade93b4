//! How a tree is cut into units.

mod support;

use windlass_render::units;
use windlass_settings::{Repository, UnitSpec};

/// A unit as `name path after after… @environment`.
#[expect(clippy::unwrap_used, reason = "helper of tests")]
fn spec(text: &str) -> UnitSpec {
    let mut words = text.split(' ');
    let (name, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
    let (environments, after): (Vec<&str>, Vec<&str>) = words.partition(|word| word.starts_with('@'));
    UnitSpec {
        name,
        path,
        after: after.into_iter().map(str::to_owned).collect(),
        environments: environments.into_iter().map(|word| word[1..].to_owned()).collect(),
    }
}

/// Returns `name=path` in order, or the message.
fn cut(files: &[&str], specs: &[&str]) -> String {
    let files: Vec<(&str, &str)> = files.iter().map(|path| (*path, "")).collect();
    let repository =
        Repository { units: specs.iter().map(|text| spec(text)).collect(), ..Repository::default() };
    match units(&support::tree(&files), &repository, "prd") {
        Ok(units) => {
            units.iter().map(|unit| format!("{}={}", unit.name, unit.path)).collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn by_convention() {
    let check = |files: &[&str], want: &str| assert_eq!(cut(files, &[]), want, "{files:?}");
    check(
        &[
            "apps/shop/stateful/prd/a.yaml",
            "apps/bank/stateful/prd/x/a.yaml",
            "infrastructure/stateful/a.yaml",
        ],
        "infrastructure=infrastructure/stateful bank=apps/bank/stateful/prd shop=apps/shop/stateful/prd",
    );
    check(
        &["apps/shop/stateful/dev/a", "apps/b/stateless/prd/a", "infrastructure/stateful/a"],
        "infrastructure=infrastructure/stateful",
    );
    check(&["apps/shop/stateful/prd"], "windlass.yaml: there is no unit for the environment `prd`");
    check(&["apps/Shop/stateful/prd/a"], "windlass.yaml: `Shop` cannot be a unit's name");
    check(
        &["apps/infrastructure/stateful/prd/a", "infrastructure/stateful/a"],
        "windlass.yaml: two units are named `infrastructure`",
    );
}

#[test]
fn by_file() {
    let tree = ["a/x", "b/x", "c/prd/x", "d/x"];
    let check = |specs: &[&str], want: &str| assert_eq!(cut(&tree, specs), want, "{specs:?}");
    check(&["x b", "y a"], "x=b y=a");
    check(&["x c/{env}", "y ./a/", "z ."], "x=c/prd y=a z=");
    check(&["x a z", "y b", "z d"], "y=b z=d x=a");
    check(&["x a z y", "y b z", "z d"], "z=d y=b x=a");
    check(&["x a @dev", "y b x @prd"], "y=b");
    check(&["x a y", "y b x"], "windlass.yaml: the units x, y wait for one another");
    check(&["x a x"], "windlass.yaml: the units x wait for one another");
    check(&["x a y"], "windlass.yaml: unit `x` comes after `y`, which is no unit");
    check(&["x a", "x b"], "windlass.yaml: two units are named `x`");
    check(&["x a", "y a"], "windlass.yaml: units `x` and `y` have the same path `a`");
    check(&["x gone"], "windlass.yaml: the directory `gone` of unit `x` does not exist");
    check(&["x a/x"], "windlass.yaml: the directory `a/x` of unit `x` does not exist");
    check(&["x ../a"], "windlass.yaml: the path `../a` of unit `x` is not a path inside the repository");
    check(&["x /a"], "windlass.yaml: the path `/a` of unit `x` is not a path inside the repository");
    check(&["X a"], "windlass.yaml: `X` cannot be a unit's name");
    check(&["x a @dev"], "windlass.yaml: there is no unit for the environment `prd`");
}
