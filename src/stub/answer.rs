//! Answers: status, headers and body, in the words of a vendor.

use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Bytes, Frame};
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Response, StatusCode};
use tokio::sync::mpsc::Receiver;

use super::clock::unix_seconds;
use super::ear::Error;
use super::owner::Stand;
use super::vendor::{Endpoint, Vendor, fill, http_date, text};
use crate::header::{HeaderValue as Wait, Kind};
use crate::server::Tokens;
use crate::units::Span;

/// The body of an answer: one piece, or pieces as they come.
pub enum Body {
    /// All of it.
    Whole(Option<Bytes>),
    /// Pieces.
    Pieces(Receiver<Bytes>),
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.get_mut() {
            Body::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Body::Pieces(pieces) => {
                pieces.poll_recv(context).map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Body::Whole(None))
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        match self {
            Body::Whole(bytes) => {
                hyper::body::SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64)
            }
            Body::Pieces(_) => hyper::body::SizeHint::default(),
        }
    }
}

/// Most words of an answer that are written out; what is counted is what was asked for.
const MOST_WORDS: u64 = 4_096;

/// So many tokens as text.
pub fn words(tokens: u64) -> String {
    "word ".repeat(tokens.min(MOST_WORDS) as usize)
}

/// One request of a vendor, as its answer names it.
pub struct Named<'v> {
    /// The vendor.
    pub vendor: &'v Vendor,
    /// Its number.
    pub ticket: u64,
    /// The headers of limits.
    pub headers: HeaderMap,
}

impl<'v> Named<'v> {
    /// An attempt that has this number.
    pub fn new(vendor: &'v Vendor, ticket: u64) -> Named<'v> {
        Named { vendor, ticket, headers: HeaderMap::new() }
    }

    /// The name of the request, as vendors give one to each attempt.
    pub fn request_id(&self) -> String {
        format!("{}{:022x}", self.vendor.request_id.prefix, self.ticket)
    }

    /// Where the client stands with its limits.
    pub fn stands(&mut self, stands: &[Stand]) {
        for stand in stands {
            let Stand { kind, numbers, whole_in } = *stand;
            for (name, value) in self.vendor.limit_headers(kind, numbers, whole_in, unix_seconds())
            {
                put(&mut self.headers, name, &value);
            }
        }
    }

    /// An answer of this kind of content.
    pub fn respond(&self, status: u16, content: &'static str, body: Body) -> Response<Body> {
        let mut response = Response::new(body);
        *response.status_mut() =
            StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.extend(self.headers.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content));
        put(headers, &self.vendor.request_id.header, &self.request_id());
        response
    }

    /// An error.
    pub fn error(&self, error: &Error) -> Response<Body> {
        let kind = error.stated.as_ref().and_then(|stated| stated.error_code.as_deref());
        let body = self.vendor.error(error.status, kind, &self.request_id());
        let mut response = self.respond(error.status, "application/json", whole(body));
        let headers = response.headers_mut();
        if let Some(wait) = error.wait {
            let (name, value) = retry_after(wait);
            put(headers, name, &value);
        }
        if let Some(stated) = &error.stated {
            let waits =
                [("retry-after", &stated.retry_after), ("retry-after-ms", &stated.retry_after_ms)];
            for (name, value) in waits {
                if let Some(value) = value {
                    put(headers, name, &on_the_wire(value));
                }
            }
            if let Some(should) = stated.should_retry {
                put(headers, "x-should-retry", if should { "true" } else { "false" });
            }
        }
        response
    }

    /// An error with a sentence of its own.
    pub fn refuse(&self, status: u16, sentence: &str) -> Response<Body> {
        let body = self.vendor.error(status, None, &self.request_id());
        let value = serde_json::from_str::<serde_json::Value>(&body).map(|mut value| {
            value["error"]["message"] = sentence.into();
            value.to_string()
        });
        self.respond(status, "application/json", whole(value.unwrap_or(body)))
    }
}

/// A body in one piece.
pub fn whole(text: String) -> Body {
    Body::Whole(Some(Bytes::from(text)))
}

fn put(headers: &mut HeaderMap, name: &str, value: &str) {
    let pair = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
    if let (Ok(name), Ok(value)) = pair {
        headers.insert(name, value);
    }
}

/// The header that names a wait: whole seconds, or milliseconds where they are not whole.
fn retry_after(wait: Span) -> (&'static str, String) {
    match wait.nanos() % 1_000_000_000 {
        0 => ("retry-after", (wait.nanos() / 1_000_000_000).to_string()),
        _ => ("retry-after-ms", (wait.nanos() as f64 / 1e6).to_string()),
    }
}

/// A header's value as it stands in a scenario, a date worked out.
fn on_the_wire(value: &Wait) -> String {
    match value.kind() {
        Kind::Date { offset } => {
            let nanos = i128::from(unix_seconds()) * 1_000_000_000 + i128::from(offset);
            http_date(u64::try_from(nanos / 1_000_000_000).unwrap_or(0))
        }
        _ => value.to_string(),
    }
}

/// What an answer is made of.
pub struct Content<'v> {
    /// Its shape.
    pub endpoint: &'v Endpoint,
    /// The model that was asked for.
    pub model: String,
    /// Most tokens that were asked for.
    pub most: Option<u64>,
    /// The tokens.
    pub tokens: Tokens,
}

impl Content<'_> {
    /// The words that every template of an answer knows.
    pub fn words(&self, named: &Named<'_>) -> Vec<(&'static str, String)> {
        let Tokens { input, cached, output } = self.tokens;
        let cut = self.most.is_some_and(|most| output >= most);
        let endpoint = self.endpoint;
        let stop = if cut { &endpoint.cut } else { &endpoint.whole };
        let why = endpoint.cut_why.clone().filter(|_| cut);
        vec![
            ("id", text(&format!("{}{:024x}", endpoint.id, named.ticket))),
            ("item", text(&format!("msg_{:024x}", named.ticket))),
            ("model", text(&self.model)),
            ("created", unix_seconds().to_string()),
            ("stop", text(stop)),
            ("stop_word", stop.clone()),
            ("stop_event", text(&format!("response.{stop}"))),
            ("cut_why", why.unwrap_or("null".to_owned())),
            ("most", self.most.map_or("null".to_owned(), |most| most.to_string())),
            ("input", input.to_string()),
            ("cached", cached.to_string()),
            ("output", output.to_string()),
            ("total", (input + output).to_string()),
            ("request_id", text(&named.request_id())),
        ]
    }

    /// The whole answer as one document.
    pub fn document(&self, named: &Named<'_>) -> String {
        let mut words_ = self.words(named);
        words_.push(("text", text(&words(self.tokens.output))));
        fill(&self.endpoint.answer, &words_)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_whole_seconds_or_milliseconds() {
        assert_eq!(retry_after(Span::from_seconds(2)), ("retry-after", "2".to_owned()));
        let half = Span::from_nanos(500_000_000);
        assert_eq!(retry_after(half), ("retry-after-ms", "500".to_owned()));
    }

    #[test]
    fn answers_are_json_of_their_vendor() {
        for vendor in &Vendor::all().unwrap() {
            for path in ["/v1/messages", "/v1/chat/completions", "/v1/responses"] {
                let Some(endpoint) = vendor.endpoint(path) else { continue };
                let named = Named::new(vendor, 7);
                for most in [None, Some(3)] {
                    let tokens = Tokens { input: 10, cached: 0, output: 3 };
                    let model = "a \"model\"".to_owned();
                    let content = Content { endpoint, model, most, tokens };
                    let document = content.document(&named);
                    assert!(!document.contains('$'), "{document}");
                    let json: serde_json::Value = serde_json::from_str(&document).unwrap();
                    assert_eq!(json["model"], "a \"model\"");
                    assert!(json["usage"].to_string().contains('3'));
                }
            }
        }
    }
}
