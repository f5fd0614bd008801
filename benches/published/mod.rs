//! The published experiment that measurements of many small runs use: 1,000 clients fail together
//! against a server that always fails, and retry four times with full jitter.

use std::path::PathBuf;

use retrylab::scenario::Document;

/// thousand-clients under full jitter.
pub fn thousand_clients() -> Document {
    let text = include_str!("../../experiments/published/thousand-clients/scenario.toml");
    Document::parse("thousand-clients", text.to_owned(), PathBuf::new())
        .and_then(|document| {
            document.with(&[
                "client.layers.client.backoff.full_jitter.base=1s".to_owned(),
                "client.layers.client.backoff.full_jitter.cap=30s".to_owned(),
            ])
        })
        .expect("the experiment is a valid scenario")
}
