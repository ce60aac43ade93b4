//! SSH signatures (PROTOCOL.sshsig).

use ssh_key::{HashAlg, LineEnding, PrivateKey, PublicKey, SshSig};

pub(crate) fn sign(key: &PrivateKey, namespace: &str, message: &[u8]) -> ssh_key::Result<String> {
    key.sign(namespace, HashAlg::Sha512, message)?.to_pem(LineEnding::LF)
}

pub(crate) fn verify(
    public_key: &str,
    namespace: &str,
    message: &[u8],
    armored: &str,
) -> ssh_key::Result<()> {
    PublicKey::from_openssh(public_key)?.verify(namespace, message, &SshSig::from_pem(armored)?)
}
