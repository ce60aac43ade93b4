//! Trees written as text, and the kubectl that renders them.

#![allow(dead_code, reason = "each test file uses some of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use std::path::PathBuf;

use windlass_model::{Rendering, SourceTree, TreeFile, UnitName};
use windlass_render::{Jail, Limits, RenderErrors, ResolvedUnit, Tools};

pub(crate) fn tree(files: &[(&str, &str)]) -> SourceTree {
    let mut tree = SourceTree::new();
    for (path, text) in files {
        tree.insert(path, TreeFile { bytes: text.as_bytes().into(), executable: false }).unwrap();
    }
    tree
}

pub(crate) fn unit(name: &str, path: &str) -> ResolvedUnit {
    ResolvedUnit { name: UnitName::new(name).unwrap(), path: path.to_owned() }
}

/// Returns the kubectl named by `WINDLASS_TEST_KUBECTL`, else the one in `PATH`.
#[expect(clippy::disallowed_methods, reason = "tests are given the kubectl by the environment")]
pub(crate) fn kubectl() -> PathBuf {
    std::env::var_os("WINDLASS_TEST_KUBECTL").map_or_else(
        || {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path)
                .map(|dir| dir.join("kubectl"))
                .find(|file| file.exists())
                .expect("no kubectl")
        },
        PathBuf::from,
    )
}

pub(crate) fn tools() -> Tools {
    Tools { kustomize: Some(kubectl()), jail: Jail::Required }
}

pub(crate) async fn render(
    files: &[(&str, &str)],
    units: &[ResolvedUnit],
) -> Result<Rendering, RenderErrors> {
    windlass_render::render(&tree(files), units, &tools(), &Limits::default(), &|_| None).await
}

/// Renders what must be refused; returns each error with its hint on a line.
pub(crate) async fn refusals(files: &[(&str, &str)], units: &[ResolvedUnit]) -> Vec<String> {
    let errors = render(files, units).await.map(|rendering| rendering.digest).expect_err("must be refused");
    errors.0.iter().map(ToString::to_string).collect()
}

pub(crate) fn names(rendering: &Rendering) -> Vec<String> {
    rendering.objects().map(|(unit, object)| format!("{}: {}", unit.name, object.reference())).collect()
}
