//! The scenario that reproduces a log, with what each value was fitted from.

use std::fmt::Write as _;

use super::Fit;
use super::arrivals::{Arrivals, Candidate};
use super::errors::{Error, Errors};
use super::law::Unit;
use super::service::{ByTokens, Service};
use super::size::{Size, Tried};
use super::text;
use crate::units::{Span, seconds};
use crate::workload::Gaps;

/// The text of the scenario.
pub fn write(fit: &Fit) -> String {
    let mut out = String::new();
    let name = fit.log.path.file_name().unwrap_or_default().to_string_lossy();
    // It stands in a comment.
    let name: String = name.chars().filter(|letter| !letter.is_control()).collect();
    let period = text::span(seconds(fit.arrivals.period));
    let _ = write!(
        out,
        "# Fitted by `retrylab fit` to {} requests in {period} of {name} (format {}).\n\
         # docs/how-to/fit.md says how, and what a fit cannot know.\n\
         format = 1\ntitle  = {}\n",
        fit.log.rows.len(),
        fit.log.format.name,
        toml::Value::String(format!("Like {name}")),
    );
    workload(&mut out, &fit.arrivals);
    request(&mut out, fit);
    provider(&mut out, fit);
    out += "\n# No client layers, so no retries: what a log has are attempts, and each of them comes as it came.\n\
             # To try a policy, add a layer:\n\
             # [[client.layers]]\n# name   = \"sdk\"\n# preset = \"anthropic-python-2.14\"\n";
    measure(&mut out, fit.horizon_ms());
    out
}

fn workload(out: &mut String, arrivals: &Arrivals) {
    let gaps = &arrivals.gaps;
    let _ = write!(
        out,
        "\n[workload]\n\
         # A log does not say whose requests they are: `clients` matters where limits or budgets are per client.\n\
         clients = 1\n\
         # From {} gaps: mean {}, coefficient of variation {}.\n",
        gaps.n,
        text::span(gaps.mean),
        text::short(gaps.cv),
    );
    let Some(best) = arrivals.candidates.first() else { return };
    if let Some(step) = arrivals.coarse {
        let step = Span::from_nanos(step);
        let _ = writeln!(
            out,
            "# The log's clock counts {step}: arrivals were spread evenly over that first."
        );
    }
    let _ = writeln!(
        out,
        "# {}: the least Bayesian information criterion of {} kinds of stream; Kolmogorov-Smirnov distance of gaps {}.",
        in_words(best),
        arrivals.candidates.len(),
        text::short(arrivals.distance),
    );
    *out += &stream(best, Span::from_nanos(arrivals.period));
}

/// "Gamma gaps at 142 rates, one after the other"
pub fn in_words(candidate: &Candidate) -> String {
    let gaps = match candidate.gaps {
        None => "Poisson arrivals".to_owned(),
        Some(law) => format!("{} gaps of cv {}", name(law), text::short(law.cv())),
    };
    match candidate.pieces.len() {
        1 => format!("{gaps} at one rate"),
        n => format!("{gaps} at {n} rates, one after the other"),
    }
}

/// The name of a law of gaps.
pub fn name(law: Gaps) -> &'static str {
    match law {
        Gaps::Gamma(_) => "gamma",
        Gaps::Weibull(_) => "weibull",
        Gaps::Lognormal(_) => "lognormal",
    }
}

fn stream(candidate: &Candidate, period: Span) -> String {
    let gaps =
        candidate.gaps.map(|law| format!("gaps = {{ {} = {{ cv = {:?} }} }}", name(law), law.cv()));
    if let [piece] = candidate.pieces[..] {
        let rate = text::rate(piece.rate);
        return match gaps {
            None => format!("poisson = {{ rate = \"{rate}\", duration = \"{period}\" }}\n"),
            Some(gaps) => {
                format!("renewal = {{ rate = \"{rate}\", {gaps}, duration = \"{period}\" }}\n")
            }
        };
    }
    let piece = |piece: &super::arrivals::Piece| {
        format!("[\"{}\", \"{}\"]", Span::from_nanos(piece.length), text::rate(piece.rate))
    };
    let lines: Vec<String> = candidate
        .pieces
        .chunks(4)
        .map(|line| format!("    {},\n", line.iter().map(piece).collect::<Vec<_>>().join(", ")))
        .collect();
    let gaps = gaps.map(|gaps| format!("{gaps}\n")).unwrap_or_default();
    format!("\n[workload.renewal]\n{gaps}rates = [\n{}]\n", lines.concat())
}

fn request(out: &mut String, fit: &Fit) {
    let sizes = [("input_tokens ", &fit.input), ("output_tokens", &fit.output)];
    if sizes.iter().all(|(_, size)| size.is_none()) {
        *out += "\n# The log has no tokens, so requests have none here.\n";
        return;
    }
    *out += "\n[request]\n";
    for (key, size) in sizes {
        let Some((size, taken)) = with_law(size) else {
            let _ = writeln!(out, "# {}: the log has none.", key.trim());
            continue;
        };
        let _ = writeln!(out, "# From {}. {}", of_answers(size, Unit::Tokens), judged(taken));
        let _ = writeln!(out, "{key} = {}", taken.law.toml(Unit::Tokens));
    }
}

fn with_law(size: &Option<Size>) -> Option<(&Size, &Tried)> {
    let size = size.as_ref()?;
    Some((size, size.taken()?))
}

/// "9,000 answers: mean 120, p50 90, p90 300, p99 800"
fn of_answers(size: &Size, unit: Unit) -> String {
    let figures = &size.figures;
    let value = |value: f64| match unit {
        Unit::Tokens => text::short(value),
        Unit::Seconds => text::span(value),
    };
    let [mean, p50, p90, p99] = [figures.mean, figures.p50, figures.p90, figures.p99].map(value);
    format!("{} answers: mean {mean}, p50 {p50}, p90 {p90}, p99 {p99}", figures.n)
}

fn judged(tried: &Tried) -> String {
    let far = if tried.fits { "" } else { "; no law was near enough" };
    format!("Kolmogorov-Smirnov distance {}{far}.", text::short(tried.distance))
}

fn provider(out: &mut String, fit: &Fit) {
    *out += "\n[provider]\n";
    match &fit.service {
        None => {
            *out += "# The log has no latencies of answers: service takes no time here. Write yours.\nservice = \"0s\"\n"
        }
        Some(service) => self::service(out, service),
    }
    *out += "# Nothing limits it: the latencies above have in them whatever waiting there was. To see what more load or an\n\
              # outage does, write what you know of it:\n\
              # concurrency = 100\n# queue       = { fifo = { limit = 100 } }\n";
    errors(out, &fit.errors);
}

fn service(out: &mut String, service: &Service) {
    let _ = writeln!(out, "# From {}.", of_answers(&service.law, Unit::Seconds));
    let Some(line) = service.taken_line() else {
        if let Some(taken) = service.law.taken() {
            let _ = writeln!(out, "# {}", judged(taken));
            let _ = writeln!(out, "service = {}", taken.law.toml(Unit::Seconds));
        }
        return;
    };
    let ByTokens { r_squared, distance, .. } = line;
    let _ = writeln!(
        out,
        "# Least squares on the tokens: R² {}, Kolmogorov-Smirnov distance {}.",
        text::short(r_squared),
        text::short(distance),
    );
    let _ = writeln!(out, "service = {}", by_tokens(&line));
}

fn by_tokens(line: &ByTokens) -> String {
    let first = text::span(line.first_s);
    if line.per_input_s == 0.0 {
        return format!(
            "{{ tokens = {{ first = \"{first}\", rate = \"{}\" }} }}",
            text::rate(1.0 / line.per_output_s)
        );
    }
    let long = text::span(line.first_s + 1e5 * line.per_input_s);
    let token = text::span(line.per_output_s);
    format!(
        "{{ prefill_decode = {{ prefill = [[0, \"{first}\"], [100000, \"{long}\"]], decode = [[1, \"{token}\"]] }} }}"
    )
}

fn errors(out: &mut String, errors: &Errors) {
    if !errors.known {
        *out += "# The log has no statuses: no attempt fails here.\n";
        return;
    }
    if errors.by_status.is_empty() {
        *out += "# No attempt of the log ended in an error.\n";
    }
    // Faults strike one after the other, those on arrival first: the second among the attempts that the first has spared.
    let (at_once, later): (Vec<&Error>, Vec<&Error>) =
        errors.by_status.iter().partition(|error| error.at_once);
    let mut left = 1.0;
    for error in at_once.into_iter().chain(later) {
        let share = (error.share / left).min(1.0);
        left -= error.share;
        let (when, strikes) = match error.at_once {
            true => (", long before an answer would have come", ", strikes = \"on_arrival\""),
            false => ("", ""),
        };
        let _ = write!(
            out,
            "\n[[provider.faults]]\n# {} attempts, a share of {}{when}.\nerror = {{ share = {:?}, status = {}{strikes} }}\n",
            error.count,
            text::short(error.share),
            text::rounded(share),
            error.status,
        );
    }
}

fn measure(out: &mut String, horizon_ms: u64) {
    let whole = |length_ms: u64| horizon_ms.div_ceil(length_ms) <= 10_000_000;
    let windows = [("100ms", 100), ("1s", 1_000), ("1min", 60_000), ("1h", 3_600_000)];
    let window =
        windows.into_iter().find(|(_, length)| whole(*length)).map_or("1d", |(name, _)| name);
    let horizon = Span::from_nanos(horizon_ms * 1_000_000);
    let _ = write!(out, "\n[measure]\nwindow  = \"{window}\"\nhorizon = \"{horizon}\"\n");
}
