//! A webhook that really answers, over HTTPS.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

/// What a webhook says to one review.
#[derive(Debug, Clone)]
pub enum Says {
    /// This `response`, which the uid of the request is added to.
    Response(Value),
    /// Another status, or a body that is no review.
    Raw {
        /// The HTTP status.
        status: u16,
        /// The body.
        body: String,
    },
    /// Nothing, until the server gives up.
    Nothing,
}

impl Says {
    /// Takes the object as it is.
    pub fn yes() -> Self {
        Self::Response(json!({"allowed": true}))
    }

    /// Takes the object, changed by a JSON patch.
    pub fn patched(operations: &Value) -> Self {
        let patch = STANDARD.encode(operations.to_string());
        Self::Response(json!({"allowed": true, "patchType": "JSONPatch", "patch": patch}))
    }

    /// Denies the object with this code and message.
    pub fn no(code: u16, message: &str) -> Self {
        Self::Response(json!({"allowed": false, "status": {"code": code, "message": message}}))
    }

    /// Adds warnings to a response.
    #[must_use]
    pub fn warning(self, texts: &[&str]) -> Self {
        match self {
            Self::Response(mut response) => {
                response["warnings"] = json!(texts);
                Self::Response(response)
            }
            other => other,
        }
    }

    /// Converts the objects of a ConversionReview: each gets the version that is asked for, and then what `change` does.
    pub fn converted(review: &Value, change: impl Fn(&mut Value)) -> Self {
        let request = &review["request"];
        let objects = request["objects"].as_array().cloned().unwrap_or_default();
        let convert = |mut object: Value| {
            object["apiVersion"] = request["desiredAPIVersion"].clone();
            change(&mut object);
            object
        };
        let objects: Vec<Value> = objects.into_iter().map(convert).collect();
        Self::Response(json!({"convertedObjects": objects, "result": {"status": "Success"}}))
    }

    /// Refuses to convert.
    pub fn not_converted(message: &str) -> Self {
        Self::Response(json!({"convertedObjects": [], "result": {"status": "Failure", "message": message}}))
    }
}

type Answerer = Box<dyn Fn(&Value) -> Says + Send>;

/// A server of admission and conversion reviews. It shows the certificate of the control plane itself, which is one for
/// this machine.
pub struct Webhook {
    url: String,
    bundle: String,
    shared: Arc<Shared>,
}

struct Shared {
    answerer: Mutex<Answerer>,
    reviews: Mutex<Vec<Value>>,
}

impl Webhook {
    /// Starts one for the control plane of this kubeconfig; it ends with the process.
    pub fn start(kubeconfig: &Path, answer: impl Fn(&Value) -> Says + Send + 'static) -> Self {
        rustls::crypto::ring::default_provider().install_default().ok();
        let keys = kubeconfig.with_file_name("pki");
        let certificate = CertificateDer::from_pem_file(keys.join("apiserver.crt")).unwrap();
        let key = PrivateKeyDer::from_pem_file(keys.join("apiserver.key")).unwrap();
        let config =
            ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/review", listener.local_addr().unwrap());
        let bundle = STANDARD.encode(std::fs::read(keys.join("ca.crt")).unwrap());
        let shared =
            Arc::new(Shared { answerer: Mutex::new(Box::new(answer)), reviews: Mutex::new(Vec::new()) });
        let (config, serving) = (Arc::new(config), shared.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (config, shared) = (config.clone(), serving.clone());
                // A client that goes away is no fault of the test.
                std::thread::spawn(move || serve(stream, config, &shared).ok());
            }
        });
        Self { url, bundle, shared }
    }

    /// Returns the `clientConfig` of a webhook that is this one.
    pub fn client(&self) -> Value {
        json!({"url": self.url, "caBundle": self.bundle})
    }

    /// Answers in another way from now on; no configuration of the cluster tells.
    pub fn answer_with(&self, answer: impl Fn(&Value) -> Says + Send + 'static) {
        *self.shared.answerer.lock().unwrap() = Box::new(answer);
    }

    /// Returns the reviews that were asked for since the last call.
    pub fn reviews(&self) -> Vec<Value> {
        std::mem::take(&mut *self.shared.reviews.lock().unwrap())
    }

    /// Returns a configuration of one webhook, `NAME.windlass.dev`, of a kind such as `Mutating`, that asks this one about
    /// resources of the core group, `apps` and `batch` in the namespaces of a selector.
    pub fn configuration(&self, kind: &str, name: &str, resources: &[&str], namespaces: &Value) -> Value {
        json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": format!("{kind}WebhookConfiguration"),
            "metadata": {"name": name}, "webhooks": [{
                "name": format!("{name}.windlass.dev"), "admissionReviewVersions": ["v1"], "sideEffects": "None",
                "failurePolicy": "Fail", "timeoutSeconds": 2, "clientConfig": self.client(), "namespaceSelector": namespaces,
                "rules": [{"apiGroups": ["", "apps", "batch"], "apiVersions": ["v1"], "operations": ["*"],
                    "resources": resources}]}]})
    }
}

/// Answers the one request of a connection.
fn serve(stream: TcpStream, config: Arc<ServerConfig>, shared: &Shared) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(connection, stream));
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let review: Value = serde_json::from_slice(&body)?;
    let says = (shared.answerer.lock().unwrap())(&review);
    shared.reviews.lock().unwrap().push(review.clone());
    let (status, body) = match says {
        Says::Response(mut response) => {
            response["uid"] = review["request"]["uid"].clone();
            let kind = (&review["apiVersion"], &review["kind"]);
            (200, json!({"apiVersion": kind.0, "kind": kind.1, "response": response}).to_string())
        }
        Says::Raw { status, body } => (status, body),
        // The server closes the connection when it has waited for long enough.
        Says::Nothing => return reader.read_to_end(&mut Vec::new()).map(drop),
    };
    let stream = reader.get_mut();
    let head = format!(
        "HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    stream.conn.send_close_notify();
    stream.flush()
}
