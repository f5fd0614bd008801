use super::*;
use crate::client::{After, Backoff};
use crate::rng::{Purpose, Streams};
use proptest::prelude::*;

fn backoff(toml: &str) -> Result<Backoff, String> {
    #[derive(Deserialize)]
    struct Layer {
        backoff: Backoff,
    }
    let layer: Result<Layer, _> = toml::from_str(&format!("backoff = {toml}"));
    layer.map(|layer| layer.backoff).map_err(|error| error.message().to_owned())
}

fn formula(text: &str) -> Formula {
    text.parse().unwrap_or_else(|error| panic!("{error}"))
}

fn stream(entity: u32, n: u32) -> Stream {
    Streams::new(11, 0).stream(Purpose::Backoff, entity, n)
}

/// The built-in backoffs and the same as formulas.
const SAME: [(&str, &str); 7] = [
    ("\"no_backoff\"", "\"0\""),
    ("{ none = { base = \"1s\", cap = \"30s\" } }", "\"min(30s, 1s * 2^n)\""),
    ("{ full_jitter = { base = \"1s\", cap = \"30s\" } }", "\"uniform(0, min(30, 2**n))\""),
    (
        "{ equal_jitter = { base = \"100ms\", multiplier = 3.0, cap = \"10s\" } }",
        "{ wait = \"d / 2 + uniform(0, d / 2)\", d = \"min(10s, 100ms * pow(3, n))\" }",
    ),
    (
        "{ sdk_jitter = { base = \"500ms\", cap = \"8s\" } }",
        "{ wait = \"d - uniform(0, d / 4)\", d = \"min(cap, base * 2^n)\", base = \"500ms\", cap = 8 }",
    ),
    (
        "{ additive_jitter = { base = \"1s\", cap = \"30s\", fraction = 0.5 } }",
        "{ wait = \"d + uniform(0, 0.5) * d\", d = \"min(30s, 2^n)\" }",
    ),
    (
        "{ decorrelated_jitter = { base = \"1s\", cap = \"30s\" } }",
        "\"min(30s, uniform(1s, 3 * max(prev, 1s)))\"",
    ),
];

/// The draws are the same, so the waits are, but for one rounding.
#[test]
fn built_in_backoffs_can_be_written_as_formulas() {
    for (built_in, text) in SAME {
        let a = backoff(built_in).unwrap();
        let b = backoff(&format!("{{ formula = {text} }}")).unwrap();
        for entity in 0..500 {
            let mut memory = vec![0; a.memory()];
            for n in 0..12 {
                let mut seconds: Vec<u64> =
                    memory.iter().map(|&nanos| seconds(nanos).to_bits()).collect();
                let theirs = a.wait(After::retry(n), &mut memory, stream(entity, n));
                let ours = b.wait(After::retry(n), &mut seconds, stream(entity, n));
                assert!(ours.abs_diff(theirs) <= 1, "{text}, retry {n}: {ours} for {theirs}");
            }
        }
        assert_eq!(a.memory(), b.memory(), "{text}");
        for n in [0, 1, 2, 3, 4, 5, 6, 10, 63, 64, 65, 1_000, 999_999] {
            let ((low, high), (least, most)) = (b.bounds(n), a.bounds(n));
            // Decorrelated waits cannot reach the cap at once; the built-in bounds say nothing of it.
            let tighter = a.memory() > 0 && n < 4;
            assert!(low.abs_diff(least) <= 1, "{text}, retry {n}: {low} for {least}");
            assert!(high.abs_diff(most) <= 1 || tighter, "{text}, retry {n}: {high} for {most}");
        }
    }
}

#[test]
fn bounds_of_a_formula_with_memory_grow_with_the_retries() {
    let f = formula("min(30s, uniform(1s, 3 * max(prev, 1s)))");
    let high = [0, 1, 2, 3, 4, 64].map(|n| f.bounds(n).1 / NANOS_PER_SECOND);
    assert_eq!(high, [3, 9, 27, 30, 30, 30]);
    // Without a cap they grow for ever.
    let f = formula("1s + prev");
    assert_eq!((f.bounds(3).1, f.bounds(64).1), (4 * NANOS_PER_SECOND, Span::LONGEST.nanos()));
}

/// Polly's DecorrelatedJitterBackoffV2 (Polly.Core/Retry/RetryHelper.cs): the instants of retries
/// are independent draws, so a wait needs the draw before it.
const POLLY: &str = r#"{ formula = {
    wait = "base / 1.4 * (f - last(f))",
    f    = "2^t * tanh(sqrt(4 * t))",
    t    = "n + uniform(0, 1)",
    base = "2s",
} }"#;

#[test]
fn the_second_decorrelated_jitter_of_polly_can_be_written() {
    let polly = backoff(POLLY).unwrap();
    let mut waits = vec![Vec::new(); 3];
    for entity in 0..20_000 {
        let (mut memory, mut before) = (vec![0; polly.memory()], 0.0);
        for (n, waits) in (0..).zip(&mut waits) {
            let wait = polly.wait(After::retry(n), &mut memory, stream(entity, n));
            let t = f64::from(n) + stream(entity, n).unit();
            let f = 2f64.powf(t) * (4.0 * t).sqrt().tanh();
            assert!(wait.abs_diff(((f - before) / 1.4 * 2e9) as u64) <= 2, "{entity} {n}");
            before = f;
            waits.push(seconds(wait));
        }
    }
    // 5, 50 and 95 % points for a base of 2 s.
    let published = [[0.62, 1.80, 2.65], [0.67, 2.28, 4.11], [1.26, 4.04, 7.31]];
    for (waits, points) in waits.iter_mut().zip(published) {
        waits.sort_by(f64::total_cmp);
        let found = [0.05, 0.5, 0.95].map(|p| waits[(p * 20_000.0) as usize]);
        for (found, point) in found.iter().zip(points) {
            assert!((found / point - 1.0).abs() < 0.03, "{found} for {point}");
        }
    }
}

#[test]
fn functions_and_operators_mean_what_they_say() {
    for (text, value) in [
        ("1 + 2 * 3 ^ 2", 19.0),
        ("2 ^ 3 ^ 2", 512.0),
        ("1 - -2 ^ 2", 5.0),
        ("(1 + 2) * 3 - 4 / 8", 8.5),
        ("500ms + 2s + 1min + 1_000us", 62.501),
        ("min(3, 2, 1) + max(1, 5, 2)", 6.0),
        ("clamp(7, 1, 5) + clamp(0, 1, 5)", 6.0),
        ("floor(2.5) + ceil(2.5) + round(2.5)", 8.0),
        ("abs(-2) + sqrt(9) + exp(0) + ln(1) + tanh(0)", 6.0),
        ("if(2 > 1, 10, 20) + if(1 >= 2, 100, 200)", 210.0),
        ("(1 < 2) + (1 <= 1) + (1 == 1) + (1 != 1)", 3.0),
        ("1e1 + 2.5E-1", 10.25),
        ("1 - 5", -4.0),
    ] {
        let wait = formula(&format!("100 + {text}")).bounds(0);
        let expected = nanos(100.0 + value);
        assert_eq!(wait, (expected, expected), "{text}");
    }
}

/// Rules at the edges: what is negative is 0, what never ends is ten years.
#[test]
fn every_wait_is_a_span() {
    let wait = |text: &str, n| formula(text).wait(After::retry(n), &mut [0; 4], stream(0, n));
    assert_eq!(wait("3 - n", 2), NANOS_PER_SECOND);
    assert_eq!(wait("max(3 - n, -1)", 5), 0);
    assert_eq!(wait("if(n > 40, ln(-1), 1)", 0), NANOS_PER_SECOND);
    assert_eq!(wait("10 ^ n", 500), Span::LONGEST.nanos());
    assert_eq!(wait("1 / (3 - n)", 3), Span::LONGEST.nanos());
}

/// AWS SDKs of 2026: throttling waits twenty times as long as other failures.
#[test]
fn a_wait_may_depend_on_the_status() {
    let f = formula("if(status == 429, 1s, 50ms) * 2^n");
    let wait = |n, status| f.wait(After { n, status }, &mut [], stream(0, n)) / 1_000_000;
    assert_eq!([wait(0, 429), wait(0, 503), wait(0, 0), wait(3, 429)], [1_000, 50, 50, 8_000]);
    assert_eq!(f.bounds(1), (NANOS_PER_SECOND / 10, 2 * NANOS_PER_SECOND));
}

#[test]
fn a_wrong_formula_is_shown_with_its_place() {
    for (toml, parts) in [
        (
            "\"min(cap, 2^n)\"",
            &["unknown name `cap`", "known: n, prev, status", "        ^^^"] as &[&str],
        ),
        ("{ wait = \"caap * 2\", cap = 1 }", &["did you mean `cap`?"]),
        ("\"mim(1, 2)\"", &["unknown function `mim`", "did you mean `min`?", "uniform"]),
        ("\"min(1)\"", &["min takes at least 2 values, found 1"]),
        ("\"uniform(1, 2, 3)\"", &["uniform takes 2 values, found 3"]),
        ("\"2n\"", &["`2n`", "write 2 * n", "ms"]),
        ("\"1 +\"", &["value is missing", "       ^"]),
        ("\"(1 + 2\"", &["not closed"]),
        ("\"1 2\"", &["write an operator", "      ^"]),
        ("\"\"", &["value is missing"]),
        ("\"1 $ 2\"", &["`$` means nothing"]),
        ("\"exp + 1\"", &["exp is a function"]),
        ("\"last(1)\"", &["takes the name of a part"]),
        ("\"last(f)\"", &["unknown name `f`"]),
        ("{ wait = \"f\", f = \"g\", g = \"2 * f\" }", &["f: g: the part `f` is made of itself"]),
        ("{ wait = \"f\", f = \"last(g)\", g = \"g\" }", &["g: the part `g` is made of itself"]),
        ("{ wait = \"f\", f = \"1 + x\" }", &["f: unknown name `x`", "1 + x", "    ^"]),
        ("{ wait = \"1\", cap = \"1s\" }", &["`cap` is not used"]),
        ("{ wait = \"1\", n = 3 }", &["`n` has a meaning of its own"]),
        ("{ wait = \"1\", \"a b\" = 3 }", &["\"a b\" does not fit"]),
        ("{ cap = 3 }", &["wait"]),
        ("{ wait = \"cap\", cap = nan }", &["number"]),
        ("7", &["formula in quotes"]),
        ("\"1e999\"", &["`1e999` is not a number"]),
        ("\"1.2.3\"", &["`1.2.3` is not a number"]),
    ] {
        let error = backoff(&format!("{{ formula = {toml} }}")).unwrap_err();
        for part in parts {
            assert!(error.contains(part), "{toml}: no \"{part}\" in\n{error}");
        }
    }
    for deep in [format!("{}1", "(".repeat(3_000)), "-".repeat(300), "2^".repeat(300)] {
        let error = deep[..deep.len().min(1_900)].parse::<Formula>().unwrap_err();
        assert!(error.contains("nested too deeply"), "{error}");
    }
    let long = vec!["uniform(0, 1)"; 140].join(" + ");
    assert!(long.parse::<Formula>().unwrap_err().contains("longer than"));
    let long = vec!["n"; 300].join("+");
    assert!(long.parse::<Formula>().unwrap_err().contains("more than 256 operations"));
}

#[test]
fn a_formula_without_waits_is_refused_where_a_layer_gets_there() {
    for (text, retry, part) in [
        ("n - 10", 1, "retry 1 is negative"),
        ("3 - n", 5, "retry 5 is negative; write max(0, …)"),
        ("sqrt(2 - n)", 4, "retry 4 is not a number"),
        ("uniform(-1, 0)", 1, "retry 1 is negative"),
        ("(n - 70)^0.5 * 0", 1, "retry 1 is not a number"),
    ] {
        assert_eq!(formula(text).problem(retry - 1), None, "{text}");
        let problem = formula(text).problem(retry).unwrap();
        assert!(problem.contains(part) && problem.contains(text), "{problem}");
    }
    assert_eq!(formula("uniform(-1, 1)").problem(1_000), None);
}

#[test]
fn a_formula_prints_as_it_is_read() {
    for (toml, same) in
        [("\"min(30, 2^n)\"", "min(30, 2^n)"), ("{ wait = \"min(30, 2^n)\" }", "min(30, 2^n)")]
    {
        let value = toml::Value::try_from(backoff(&format!("{{ formula = {toml} }}")).unwrap());
        assert_eq!(value.unwrap()["formula"].as_str(), Some(same));
    }
    let polly = backoff(POLLY).unwrap();
    let printed = toml::Value::try_from(&polly).unwrap();
    assert_eq!(backoff(&printed.to_string()).unwrap(), polly);
}

/// Formulas of these names that a fool might write.
fn any_formula(names: &'static [&'static str]) -> impl Strategy<Value = String> {
    const NUMBERS: [&str; 6] = ["0", "1", "0.3", "2", "1e9", "(-1.5)"];
    let leaf = prop_oneof![
        proptest::sample::select(names).prop_map(str::to_owned),
        proptest::sample::select(&NUMBERS[..]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let among = |names: &'static [&'static str]| proptest::sample::select(names);
        let binary = among(&["+", "-", "*", "/", "^", "<", ">=", "=="]);
        let one = among(&["abs", "ceil", "exp", "floor", "ln", "round", "sqrt", "tanh"]);
        let two = among(&["min", "max", "pow", "uniform"]);
        let three = among(&["if", "clamp"]);
        prop_oneof![
            (inner.clone(), binary, inner.clone()).prop_map(|(a, op, b)| format!("({a} {op} {b})")),
            (two, inner.clone(), inner.clone()).prop_map(|(f, a, b)| format!("{f}({a}, {b})")),
            (one, inner.clone()).prop_map(|(f, a)| format!("{f}({a})")),
            (three, inner.clone(), inner.clone(), inner)
                .prop_map(|(f, a, b, c)| format!("{f}({a}, {b}, {c})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the formula: waits lie within its bounds, also when some retries are told their
    /// wait, and the program of a retry computes what the general one does.
    #[test]
    fn waits_lie_in_their_bounds(
        wait in any_formula(&["n", "prev", "status", "p", "last(p)"]),
        part in any_formula(&["n", "prev", "status", "last(p)"]),
        seed: u64,
    ) {
        let toml = format!("{{ formula = {{ wait = \"{wait} + 0 * p\", p = \"{part}\" }} }}");
        let Ok(Backoff::Formula(f)) = backoff(&toml) else { return Ok(()) };
        let streams = Streams::new(seed, 0);
        let mut memory = vec![0; f.memory()];
        let mut n = 0;
        for step in 0..90 {
            n += 1 + (seed >> (step % 60) & 1) as u32 - u32::from(step == 0);
            let stream = streams.stream(Purpose::Backoff, 0, step);
            let mut other = memory.clone();
            let (low, high) = f.bounds(n);
            let after = After { n, status: [0, 429, 503, 599][step as usize % 4] };
            let general = f.compiled.programs[STEPS as usize].run(after, &mut other, stream.clone());
            let special = f.compiled.programs[n.min(STEPS) as usize].run(after, &mut memory.clone(), stream.clone());
            prop_assert!(general == special || (general.is_nan() && special.is_nan()));
            let waited = f.wait(after, &mut memory, stream.clone());
            prop_assert!((low..=high).contains(&waited), "retry {n}: {waited} not in {low}..={high}: {toml}");
        }
    }
}
