//! From text to settings: read, check the form, take the values, check what they mean.

#[cfg(test)]
mod ownership_tests;
#[cfg(test)]
mod tests;

use serde::de::DeserializeOwned;

use crate::error::{Mistake, SettingsError, SettingsErrors};
use crate::tree::{Node, options};
use crate::{Environment, Repository, check, shape};

impl Environment {
    /// Reads an environment file strictly: unknown keys, wrong types and values that cannot be meant are
    /// all reported, each with its place. `file` is only used in messages. Fingerprints come back as 40
    /// upper-case hex digits.
    pub fn parse(text: &str, file: &str) -> Result<Self, SettingsErrors> {
        let (mut environment, root): (Self, Node) = read(text, file, &crate::environment_schema())?;
        environment.normalise();
        let mut found = check::Findings::new(file, &root);
        check::environment(&environment, &mut found);
        found.finish().map_or(Ok(environment), Err)
    }

    fn normalise(&mut self) {
        for key in &mut self.source.keys {
            key.fingerprint =
                key.fingerprint.chars().filter(|c| *c != ' ').collect::<String>().to_uppercase();
        }
    }
}

impl Repository {
    /// Reads `windlass.yaml` strictly, see [`Environment::parse`]. An HTTP probe without a path asks `/`.
    pub fn parse(text: &str, file: &str) -> Result<Self, SettingsErrors> {
        let (mut repository, root): (Self, Node) = read(text, file, &crate::repository_schema())?;
        for http in repository.smoke.iter_mut().filter_map(|probe| probe.http.as_mut()) {
            if http.path.is_empty() {
                "/".clone_into(&mut http.path);
            }
        }
        let mut found = check::Findings::new(file, &root);
        check::repository(&repository, &mut found);
        found.finish().map_or(Ok(repository), Err)
    }
}

fn read<T: DeserializeOwned>(
    text: &str,
    file: &str,
    schema: &serde_json::Value,
) -> Result<(T, Node), SettingsErrors> {
    let unreadable = |error: &serde_saphyr::Error| SettingsErrors::only(from_reader(error, file));
    let root = Node::read(text).map_err(|error| unreadable(&error))?;
    if let Some(errors) = SettingsErrors::new(shape::check(&root, schema, file)) {
        return Err(errors);
    }
    let value = serde_saphyr::from_str_with_options(text, options()).map_err(|error| unreadable(&error))?;
    Ok((value, root))
}

fn from_reader(error: &serde_saphyr::Error, file: &str) -> SettingsError {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line().max(1), at.column().max(1)));
    let what = match error.without_snippet() {
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => {
            format!("key `{key}` is given twice")
        }
        serde_saphyr::Error::MultipleDocuments { .. } => "a second YAML document begins".to_owned(),
        other => {
            // The place stands in front already.
            let text = other.to_string();
            text.rsplit_once(" at line ").map_or(text.as_str(), |(what, _)| what).to_owned()
        }
    };
    SettingsError {
        file: file.to_owned(),
        line,
        column,
        path: String::new(),
        mistake: Mistake::Syntax { what },
    }
}
