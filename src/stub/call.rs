//! Who calls, and for what: paths, headers and bodies of requests.
//!
//! | what | where |
//! | --- | --- |
//! | client | `/c/NAME` before the vendor's path, or the header `x-retrylab-client` |
//! | provider | `/p/NAME` before the vendor's path; the first one without it |
//! | request | the header `x-retrylab-request` or `idempotency-key`, or else see [`super::requests`] |
//! | attempt | the header `x-stainless-retry-count` of SDKs |

use hyper::HeaderMap;
use serde::Deserialize;

/// Longest name of a client or a request.
const LONGEST_NAME: usize = 128;

/// What a path says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The client.
    pub client: Option<String>,
    /// The provider.
    pub provider: Option<String>,
    /// The path that the vendor knows.
    pub path: String,
}

impl Route {
    /// Takes a path apart.
    pub fn of(path: &str) -> Route {
        let mut route = Route::default();
        let mut rest = path;
        loop {
            let (kind, after) = match (rest.strip_prefix("/c/"), rest.strip_prefix("/p/")) {
                (Some(after), _) => (&mut route.client, after),
                (_, Some(after)) => (&mut route.provider, after),
                _ => break,
            };
            let (name, after) = after.split_at(after.find('/').unwrap_or(after.len()));
            *kind = Some(name.to_owned());
            rest = after;
        }
        rest.clone_into(&mut route.path);
        route
    }
}

/// What headers say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The client.
    pub client: Option<String>,
    /// The request.
    pub request: Option<String>,
    /// The number of attempts before this one, as the SDK counts.
    pub retry_count: Option<u32>,
}

impl Said {
    /// Reads headers; what is too long or no text is as if it were not there.
    pub fn of(headers: &HeaderMap) -> Said {
        let get = |name: &str| {
            let text = headers.get(name)?.to_str().ok()?;
            (text.len() <= LONGEST_NAME && !text.is_empty()).then(|| text.to_owned())
        };
        Said {
            client: get("x-retrylab-client"),
            request: get("x-retrylab-request").or_else(|| get("idempotency-key")),
            retry_count: get("x-stainless-retry-count").and_then(|count| count.parse().ok()),
        }
    }
}

/// What matters of a body.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct Body {
    /// The model.
    #[serde(default)]
    pub model: Option<String>,
    /// Whether the answer is streamed.
    #[serde(default)]
    pub stream: Option<bool>,
    #[serde(default)]
    max_tokens: Option<u64>,
    #[serde(default)]
    max_completion_tokens: Option<u64>,
    #[serde(default)]
    max_output_tokens: Option<u64>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
}

#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

impl Body {
    /// Reads a body; what is wrong with it, otherwise.
    pub fn read(bytes: &[u8]) -> Result<Body, String> {
        let body: Body = serde_json::from_slice(bytes)
            .map_err(|e| format!("could not parse the JSON body of your request: {e}"))?;
        match &body.model {
            Some(model) if model.len() <= LONGEST_NAME => Ok(body),
            Some(_) => Err("model: too long".to_owned()),
            None => Err("model: field required".to_owned()),
        }
    }

    /// Most tokens that it asks for.
    pub fn most(&self) -> Option<u64> {
        self.max_tokens.or(self.max_completion_tokens).or(self.max_output_tokens)
    }

    /// Whether the stream is to end with a count of tokens.
    pub fn counts(&self) -> bool {
        self.stream_options.as_ref().is_some_and(|options| options.include_usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_client_and_provider() {
        let some = |text: &str| Some(text.to_owned());
        let route = Route::of("/p/ra_2/c/worker-17/v1/messages");
        let path = "/v1/messages".to_owned();
        assert_eq!(route, Route { client: some("worker-17"), provider: some("ra_2"), path });
        assert_eq!(Route::of("/v1/responses").client, None);
        assert_eq!(Route::of("/c/x").path, "");
    }

    #[test]
    fn a_body_needs_a_model() {
        let body = br#"{"model":"m","max_tokens":5,"messages":[{"role":"user"}],"stream":true}"#;
        let body = Body::read(body).unwrap();
        assert_eq!((body.most(), body.stream, body.counts()), (Some(5), Some(true), false));
        assert!(Body::read(b"{}").unwrap_err().contains("model"));
        assert!(Body::read(b"{").unwrap_err().contains("JSON"));
    }
}
