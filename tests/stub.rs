//! The stub on the wire: what it answers, what it logs, and what it bears.
#![cfg(feature = "stub")]

mod command;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use command::{retrylab, run};
use serde_json::Value;

/// A stub at work, and its folder.
struct Stub {
    home: tempfile::TempDir,
    child: Child,
    port: u16,
}

/// An answer.
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }

    /// The JSON of the events of a stream.
    fn events(&self) -> Vec<Value> {
        let data = self.body.split('\n').filter_map(|line| line.strip_prefix("data: "));
        data.filter(|d| *d != "[DONE]").map(|d| serde_json::from_str(d).unwrap()).collect()
    }
}

impl Stub {
    fn start(scenario: &str, options: &[&str]) -> Stub {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("scenario.toml"), scenario).unwrap();
        let mut command = retrylab(home.path());
        command.args(["stub", "scenario.toml", "--json", "-q", "-o", "wire.csv"]).args(options);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let port = told["port"].as_u64().unwrap() as u16;
        assert_eq!(told["url"], format!("http://127.0.0.1:{port}"));
        Stub { home, child, port }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    }

    /// Sends a request on a connection of its own.
    fn send(&self, path: &str, headers: &str, body: &str) -> TcpStream {
        let mut stream = self.connect();
        let length = body.len();
        let text = format!(
            "POST {path} HTTP/1.1\r\nhost: stub\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> Answer {
        answer(self.send(path, headers, body)).expect("an answer")
    }

    /// Asks it to end; the rows of its log.
    fn end(mut self) -> Vec<BTreeMap<String, String>> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        assert!(self.child.wait().unwrap().success());
        let mut reader = csv::Reader::from_path(self.home.path().join("wire.csv")).unwrap();
        reader.deserialize().map(|row| row.unwrap()).collect()
    }

    /// Kilobytes that it has in memory.
    fn memory_kb(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Stub {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads an answer; None when the connection breaks before one.
fn answer(mut stream: TcpStream) -> Option<Answer> {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n")?;
    let mut lines = head.lines();
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let header = |line: &str| line.split_once(": ").map(|(n, v)| (n.to_owned(), v.to_owned()));
    let headers: BTreeMap<String, String> = lines.filter_map(header).collect();
    let chunked = headers.get("transfer-encoding").is_some_and(|v| v == "chunked");
    let body = if chunked { unchunked(body) } else { body.to_owned() };
    Some(Answer { status, headers, body })
}

fn unchunked(body: &str) -> String {
    let (mut whole, mut rest) = (String::new(), body);
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap_or(0).min(after.len());
        whole.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
    }
    whole
}

/// A scenario with this provider and this request.
fn scenario(request: &str, provider: &str) -> String {
    format!(
        "workload = {{ clients = 1, burst = {{}} }}\n[request]\n{request}\n[provider]\n{provider}\n"
    )
}

const CLAUDE: &str = r#"{"model":"claude","max_tokens":100,"messages":[]}"#;
const STREAM: &str = r#"{"model":"m","max_tokens":100,"stream":true,"input":"hello"}"#;

fn column<'r>(rows: &'r [BTreeMap<String, String>], event: &str, name: &str) -> Vec<&'r str> {
    rows.iter().filter(|row| row["event"] == event).map(|row| row[name].as_str()).collect()
}

#[test]
fn a_script_is_answered_in_the_words_of_the_vendor() {
    let text = scenario(
        "output_tokens = 7\ninput_tokens = 30",
        "billing = { price = \"claude-sonnet-4\" }\n\
         faults = [{ outage = { from = \"0s\", status = 429, attempts = 1, answer = { retry_after = \"2\", retry_after_ms = \"700\", should_retry = true, error_code = \"enforced_spend_limit_reached\" } } }, { outage = { from = \"0s\", status = 529, attempts = 2 } }]",
    );
    let stub = Stub::start(&text, &[]);
    let first = stub.post("/c/w-1/v1/messages", "x-stainless-retry-count: 0\r\n", CLAUDE);
    assert_eq!(first.status, 429);
    let error = first.json();
    assert_eq!(error["error"]["type"], "rate_limit_error");
    assert_eq!(error["request_id"], first.headers["request-id"].as_str());
    let told = ["retry-after", "retry-after-ms", "x-should-retry"].map(|n| &first.headers[n][..]);
    assert_eq!(told, ["2", "700", "true"]);
    let second = stub.post("/c/w-1/v1/messages", "x-stainless-retry-count: 1\r\n", CLAUDE);
    assert_eq!((second.status, &second.json()["error"]["type"]), (529, &"overloaded_error".into()));
    let third = stub.post("/c/w-1/v1/messages", "x-stainless-retry-count: 2\r\n", CLAUDE);
    assert_eq!((third.status, &third.json()["usage"]["output_tokens"]), (200, &7.into()));
    // A client that does not count, and a name for the request.
    let named = |path: &str| stub.post(path, "x-retrylab-request: r\r\n", CLAUDE).status;
    assert_eq!([(); 3].map(|()| named("/c/w-2/v1/chat/completions")), [429, 529, 200]);
    let plain = |path: &str| stub.post(path, "", CLAUDE).status;
    assert_eq!([(); 4].map(|()| plain("/c/w-3/v1/responses")), [429, 529, 200, 429]);
    let rows = stub.end();
    assert_eq!(
        column(&rows, "arrived", "attempt"),
        "1 2 3 1 2 3 1 2 3 1".split(' ').collect::<Vec<_>>()
    );
    assert_eq!(column(&rows, "arrived", "retry_count")[..4], ["0", "1", "2", ""]);
    assert_eq!(column(&rows, "arrived", "client_name")[2..4], ["w-1", "w-2"]);
    assert_eq!(column(&rows, "billed", "input_tokens"), ["30", "30", "30"]);
    assert_eq!(column(&rows, "refused", "status").len(), 7);
}

#[test]
fn limits_and_places_are_those_of_the_simulation() {
    let text = scenario(
        "",
        "concurrency = 1\nqueue = { fifo = { limit = 1 } }\nservice = \"400ms\"\nlimits = { requests = { rate = \"6/min\", burst = 4 } }",
    );
    let stub = Stub::start(&text, &[]);
    let start = Instant::now();
    let open: Vec<TcpStream> = (0..3)
        .map(|i| {
            thread::sleep(Duration::from_millis(30));
            stub.send(&format!("/c/{i}/v1/messages"), "", CLAUDE)
        })
        .collect();
    let answers: Vec<Answer> = open.into_iter().map(|stream| answer(stream).unwrap()).collect();
    assert_eq!(answers.iter().map(|a| a.status).collect::<Vec<_>>(), [200, 200, 529]);
    let left = |a: &Answer| a.headers["anthropic-ratelimit-requests-remaining"].clone();
    assert_eq!(answers.iter().map(left).collect::<Vec<_>>(), ["3", "2", "1"]);
    assert!(start.elapsed() >= Duration::from_millis(800), "one after the other");
    stub.post("/v1/messages", "", CLAUDE);
    let refused = stub.post("/v1/chat/completions", "", CLAUDE);
    assert_eq!(refused.status, 429);
    // One comes back in ten seconds, and some have passed.
    let wait: u32 = refused.headers["retry-after"].parse().unwrap();
    assert!((2..=9).contains(&wait), "{wait}");
    assert_eq!(refused.json()["error"]["code"], "rate_limit_exceeded");
    assert!(refused.headers["x-ratelimit-reset-requests"].ends_with('s'));
    stub.end();
}

#[test]
fn streams_have_the_events_of_their_vendor() {
    let service = "service = { tokens = { first = \"50ms\", rate = \"100/s\" } }";
    let stub = Stub::start(&scenario("output_tokens = 20", service), &[]);
    for (path, begin, end) in [
        ("/v1/messages", "message_start", "message_stop"),
        ("/v1/responses", "response.created", "response.completed"),
    ] {
        let start = Instant::now();
        let found = stub.post(path, "", STREAM);
        assert!((250..2_000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
        let events = found.events();
        let kinds: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!((kinds[0], kinds[kinds.len() - 1]), (begin, end));
        let numbers = events.iter().filter_map(|event| event["sequence_number"].as_u64());
        assert!(numbers.eq(0..if path == "/v1/responses" { events.len() as u64 } else { 0 }));
        assert_eq!(found.headers["content-type"], "text/event-stream; charset=utf-8");
    }
    let counted = STREAM.replace("}", ",\"stream_options\":{\"include_usage\":true}}");
    let chat = stub.post("/v1/chat/completions", "", &counted);
    assert!(chat.body.ends_with("data: [DONE]\n\n"));
    let events = chat.events();
    assert_eq!(events[events.len() - 1]["usage"]["completion_tokens"], 20);
    let text: String = events
        .iter()
        .filter_map(|event| event["choices"][0]["delta"]["content"].as_str())
        .collect();
    assert_eq!(text.split_whitespace().count(), 20);
    // What max_tokens cuts off says so.
    let short = STREAM.replace("100", "5");
    let cut = stub.post("/v1/messages", "", &short).body;
    assert!(cut.contains("\"stop_reason\":\"max_tokens\""), "{cut}");
    let rows = stub.end();
    assert_eq!(column(&rows, "billed", "output_tokens"), ["20", "20", "20", "5"]);
}

#[test]
fn streams_break_where_the_scenario_breaks_them() {
    let fault = |when: &str, how: &str| {
        let service = "service = { tokens = { first = \"20ms\", rate = \"1000/s\" } }";
        let fault = format!("stream_error = {{ share = 1.0, when = \"{when}\", how = \"{how}\" }}");
        scenario("output_tokens = 100", &format!("{service}\nfaults = [{{ {fault} }}]"))
    };
    let stub = Stub::start(&fault("before_first_token", "error"), &[]);
    let broken = stub.post("/v1/messages", "", STREAM);
    assert_eq!((broken.status, broken.events().len()), (200, 1));
    assert_eq!(broken.events()[0]["error"]["type"], "overloaded_error");
    stub.end();
    let stub = Stub::start(&fault("after_first_token", "error"), &[]);
    let events = stub.post("/v1/chat/completions", "", STREAM).events();
    assert!(events.len() > 2 && events[events.len() - 1]["error"].is_object(), "{events:?}");
    stub.end();
    let stub = Stub::start(&fault("after_first_token", "silence"), &[]);
    let stream = stub.send("/v1/messages", "", STREAM);
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let silent = answer(stream).unwrap();
    assert!(silent.body.contains("content_block_delta") && !silent.body.contains("message_stop"));
    assert_eq!(column(&stub.end(), "hung", "why"), ["after_token"]);
}

#[test]
fn connections_break_and_silence_is_kept() {
    let refuse = "faults = [{ refuse_connections = { from = \"0s\" } }]";
    let stub = Stub::start(&scenario("", refuse), &[]);
    assert!(answer(stub.send("/v1/messages", "", CLAUDE)).is_none());
    assert_eq!(column(&stub.end(), "refused", "why"), ["connections"]);
    let silence = "faults = [{ outage = { from = \"0s\", silence = true } }]";
    let stub = Stub::start(&scenario("", silence), &[]);
    let stream = stub.send("/v1/messages", "", CLAUDE);
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(answer(stream).is_none());
    // Who waits in vain is not waited for.
    let waiting = stub.send("/c/2/v1/messages", "", CLAUDE);
    thread::sleep(Duration::from_millis(200));
    let rows = stub.end();
    assert_eq!(column(&rows, "swallowed", "client"), ["1", "2"]);
    assert_eq!(column(&rows, "timed_out", "client"), ["1"]);
    assert!(answer(waiting).is_none());
}

#[test]
fn work_of_clients_that_go_away_is_stopped_or_billed() {
    for (rule, expected) in [("removed", [1, 0]), ("computed", [0, 1])] {
        let provider = format!("service = \"10s\"\ncancelled_work = \"{rule}\"");
        let stub = Stub::start(&scenario("", &provider), &[]);
        let stream = stub.send("/v1/messages", "", CLAUDE);
        thread::sleep(Duration::from_millis(200));
        drop(stream);
        thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        let rows = stub.end();
        assert!(start.elapsed() < Duration::from_secs(5), "nobody waits");
        let count = |event: &str| column(&rows, event, "client").len();
        assert_eq!([count("taken_back"), count("late")], expected, "{rule}");
    }
}

#[test]
fn the_end_waits_for_who_is_being_served() {
    let stub = Stub::start(&scenario("", "service = \"1s\""), &[]);
    let stream = stub.send("/v1/messages", "", CLAUDE);
    thread::sleep(Duration::from_millis(200));
    let rows = stub.end();
    assert_eq!(answer(stream).map(|answer| answer.status), Some(200));
    assert_eq!(column(&rows, "delivered", "client"), ["1"]);
}

#[test]
fn scenario_time_can_run_faster() {
    let stub = Stub::start(&scenario("", "service = \"20s\""), &["--time-scale", "100"]);
    let start = Instant::now();
    assert_eq!(stub.post("/v1/messages", "", CLAUDE).status, 200);
    assert!((180..2_000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    let rows = stub.end();
    assert_eq!(column(&rows, "delivered", "time_ns"), ["20000000000"]);
}

#[test]
fn bad_requests_are_refused_and_are_no_attempts() {
    let stub = Stub::start(&scenario("", ""), &["--tokens", "body"]);
    let status = |path: &str, headers: &str, body: &str| stub.post(path, headers, body).status;
    assert_eq!(status("/v1/embeddings", "", CLAUDE), 404);
    assert_eq!(status("/p/nobody/v1/messages", "", CLAUDE), 404);
    assert_eq!(status("/v1/messages", "", "{"), 400);
    assert_eq!(status("/v1/messages", "", "{}"), 400);
    let mut get = stub.connect();
    get.write_all(b"GET /v1/messages HTTP/1.1\r\nhost: s\r\nconnection: close\r\n\r\n").unwrap();
    assert_eq!(answer(get).unwrap().status, 405);
    let mut large = stub.connect();
    let head = "POST /v1/messages HTTP/1.1\r\nhost: s\r\ncontent-length: 99999999\r\n\r\n";
    large.write_all(head.as_bytes()).unwrap();
    let mut line = String::new();
    BufReader::new(large).read_line(&mut line).unwrap();
    assert!(line.contains("413"), "{line}");
    assert_eq!(status("/v1/messages", "", CLAUDE), 200);
    let rows = stub.end();
    assert_eq!(column(&rows, "billed", "input_tokens"), [(CLAUDE.len() / 4).to_string()]);
}

#[test]
fn memory_is_bounded_by_what_clients_send() {
    let service = "service = { tokens = { first = \"10ms\", rate = \"100000/s\" } }";
    let stub = Stub::start(&scenario("output_tokens = 100000", service), &["--silence", "3s"]);
    stub.post("/v1/messages", "", CLAUDE);
    let before = stub.memory_kb();
    // Connections that say nothing, half a head, a head of a megabyte, half a body, and that read nothing.
    let mut silent: Vec<TcpStream> = (0..100).map(|_| stub.connect()).collect();
    for stream in &mut silent[50..] {
        stream.write_all(b"POST /v1/messages HTTP/1.1\r\nhost: s\r\nx-half: ").unwrap();
    }
    for _ in 0..20 {
        let mut stream = stub.connect();
        // It may be refused before all of it is written.
        let _ = stream.write_all(
            format!("POST /v1/messages HTTP/1.1\r\nx: {}", "a".repeat(1 << 20)).as_bytes(),
        );
        let mut line = String::new();
        let _ = BufReader::new(stream).read_line(&mut line);
        assert!(line.is_empty() || line.contains("431"), "{line}");
    }
    let half = |_| {
        let mut stream = stub.connect();
        let head = "POST /v1/messages HTTP/1.1\r\nhost: s\r\ncontent-length: 30000000\r\n\r\n{";
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let halves: Vec<TcpStream> = (0..8).map(half).collect();
    let body = STREAM.replace("\"max_tokens\":100,", "");
    let deaf: Vec<TcpStream> =
        (0..200).map(|i| stub.send(&format!("/c/{i}/v1/messages"), "", &body)).collect();
    thread::sleep(Duration::from_millis(500));
    assert_eq!(stub.post("/v1/messages", "", CLAUDE).status, 200, "others are served");
    let grown = stub.memory_kb().saturating_sub(before);
    assert!(grown < 60_000, "{grown} kB for {} connections", 100 + 8 + 200);
    // Whoever has said nothing for so long is let go.
    thread::sleep(Duration::from_secs(4));
    let mut byte = [0];
    silent[0].set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    assert!(matches!(silent[0].read(&mut byte), Ok(0)), "closed");
    drop((halves, deaf, silent));
    stub.end();
}

#[test]
fn a_fleet_without_retries_is_as_simulated() {
    let text = "workload = { clients = 40, burst = {} }\n[request]\ninput_tokens = 100\noutput_tokens = 20\n\
         [provider]\nconcurrency = 8\noverload_status = 429\nservice = \"296ms\"\nbilling = { price = \"claude-sonnet-4\" }\n\
         [measure]\nhorizon = \"60s\"\n";
    let stub = Stub::start(text, &[]);
    let streams: Vec<TcpStream> =
        (0..40).map(|i| stub.send(&format!("/c/{i}/v1/messages"), "", CLAUDE)).collect();
    let statuses: Vec<u16> = streams.into_iter().map(|s| answer(s).unwrap().status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 8);
    let home = stub.home.path().to_owned();
    let keep = fs::read_dir(&home).unwrap().count();
    assert_eq!(keep, 2);
    let pid = stub.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    thread::sleep(Duration::from_millis(500));
    let ran = run(&home, &["validate", "wire.csv", "scenario.toml", "-r", "20", "-o", "load"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(home.join("load.svg").is_file() && home.join("load.png").is_file());
    // Another scenario is told apart.
    let other = ["--set", "provider.concurrency=9", "--json"];
    let ran = run(&home, &[&["validate", "wire.csv", "scenario.toml", "-q"], &other[..]].concat());
    assert_eq!((ran.code, &ran.json()["agrees"]), (1, &false.into()));
}
