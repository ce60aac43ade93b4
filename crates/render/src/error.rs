//! Why a tree cannot be rendered.

use windlass_model::Origin;
use windlass_yaml::YamlError;

/// Everything that is wrong with a tree, in the order of units and files; never empty.
#[derive(Debug, thiserror::Error)]
#[error("the tree cannot be rendered: {} problem(s), first {}", .0.len(), .0.first().map_or_else(String::new, ToString::to_string))]
pub struct RenderErrors(pub Vec<RenderError>);

/// One thing that is wrong with a tree.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A file is not YAML as Kubernetes reads it.
    #[error("{path}:{}:{}: {}", .source.line, .source.column, .source.message)]
    Yaml {
        /// The file; for rendered objects the directory, and positions are those of the renderer's output.
        path: String,
        /// Where and why.
        source: YamlError,
    },
    /// An object cannot be applied.
    #[error("{origin}: {object}: {problem}")]
    Object {
        /// Where it is written.
        origin: Origin,
        /// The object, as far as it has a name.
        object: String,
        /// What is wrong.
        problem: ObjectProblem,
    },
    /// A kustomization asks for something that is not rendered.
    #[error("{origin}: `{entry}` {problem}")]
    Kustomization {
        /// The kustomization file and the line of the entry.
        origin: Origin,
        /// The entry.
        entry: String,
        /// What is wrong with it.
        problem: &'static str,
        /// What to do about it.
        hint: &'static str,
    },
    /// The renderer failed.
    #[error("{path}: {message}")]
    Renderer {
        /// The directory that was rendered, or empty.
        path: String,
        /// What happened. At most one line of the renderer's own words, cut where objects could begin.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// A directory inside a unit is a kustomization of its own.
    #[error("{0}: a kustomization inside a unit that is read file by file")]
    NestedKustomization(String),
    /// The units do not fit the tree.
    #[error("windlass.yaml: {message}")]
    Units {
        /// What is wrong.
        message: String,
        /// What to do about it.
        hint: String,
    },
    /// A directory of the agent cannot be read.
    #[error("{path}: {message}")]
    Directory {
        /// The file or directory.
        path: String,
        /// What is wrong.
        message: String,
    },
}

impl RenderError {
    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Yaml { source, .. } => source.hint.clone(),
            Self::Object { problem, .. } => problem.hint().to_owned(),
            Self::Kustomization { hint, .. } => (*hint).to_owned(),
            Self::Renderer { hint, .. } | Self::Units { hint, .. } => hint.clone(),
            Self::NestedKustomization(_) => {
                "make it a unit of its own in windlass.yaml, or put a kustomization at the top of the unit"
                    .to_owned()
            }
            Self::Directory { .. } => "remove it, or deliver a commit instead of a directory".to_owned(),
        }
    }
}

/// Why an object cannot be applied. Never repeats a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectProblem {
    /// The document is not an object with apiVersion, kind and name.
    #[error(transparent)]
    Unusable(#[from] windlass_model::ObjectError),
    /// A name or namespace cannot be part of an address.
    #[error("`{0}` is not a legal name")]
    IllegalName(&'static str),
    /// The apiVersion has more than one slash or an empty part.
    #[error("`apiVersion` is neither `version` nor `group/version`")]
    IllegalVersion,
    /// The kind is namespaced and no namespace is given.
    #[error("no `metadata.namespace`, but the kind is namespaced")]
    NamespaceMissing,
    /// The kind is cluster-scoped and a namespace is given.
    #[error("`metadata.namespace` is given, but the kind is cluster-scoped")]
    NamespaceForbidden,
    /// Another object has the same name.
    #[error("the same object is also written in {first}")]
    Duplicate {
        /// Unit and place of the first one.
        first: String,
    },
    /// The object claims to be part of an ApplySet.
    #[error("the label `applyset.kubernetes.io/part-of` is set, which only Windlass sets")]
    PartOfLabel,
    /// The object carries what the server records.
    #[error("`metadata.managedFields` is set, which only the server sets")]
    ManagedFields,
    /// A list holds null; the API server answers with an internal error.
    #[error("`{0}` holds a null item")]
    NullItem(String),
    /// A list kind without a list of items.
    #[error("a list without `items`")]
    NoItems,
    /// A value that must be a text is something else.
    #[error("`{0}` must be a text, but {1}")]
    NotText(String, &'static str),
    /// A field that must be a mapping is something else.
    #[error("`{0}` must be a mapping")]
    NotMapping(&'static str),
    /// A value of a Secret is not base64.
    #[error("`{0}` is not base64")]
    NotBase64(String),
}

impl ObjectProblem {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unusable(_) => "give every document `apiVersion`, `kind` and `metadata.name` as texts",
            Self::IllegalName(_) => "use lower-case letters, digits, `-` and `.`",
            Self::IllegalVersion => "write `v1`, `apps/v1` or the like",
            Self::NamespaceMissing => {
                "write the namespace into the object, or set `namespace:` in the kustomization"
            }
            Self::NamespaceForbidden => "remove the namespace",
            Self::Duplicate { .. } => "keep one of the two",
            Self::PartOfLabel => "remove the label; Windlass sets it for the unit that holds the object",
            Self::ManagedFields => {
                "remove what a live object carries: managedFields, resourceVersion, uid, status"
            }
            Self::NullItem(_) => "remove the item, or give it a value",
            Self::NoItems => "write the objects one by one, separated by `---`",
            Self::NotText(..) => "put the value in quotes",
            Self::NotMapping(_) => "write `key: value` pairs",
            Self::NotBase64(_) => "put plain text under `stringData`",
        }
    }
}
