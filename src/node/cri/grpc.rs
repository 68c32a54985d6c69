//! gRPC over a Unix socket: one HTTP/2 request, a frame each way, a status.

use bytes::{Buf, Bytes};
use prost::Message;
use tokio::net::UnixStream;

/// The longest answer that is taken, in bytes: what gRPC takes unless told otherwise.
const LIMIT: usize = 4 << 20;

/// Why a call gave no message.
#[derive(Debug)]
pub(super) enum Failed {
    /// This service is not offered: CRI is off, or this is another version of it.
    UnknownService,
    /// The service is there, the method is not.
    Unimplemented,
    Denied,
    /// Any other status, or a peer that does not speak gRPC.
    Other(String),
}

pub(super) struct Client {
    send: h2::client::SendRequest<Bytes>,
    pub(super) service: &'static str,
}

impl Client {
    pub(super) async fn new(stream: UnixStream) -> Result<Client, String> {
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(1 << 20).initial_connection_window_size(1 << 20).enable_push(false);
        let (send, connection) = builder.handshake(stream).await.map_err(|e| e.to_string())?;
        // ends with the runtime
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(Client { send, service: "runtime.v1.RuntimeService" })
    }

    pub(super) async fn call<R: Message + Default>(
        &mut self,
        method: &str,
        request: &impl Message,
    ) -> Result<R, Failed> {
        let body = request.encode_to_vec();
        let mut frame = vec![0];
        frame.extend(u32::try_from(body.len()).unwrap_or(0).to_be_bytes());
        frame.extend(body);
        let reply = self.exchange(method, frame.into()).await?;
        R::decode(reply).map_err(|e| Failed::Other(e.to_string()))
    }

    async fn exchange(&mut self, method: &str, frame: Bytes) -> Result<Bytes, Failed> {
        let other = |e: h2::Error| Failed::Other(e.to_string());
        let request = http::Request::post(format!("http://localhost/{}/{method}", self.service))
            .version(http::Version::HTTP_2)
            .header("te", "trailers")
            .header("content-type", "application/grpc")
            .body(())
            .map_err(|e| Failed::Other(e.to_string()))?;
        let mut send = self.send.clone().ready().await.map_err(other)?;
        let (response, mut body) = send.send_request(request, false).map_err(other)?;
        body.send_data(frame, true).map_err(other)?;
        let response = response.await.map_err(other)?;
        if let Some(status) = response.headers().get("grpc-status") {
            judge(status, response.headers())?;
        }
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        while let Some(chunk) = body.data().await {
            let chunk = chunk.map_err(other)?;
            let _ = body.flow_control().release_capacity(chunk.len());
            bytes.extend_from_slice(&chunk);
            if bytes.len() > LIMIT {
                return Err(Failed::Other("the answer is too long".to_owned()));
            }
        }
        if let Some(trailers) = body.trailers().await.map_err(other)?
            && let Some(status) = trailers.get("grpc-status")
        {
            judge(status, &trailers)?;
        }
        message(bytes.into())
    }
}

/// What the first frame holds.
pub(super) fn message(mut bytes: Bytes) -> Result<Bytes, Failed> {
    if bytes.len() < 5 {
        return Err(Failed::Other("the answer is empty".to_owned()));
    }
    let (packed, length) = (bytes.get_u8(), bytes.get_u32() as usize);
    match (packed, bytes.len() >= length) {
        (0, true) => Ok(bytes.split_to(length)),
        (0, false) => Err(Failed::Other("the answer breaks off".to_owned())),
        _ => Err(Failed::Other("the answer is compressed".to_owned())),
    }
}

/// What a gRPC status says; zero is success.
fn judge(status: &http::HeaderValue, headers: &http::HeaderMap) -> Result<(), Failed> {
    let message = headers.get("grpc-message").map(|m| unescape(m.as_bytes())).unwrap_or_default();
    match status.to_str().unwrap_or("") {
        "0" => Ok(()),
        "7" => Err(Failed::Denied),
        "12" if message.contains("unknown service") => Err(Failed::UnknownService),
        "12" => Err(Failed::Unimplemented),
        code => Err(Failed::Other(format!("code {code}: {message}"))),
    }
}

/// `%XX` of grpc-message.
pub(super) fn unescape(text: &[u8]) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut i = 0;
    while i < text.len() {
        let hex = text.get(i + 1..i + 3).and_then(|h| std::str::from_utf8(h).ok());
        match hex.and_then(|h| u8::from_str_radix(h, 16).ok()).filter(|_| text[i] == b'%') {
            Some(byte) => {
                out.push(byte);
                i += 3;
            }
            None => {
                out.push(text[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
