//! Traces in all formats, and arrivals that are spread.

mod common;

use std::fs;
use std::path::Path;

use common::{kolmogorov_smirnov, seconds, watch};
use retrylab::model::{Observer, Side};
use retrylab::server::Tokens;
use retrylab::units::Time;

/// Input and output tokens.
type Prompt = (u64, u64);

/// Instants of all attempts, in seconds, and tokens of all answers.
#[derive(Default)]
struct Seen {
    at: Vec<f64>,
    tokens: Vec<Prompt>,
}

impl Observer for Seen {
    fn attempt(&mut self, now: Time, _side: Side, _number: u32) {
        self.at.push(seconds(now));
    }

    fn delivered(&mut self, _now: Time, _side: Side, tokens: Tokens) {
        self.tokens.push((tokens.input, tokens.output));
    }
}

fn text(workload: &str) -> String {
    format!("workload = {{ {workload} }}\nmeasure = {{ horizon = \"30s\" }}\n")
}

/// Instants of all attempts and tokens of all answers of each replication.
fn replay(file: &Path, keys: &str) -> Vec<(Vec<f64>, Vec<Prompt>)> {
    let text = text(&format!("trace = {{ file = {file:?}{keys} }}"));
    watch(&text, 3, Seen::default).into_iter().map(|(s, _)| (s.at, s.tokens)).collect()
}

#[test]
fn a_trace_is_the_same_in_every_format() {
    let home = tempfile::tempdir().unwrap();
    let files = [
        (
            "azure.csv",
            "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.5,4808,10\n2023-11-16 18:17:05,12,0\n2023-11-16 18:17:04.25,700,31\n",
        ),
        (
            "burstgpt.csv",
            "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n0.5,ChatGPT,4808,10,4818,API log\n2,GPT-4,12,0,12,API log\n1.25,ChatGPT,700,31,731,Conversation log\n",
        ),
        (
            "mooncake.jsonl",
            "{\"timestamp\": 500, \"input_length\": 4808, \"output_length\": 10, \"hash_ids\": [1]}\n{\"timestamp\": 2000, \"input_length\": 12, \"output_length\": 0, \"hash_ids\": [2]}\n{\"timestamp\": 1250, \"input_length\": 700, \"output_length\": 31, \"hash_ids\": [3]}\n",
        ),
        ("own.csv", "at_s,input_tokens,output_tokens\n0.5,4808,10\n2,12,0\n1.25,700,31\n"),
    ];
    for (name, content) in files {
        let file = home.path().join(name);
        fs::write(&file, content).unwrap();
        let expected = (vec![0.0, 0.75, 1.5], vec![(4_808, 10), (700, 31), (12, 0)]);
        assert_eq!(replay(&file, "")[0], expected, "{name}");
        let dropped = replay(&file, ", empty = \"drop\"").remove(0);
        assert_eq!(dropped, (vec![0.0, 0.75], vec![(4_808, 10), (700, 31)]), "{name}");
        let first = replay(&file, ", rows = 1").remove(0);
        assert_eq!(first, (vec![0.0], vec![(4_808, 10)]), "{name}");
    }
}

/// Time stamps that are rounded down to 3 s are spread over them again.
#[test]
fn spread_arrivals_are_uniform() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("rounded.jsonl");
    let rows = (0..2_000).map(|i| {
        let at = i / 1_000 * 3_000;
        format!("{{\"timestamp\": {at}, \"input_length\": {i}, \"output_length\": 1}}\n")
    });
    fs::write(&file, rows.collect::<String>()).unwrap();
    let mut seen = replay(&file, ", spread = \"3s\"");
    // The 0.1 % point is 1.95.
    let uniform = |at: &mut Vec<f64>| kolmogorov_smirnov(at, |x| x / 6.0) * 2_000f64.sqrt();
    assert!(seen.iter_mut().all(|(at, _)| at.len() == 2_000 && uniform(at) < 1.95));
    assert_ne!(seen[0].0, seen[1].0, "replications draw anew");
    // Every row keeps its tokens.
    let mut prompts: Vec<u64> = seen[0].1.iter().map(|(input, _)| *input).collect();
    assert!(!prompts.is_sorted(), "rows come in another order");
    prompts.sort_unstable();
    assert!(prompts.into_iter().eq(0..2_000));
    let mut herd = replay(&file, "").remove(0).0;
    assert!(uniform(&mut herd) > 1.95 && herd[999] == 0.0 && herd[1_000] == 3.0);
}
