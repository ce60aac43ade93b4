//! TCP probes.

use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;
use windlass_settings::TcpProbe;

use super::address::Address;
use super::attempt::Miss;

/// Connects, and reads the greeting if one is expected.
pub(super) async fn attempt(address: &Address, probe: &TcpProbe) -> Result<(), Miss> {
    let port = address.port.ok_or_else(|| Miss::unusable("the address has no port"))?;
    let targets = address.resolve(port).await?;
    let connected = TcpStream::connect(targets.as_slice()).await;
    let mut stream =
        connected.map_err(|error| Miss::none(format!("{}:{port}: {error}", address.url_host())))?;
    let Some(greeting) = probe.greeting.as_deref().filter(|greeting| !greeting.is_empty()) else {
        return Ok(());
    };
    let mut got = Vec::with_capacity(greeting.len());
    let mut wanted = (&mut stream).take(greeting.len() as u64);
    let read = wanted.read_to_end(&mut got).await;
    if got == greeting.as_bytes() {
        return Ok(());
    }
    match read {
        Err(error) => Err(Miss::none(format!("the connection broke: {error}"))),
        Ok(_) if got.is_empty() => Err(Miss::wrong("the server sent no greeting")),
        Ok(_) => {
            let got = String::from_utf8_lossy(&got);
            Err(Miss::wrong(format!("the server greets with {got:?}, not with {greeting:?}")))
        }
    }
}
