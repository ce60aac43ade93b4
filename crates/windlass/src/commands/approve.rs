//! `windlass approve`: sign the digest of a plan's effects.

use std::io::{BufRead as _, IsTerminal as _};

use serde_json::{Value, json};
use windlass_approve::{Consent, TYPED_DIGITS, new_nonce};
use windlass_model::ExitCode;
use windlass_trust::sshsig::{SigningError, SigningKey};

use crate::args::ApproveArguments;
use crate::error::CommandError;
use crate::executor::papers;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) fn approve(
    arguments: &ApproveArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let text = std::fs::read(&arguments.plan).map_err(|error| CommandError::file(&arguments.plan, &error))?;
    let plan: Value = serde_json::from_slice(&text).map_err(|error| {
        let what = format!("{} is not JSON: {error}", arguments.plan.display());
        CommandError::new(
            ExitCode::BadInput,
            what,
            "name the file plan.json that `windlass plan --out` wrote",
        )
    })?;
    let key = read_key(arguments, surroundings)?;
    let nonce = new_nonce();
    let consent = Consent {
        approver: &arguments.approver,
        reason: arguments.reason.as_deref(),
        now: surroundings.clock().now(),
        valid_for: arguments.valid_for,
        nonce: &nonce,
    };
    let signed = windlass_approve::sign(&plan, &consent, &key)?;
    let approval = &signed.approval;
    shell.talk(&windlass_report::plan_document_text(&plan, shell.palette()));
    shell.talk(&format!(
        "commit {}\nenvironment {}\neffects {}\nchange digest {}\n",
        approval.subject["commit"].as_str().unwrap_or("none"),
        approval.subject["environment"].as_str().unwrap_or("none"),
        approval.effects.len(),
        approval.change_digest,
    ));
    if !arguments.yes {
        confirm(&approval.change_digest.hex(), shell)?;
    }
    let name = signed.file_name();
    papers::write(&arguments.out, &name, &signed.to_text())?;
    let path = arguments.out.join(&name);
    let document =
        || json!({"file": path, "changeDigest": approval.change_digest, "approver": approval.approver});
    shell.result(&format!("{}\n", path.display()), document, ExitCode::Ok);
    Ok(ExitCode::Ok)
}

/// Reads the key. The passphrase of an encrypted one comes from `WINDLASS_KEY_PASSPHRASE`.
fn read_key(arguments: &ApproveArguments, surroundings: &Surroundings) -> Result<SigningKey, CommandError> {
    let bytes = std::fs::read(&arguments.key).map_err(|error| CommandError::file(&arguments.key, &error))?;
    let passphrase = surroundings.variable("WINDLASS_KEY_PASSPHRASE").map(str::as_bytes);
    SigningKey::from_openssh(&bytes, passphrase).map_err(|error: SigningError| {
        let what = format!("{}: {error}", arguments.key.display());
        CommandError::new(ExitCode::BadInput, what, error.hint())
    })
}

/// Has the approver type the beginning of the digest: an approval is not given by pressing return.
fn confirm(digest: &str, shell: Shell) -> Result<(), CommandError> {
    let refuse = |what: &str| CommandError::new(ExitCode::ApprovalRequired, what, "nothing was signed");
    if !std::io::stdin().is_terminal() {
        return Err(
            refuse("the digest cannot be asked for: standard input is no terminal").hint("scripts add --yes")
        );
    }
    shell.talk(&format!("Type the first {TYPED_DIGITS} digits of the change digest to sign: "));
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).map_err(|error| refuse(&error.to_string()))?;
    let typed = line.trim().to_lowercase();
    if typed.len() >= TYPED_DIGITS && digest.starts_with(&typed) {
        Ok(())
    } else {
        Err(refuse("not approved"))
    }
}
