//! One request on the wire: read, passed to the owner, answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::CONTENT_LENGTH;
use hyper::{HeaderMap, Method, Request, Response};
use tokio::sync::mpsc::{UnboundedReceiver, channel, unbounded_channel};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

use super::answer::{Body as Answer, Content, Named, whole};
use super::call::{Body, Route, Said};
use super::clock::{Clock, instant};
use super::ear::Word;
use super::owner::{Attempt, Command};
use super::stream::Events;
use super::vendor::{Endpoint, Vendor};
use crate::engine::Fnv;
use crate::model::Plan;
use crate::server::Tokens;

/// A body that takes longer than this is not waited for.
const SLOWEST_BODY: Duration = Duration::from_secs(30);

/// Bodies of all requests together that are in memory at once, and the largest one that does not say how
/// large it is.
const MOST_KIB: usize = 256 << 10;
const MOST_KIB_UNTOLD: usize = 1 << 10;

/// Whoever is not answered is let go after this; SDKs wait as long.
const PATIENCE: Duration = Duration::from_secs(600);

/// Pieces of a stream that wait for a slow reader.
const PIECES_AHEAD: usize = 4;

/// What all connections share.
pub struct Server {
    vendors: Vec<Vendor>,
    providers: Vec<String>,
    plan: Plan,
    clock: Clock,
    commands: Sender<Command>,
    tickets: AtomicU64,
    bodies: Semaphore,
    /// Whether prompts are as long as bodies say, not the scenario.
    from_body: bool,
}

/// The connection breaks without an answer.
#[derive(Debug, thiserror::Error)]
#[error("the scenario breaks this connection")]
pub struct Broken;

/// An attempt that the owner knows of; it is told when it is over.
struct Ticket {
    server: Arc<Server>,
    number: u64,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        // The owner may have ended.
        let _ = self.server.commands.send(Command::Gone(self.number));
    }
}

/// A request that has been read.
struct Call<'v> {
    named: Named<'v>,
    endpoint: &'v Endpoint,
    provider: usize,
    body: Body,
}

impl Server {
    /// A server for a plan whose providers have these names.
    pub fn new(
        vendors: Vec<Vendor>,
        providers: Vec<String>,
        plan: Plan,
        clock: Clock,
        commands: Sender<Command>,
        from_body: bool,
    ) -> Server {
        let (tickets, bodies) = (AtomicU64::new(1), Semaphore::new(MOST_KIB));
        Server { vendors, providers, plan, clock, commands, tickets, bodies, from_body }
    }

    /// Answers a request.
    pub async fn handle(
        self: Arc<Server>,
        request: Request<Incoming>,
    ) -> Result<Response<Answer>, Broken> {
        let server = Arc::clone(&self);
        let route = Route::of(request.uri().path());
        let number = self.tickets.fetch_add(1, Ordering::Relaxed);
        let vendors = &server.vendors;
        let found = vendors.iter().find_map(|v| Some((v, v.endpoint(&route.path)?)));
        let named = Named::new(found.map_or(&vendors[0], |(vendor, _)| vendor), number);
        let Some((_, endpoint)) = found else {
            let sentence = format!(
                "no such path: {}; there are /v1/messages, /v1/chat/completions and /v1/responses, with /c/CLIENT or /p/PROVIDER before them",
                route.path
            );
            return Ok(named.refuse(404, &sentence));
        };
        if request.method() != Method::POST {
            return Ok(named.refuse(405, "only POST is answered here"));
        }
        let Some(provider) = self.provider(&route) else {
            let sentence = format!("the providers are {}", self.providers.join(", "));
            return Ok(named.refuse(404, &sentence));
        };
        let said = Said::of(request.headers());
        let bytes = match self.read(request, named.vendor.most_bytes).await {
            Ok(bytes) => bytes,
            Err((status, sentence)) => return Ok(named.refuse(status, sentence)),
        };
        let body = match Body::read(&bytes) {
            Ok(body) => body,
            Err(sentence) => return Ok(named.refuse(400, &sentence)),
        };
        let call = Call { named, endpoint, provider, body };
        self.attempt(call, &route, said, &bytes).await
    }

    fn provider(&self, route: &Route) -> Option<usize> {
        match &route.provider {
            None => Some(0),
            Some(name) => self.providers.iter().position(|own| own == name),
        }
    }

    /// Reads the body of a request, when there is room for it.
    async fn read(
        &self,
        request: Request<Incoming>,
        most: usize,
    ) -> Result<Vec<u8>, (u16, &'static str)> {
        let told = length(request.headers());
        if told.is_some_and(|length| length > most) {
            return Err((413, "the request is larger than is allowed"));
        }
        let kib = told.map_or(MOST_KIB_UNTOLD, |length| length.div_ceil(1 << 10));
        let read = async {
            let room = self.bodies.acquire_many(kib as u32).await;
            let body = Limited::new(request.into_body(), kib << 10).collect().await;
            drop(room);
            body
        };
        match timeout(SLOWEST_BODY, read).await {
            Err(_) => Err((408, "the body of the request did not come in time")),
            Ok(Err(_)) => Err((413, "the body of the request did not come whole, or is too large")),
            Ok(Ok(body)) => Ok(body.to_bytes().to_vec()),
        }
    }

    async fn attempt(
        self: Arc<Server>,
        mut call: Call<'_>,
        route: &Route,
        said: Said,
        bytes: &[u8],
    ) -> Result<Response<Answer>, Broken> {
        let number = call.named.ticket;
        let (reply, mut words) = unbounded_channel();
        let (standing, stands) = oneshot::channel();
        let stream = call.body.stream == Some(true);
        let mut fnv = Fnv::new();
        fnv.add(said.request.as_ref().map_or(bytes, |name| name.as_bytes()));
        let attempt = Attempt {
            ticket: number,
            at: instant(),
            client: said.client.or(route.client.clone()).unwrap_or_else(|| "-".to_owned()),
            provider: call.provider as u32,
            key: (fnv.value(), said.request.is_some()),
            retry_count: said.retry_count,
            // Four letters are about a token of English.
            input: self.from_body.then_some(bytes.len() as u64 / 4),
            most: call.body.most(),
            stream,
            reply,
            standing,
        };
        let ticket = Ticket { server: Arc::clone(&self), number };
        if self.commands.send(Command::Attempt(Box::new(attempt))).is_err() {
            return Ok(call.named.refuse(503, "the stub is ending"));
        }
        if let Ok(stands) = stands.await {
            call.named.stands(&stands);
        }
        loop {
            let word = timeout(PATIENCE, words.recv()).await.ok().flatten();
            match word {
                Some(Word::Head { until, tokens }) if stream => {
                    return Ok(call.stream(ticket, words, until, tokens));
                }
                Some(Word::Answered(tokens)) => return Ok(call.answer(tokens)),
                Some(Word::Failed(error)) => return Ok(call.named.error(&error)),
                Some(Word::Head { .. } | Word::Hung(_)) => {}
                Some(Word::Reset | Word::Broken(_)) | None => return Err(Broken),
            }
        }
    }
}

fn length(headers: &HeaderMap) -> Option<usize> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

impl Call<'_> {
    fn content<'v>(&self, endpoint: &'v Endpoint, tokens: Tokens) -> Content<'v> {
        let model = self.body.model.clone().unwrap_or_default();
        Content { endpoint, model, most: self.body.most(), tokens }
    }

    fn answer(&self, tokens: Tokens) -> Response<Answer> {
        let document = self.content(self.endpoint, tokens).document(&self.named);
        self.named.respond(200, "application/json", whole(document))
    }

    /// The head of a streamed answer; what follows is sent as time goes by.
    fn stream(
        &self,
        ticket: Ticket,
        mut words: UnboundedReceiver<Word>,
        until: u64,
        tokens: Tokens,
    ) -> Response<Answer> {
        let (out, pieces) = channel(PIECES_AHEAD);
        let server = Arc::clone(&ticket.server);
        let first = server.plan.providers[self.provider].service.first(|| tokens.input);
        let pace = (server.clock.wall(first.min(until)), server.clock.wall(until));
        let (number, path) = (ticket.number, self.endpoint.path.clone());
        let (model, most) = (self.body.model.clone().unwrap_or_default(), self.body.most());
        let counts = self.body.counts();
        tokio::spawn(async move {
            let found = server.vendors.iter().find_map(|v| Some((v, v.endpoint(&path)?)));
            if let Some((vendor, endpoint)) = found {
                let content = Content { endpoint, model, most, tokens };
                let events = Events::new(content, Named::new(vendor, number), counts, out);
                events.send(pace, &mut words, PATIENCE).await;
            }
            drop(ticket);
        });
        self.named.respond(200, "text/event-stream; charset=utf-8", Answer::Pieces(pieces))
    }
}
