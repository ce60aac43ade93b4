//! How a call of the binary ended.

use std::fmt;

use serde_json::Value;

/// How a call of the binary ended: exit code and what it wrote.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The command line.
    pub command: String,
    /// The exit code; minus the signal's number if a signal ended it.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { command, code, stdout, stderr } = self;
        write!(f, "$ {command}\n--- exit code {code}\n--- stdout\n{stdout}\n--- stderr\n{stderr}")
    }
}

impl Outcome {
    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "exit code\n{self}");
        self
    }

    /// Asserts that everything went well.
    #[track_caller]
    pub fn ok(&self) -> &Self {
        self.exits(0)
    }

    /// Asserts that a text was written, to either stream.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Self {
        assert!(self.all().contains(text), "`{text}` is not said\n{self}");
        self
    }

    /// Asserts that one of these texts was written, to either stream, in whatever case.
    #[track_caller]
    pub fn says_one_of(&self, texts: &[&str]) -> &Self {
        let all = self.all().to_lowercase();
        assert!(
            texts.iter().any(|text| all.contains(&text.to_lowercase())),
            "none of {texts:?} is said\n{self}"
        );
        self
    }

    /// Asserts that a text was written to neither stream.
    #[track_caller]
    pub fn never_says(&self, text: &str) -> &Self {
        assert!(!self.all().contains(text), "`{text}` is said\n{self}");
        self
    }

    /// Asserts a refusal that a person can act on: the exit code, each of the texts, and what to do.
    #[track_caller]
    pub fn refuses(&self, code: i32, texts: &[&str]) -> &Self {
        self.exits(code);
        for text in texts {
            self.says(text);
        }
        assert!(self.stderr.contains("hint:"), "nothing says what to do\n{self}");
        self
    }

    /// Returns standard output as the one JSON document that it must be.
    #[track_caller]
    pub fn json(&self) -> Value {
        match serde_json::from_str(&self.stdout) {
            Ok(value) => value,
            Err(error) => panic!("standard output is not one JSON document: {error}\n{self}"),
        }
    }

    /// Returns the id of the run, by which its requests can be told from others.
    #[track_caller]
    pub fn run_id(&self) -> &str {
        let folder = self.stderr.lines().find_map(|line| line.strip_prefix("report: "));
        let id = folder.and_then(|folder| folder.rsplit('/').next());
        id.unwrap_or_else(|| panic!("no report is named\n{self}"))
    }

    /// Returns both streams.
    pub fn all(&self) -> String {
        format!("{}\n{}", self.stdout, self.stderr)
    }
}
