//! What the documentation shows can be typed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use windlass_e2e::World;

/// Returns every Markdown file of the project, and the workflows to copy.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = vec![root.join("README.md"), root.join("tests/testbed/README.md")];
    for folder in ["docs", "pipeline", "examples"] {
        collect(&root.join(folder), &mut found);
    }
    found.into_iter().filter(|path| path.is_file()).collect()
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if path.is_dir() {
            collect(&path, found);
        } else if ["md", "yml", "yaml"].contains(&extension) {
            found.push(path);
        }
    }
}

/// Returns every call of `windlass` that is written as one: in code blocks, in backticks, in scripts.
fn calls(text: &str) -> Vec<String> {
    let mut joined = text.replace("\\\n", " ");
    // The help texts are wrapped: a flag at the end of a line has its value on the next one.
    let wrapped: Vec<String> =
        joined.lines().filter(|line| ends_with_flag(line)).map(str::to_owned).collect();
    for line in wrapped {
        joined = joined.replace(&format!("{line}\n  "), &format!("{line} "));
    }
    let mut found = Vec::new();
    let mut in_code = false;
    for line in joined.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            in_code = !in_code;
        }
        let words = line.trim_start_matches("$ ").trim_start_matches("- run: ").trim_start_matches("exec ");
        if words.starts_with("windlass ") && (in_code || line.starts_with("exec ")) {
            found.push(words.to_owned());
        } else if !in_code {
            let quoted = line.split('`').skip(1).step_by(2);
            found.extend(quoted.filter(|text| text.starts_with("windlass ")).map(str::to_owned));
        }
    }
    found
}

fn ends_with_flag(line: &str) -> bool {
    let call = line.trim_start().starts_with("windlass ");
    call && line.split_whitespace().next_back().is_some_and(|word| ["--approvals", "--to"].contains(&word))
}

/// Cuts a call off where the shell takes over, and into words without quotes.
fn words(call: &str) -> Vec<String> {
    let end = [" #", " |", " >", " &&", "   "]
        .iter()
        .filter_map(|stop| call.find(stop))
        .min()
        .unwrap_or(call.len());
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in call[..end].chars() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, ' ') => words.push(String::new()),
            _ => words.last_mut().unwrap().push(letter),
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

#[test]
fn every_call_in_the_documentation_names_a_command_and_flags_that_exist() {
    let world = World::new();
    let mut helps: BTreeMap<String, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for path in documents() {
        for call in calls(&std::fs::read_to_string(&path).unwrap()) {
            let words = words(&call);
            let command = words.get(1).cloned().unwrap_or_default();
            if !command.split('-').all(|word| word.starts_with(|letter: char| letter.is_ascii_lowercase())) {
                continue; // `windlass …`, `windlass --help`
            }
            seen += 1;
            let help = helps.entry(command.clone()).or_insert_with(|| {
                let outcome = world.call(&[&command, "--help"]);
                if outcome.code == 0 { outcome.stdout } else { String::new() }
            });
            if help.is_empty() {
                wrong.push(format!("{}: `{call}`: no such command", path.display()));
            }
            for flag in words.iter().filter(|word| word.starts_with("--")) {
                let flag = flag.split('=').next().unwrap_or_default();
                if !help.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| word == flag) {
                    wrong.push(format!("{}: `{call}`: no flag {flag}", path.display()));
                }
            }
        }
    }
    assert!(seen > 30, "only {seen} calls were found: the search may be blind");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_call_in_a_code_block_parses() {
    let world = World::new();
    let mut wrong = Vec::new();
    for path in documents().into_iter().filter(|path| path.extension().is_some_and(|e| e == "md")) {
        for call in calls(&std::fs::read_to_string(&path).unwrap()) {
            let words = words(&call);
            if words.iter().skip(1).all(|word| !word.starts_with("--"))
                || call.contains('…') && !call.contains("\"…\"")
            {
                continue; // named in a sentence, not shown as a call
            }
            // Nothing is there to be read, so that a call which parses ends with another code than 64.
            let arguments: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            let outcome = world.call(&arguments);
            if outcome.code == 64 {
                wrong.push(format!("{}: `{call}`: {}", path.display(), outcome.stderr));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_make_target_in_the_documentation_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let makefile = std::fs::read_to_string(root.join("Makefile")).unwrap();
    let mut seen = 0;
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap().replace('\n', " ");
        for (before, after) in text.match_indices("make ").map(|(at, _)| text.split_at(at)) {
            // Only what is written as a command: in backticks or at the beginning of a line of code.
            if !before.ends_with('`') {
                continue;
            }
            let target: String =
                after[5..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            seen += 1;
            assert!(makefile.contains(&format!("\n{target}:")), "{}: `make {target}`", path.display());
        }
    }
    assert!(seen > 2, "only {seen} targets were found");
}
