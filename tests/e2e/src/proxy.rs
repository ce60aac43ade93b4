//! A way to the API server on which a test sees every request, and decides what becomes of it.

use std::fmt;
use std::io::{self, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use crate::wire::{Head, carry_body};
use crate::{Bed, Process, World, until};

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is carried out and answered.
    Passes,
    /// The proxy answers it in the server's place, with a status and how many seconds to wait.
    Refused(u16, Option<u32>),
    /// The connection breaks before the server sees it.
    Lost,
    /// It is carried out, and the connection breaks instead of an answer.
    AnswerLost,
    /// It is carried out and not answered, while the connection stays.
    AnswerLate,
    /// Nothing goes on from here, this request included, until [`Proxy::thaw`].
    FreezesBefore,
    /// It is carried out, and then nothing goes on until [`Proxy::thaw`].
    FreezesAfter,
}

/// A request as the proxy saw it.
#[derive(Debug, Clone)]
pub struct Sight {
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
    /// What follows the path's question mark.
    pub query: String,
    /// The body, if it is JSON.
    pub body: Value,
}

impl fmt::Display for Sight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

impl Sight {
    /// Says whether the request is meant to change something.
    pub fn writes(&self) -> bool {
        self.method != "GET" && !self.query.contains("dryRun=All") && !self.path.contains("/selfsubject")
    }

    /// Says whether it only shows that a lock's holder lives: how often that happens is a matter of time.
    pub fn renews_lock(&self) -> bool {
        let spec = &self.body["spec"];
        self.path.contains("/leases")
            && spec["holderIdentity"].is_string()
            && spec["acquireTime"] != spec["renewTime"]
    }

    /// Returns the last part of the path: a name, or the kind of what is created.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }
}

type Rule = Box<dyn FnMut(&Sight) -> Fate + Send>;

/// A proxy on plain HTTP before the API server.
pub struct Proxy {
    address: String,
    shared: Arc<Shared>,
}

struct Shared {
    server: String,
    tls: Arc<ClientConfig>,
    state: Mutex<State>,
    thawed: Condvar,
}

struct State {
    rule: Rule,
    seen: Vec<Sight>,
    /// Whether nothing that comes is let pass.
    frozen: bool,
    /// Whether what the frozen request was to bring about has come about.
    reached: bool,
    /// How often the proxy was thawed: whoever waits for it leaves.
    thaws: usize,
}

impl Proxy {
    /// Starts a proxy that lets everything pass.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let rule: Rule = Box::new(|_| Fate::Passes);
        let state = State { rule, seen: Vec::new(), frozen: false, reached: false, thaws: 0 };
        let shared = Arc::new(Shared {
            server: server(),
            tls: tls(),
            state: Mutex::new(state),
            thawed: Condvar::new(),
        });
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().filter_map(Result::ok) {
                let shared = Arc::clone(&serving);
                // A connection that breaks is what this proxy is for.
                std::thread::spawn(move || shared.serve(client).ok());
            }
        });
        Self { address, shared }
    }

    /// Sends a world's calls through this proxy.
    pub fn stands_before(&self, world: &mut World) {
        let kubeconfig = std::fs::read_to_string(Bed::get().identity("windlass-run")).unwrap();
        let direct = format!("https://{}", self.shared.server);
        let file: PathBuf = world.path("proxied.kubeconfig");
        std::fs::write(&file, kubeconfig.replace(&direct, &format!("http://{}", self.address))).unwrap();
        world.configure(|settings| settings["cluster"]["kubeconfig"] = serde_json::json!(file));
    }

    /// Decides by a rule from now on, and forgets what was seen.
    pub fn decide(&self, rule: impl FnMut(&Sight) -> Fate + Send + 'static) {
        let mut state = self.shared.state();
        state.rule = Box::new(rule);
        state.seen.clear();
    }

    /// Lets everything pass from now on, and forgets what was seen.
    pub fn pass(&self) {
        self.decide(|_| Fate::Passes);
    }

    /// Returns the requests since the rule was set, in the order in which they came.
    pub fn seen(&self) -> Vec<Sight> {
        self.shared.state().seen.clone()
    }

    /// Returns the methods of the requests about what has this name, without dry-runs.
    pub fn methods(&self, name: &str) -> Vec<String> {
        let seen = self.seen().into_iter();
        let about = seen.filter(|sight| sight.name() == name && !sight.query.contains("dryRun=All"));
        about.map(|sight| sight.method).collect()
    }

    /// Waits until the proxy is frozen; says `false` if the process ended before.
    pub fn freezes(&self, process: &mut Process) -> bool {
        until(120, "the request at which everything stops, or the end of the run", || {
            let runs = process.runs();
            if self.shared.state().reached { Some(true) } else { (!runs).then_some(false) }
        })
    }

    /// Breaks all connections on which something was held, and lets everything pass.
    pub fn thaw(&self) {
        self.pass();
        let mut state = self.shared.state();
        (state.frozen, state.reached) = (false, false);
        state.thaws += 1;
        self.shared.thawed.notify_all();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.thaw();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves one connection until it breaks, by chance or by a rule.
    fn serve(&self, client: TcpStream) -> io::Result<()> {
        client.set_nodelay(true)?;
        let mut answers = client.try_clone()?;
        let mut requests = BufReader::new(client);
        let mut upstream = None;
        while let Some(head) = Head::read(&mut requests)? {
            let mut body = Vec::new();
            carry_body(&head, &mut requests, &mut body)?;
            let Some(fate) = self.fate(&sight(&head, &body)) else {
                self.hold(false);
                break;
            };
            match fate {
                Fate::Lost => break,
                Fate::FreezesBefore => {
                    self.hold(true);
                    break;
                }
                Fate::Refused(code, retry_after) => {
                    answers.write_all(refusal(code, retry_after).as_bytes())?;
                    continue;
                }
                Fate::Passes | Fate::AnswerLost | Fate::AnswerLate | Fate::FreezesAfter => {}
            }
            let server = match &mut upstream {
                Some(server) => server,
                none => none.insert(BufReader::new(self.connect()?)),
            };
            let request = [head.text.as_bytes(), &body].concat();
            server.get_mut().write_all(&request)?;
            server.get_mut().flush()?;
            let Some(head) = Head::read(server)? else { break };
            if fate != Fate::Passes {
                carry_body(&head, server, &mut io::sink())?;
                if fate != Fate::AnswerLost {
                    self.hold(fate == Fate::FreezesAfter);
                }
                break;
            }
            answers.write_all(head.text.as_bytes())?;
            carry_body(&head, server, &mut answers)?;
        }
        Ok(())
    }

    /// Decides what becomes of a request, one at a time; `None` once everything is frozen.
    fn fate(&self, sight: &Sight) -> Option<Fate> {
        let mut state = self.state();
        if state.frozen {
            return None;
        }
        let fate = (state.rule)(sight);
        state.seen.push(sight.clone());
        state.frozen = matches!(fate, Fate::FreezesBefore | Fate::FreezesAfter);
        Some(fate)
    }

    /// Keeps the connection, without a word, until the proxy is thawed.
    fn hold(&self, reached: bool) {
        let mut state = self.state();
        state.reached |= reached;
        let thaws = state.thaws;
        drop(self.thawed.wait_while(state, |state| state.thaws == thaws));
    }

    fn connect(&self) -> io::Result<StreamOwned<ClientConnection, TcpStream>> {
        let name = ServerName::try_from("127.0.0.1").map_err(io::Error::other)?;
        let session = ClientConnection::new(Arc::clone(&self.tls), name).map_err(io::Error::other)?;
        let stream = TcpStream::connect(&self.server)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_mins(6)))?;
        Ok(StreamOwned::new(session, stream))
    }
}

fn sight(head: &Head, body: &[u8]) -> Sight {
    let mut words = head.words();
    let method = words.next().unwrap_or_default().to_owned();
    let target = words.next().unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let body = serde_json::from_slice(body).unwrap_or_default();
    Sight { method, path: path.to_owned(), query: query.to_owned(), body }
}

fn refusal(code: u16, retry_after: Option<u32>) -> String {
    let reason = if code == 429 { "TooManyRequests" } else { "ServiceUnavailable" };
    let body = serde_json::json!({
        "apiVersion": "v1", "kind": "Status", "status": "Failure", "code": code, "reason": reason,
        "message": "the proxy of this test has had enough",
    });
    let body = body.to_string();
    let wait = retry_after.map(|seconds| format!("Retry-After: {seconds}\r\n")).unwrap_or_default();
    format!(
        "HTTP/1.1 {code} No\r\nContent-Type: application/json\r\n{wait}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Returns host and port of the API server.
fn server() -> String {
    let kubeconfig = std::fs::read_to_string(Bed::get().identity("windlass-run")).unwrap();
    let (_, rest) = kubeconfig.split_once("server: https://").unwrap();
    rest.lines().next().unwrap().trim().to_owned()
}

fn tls() -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(Bed::get().ca().as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_root_certificates(roots).with_no_client_auth())
}
