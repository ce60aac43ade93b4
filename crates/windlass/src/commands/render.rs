//! `windlass render`: print the objects of a directory.

use std::collections::HashMap;

use serde_json::{Value, json};
use windlass_model::{ExitCode, Object, Rendering, is_secret_kind, mask_object};
use windlass_render::Limits;

use crate::args::RenderArguments;
use crate::error::CommandError;
use crate::executor::desired::{self, read_repository};
use crate::executor::local::local_unit;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn render(
    arguments: &RenderArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let (tree, units) = if let Some(environment) = &arguments.environment {
        let tree = windlass_render::read_directory(&arguments.dir)?;
        let units = windlass_render::units(&tree, &read_repository(&tree)?, environment)?;
        (tree, units)
    } else {
        let (tree, unit) = local_unit(&arguments.dir, arguments.root.as_deref())?;
        (tree, vec![unit])
    };
    let rendering = desired::render(&tree, &units, surroundings, &Limits::default(), &HashMap::new()).await?;
    for warning in &rendering.warnings {
        shell.talk(&format!("warning: {}\n", windlass_report::clean(warning)));
    }
    let bodies = bodies(&rendering, arguments.show_secrets);
    let document = || json!({"renderer": rendering.renderer, "digest": rendering.digest, "objects": bodies});
    if shell.is_json() {
        shell.result("", document, ExitCode::Ok);
    } else {
        // Meant for other programs: not a byte may change.
        shell.data(&to_yaml(&bodies)?);
    }
    Ok(ExitCode::Ok)
}

fn bodies(rendering: &Rendering, show_secrets: bool) -> Vec<Value> {
    let shown = |object: &Object| {
        let kind = &object.reference().kind;
        if is_secret_kind(kind) && !show_secrets {
            mask_object(kind, object.body())
        } else {
            object.body().clone()
        }
    };
    rendering.objects().map(|(_, object)| shown(object)).collect()
}

fn to_yaml(bodies: &[Value]) -> Result<String, CommandError> {
    let mut text = String::new();
    for body in bodies {
        let yaml = serde_saphyr::to_string(body).map_err(|error| {
            CommandError::new(
                ExitCode::Error,
                format!("an object cannot be written as YAML: {error}"),
                "use --output json",
            )
        })?;
        text.push_str("---\n");
        text.push_str(&yaml);
        if !yaml.ends_with('\n') {
            text.push('\n');
        }
    }
    Ok(text)
}
