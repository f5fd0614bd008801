//! Whether two engines give the same distribution: their means, fact by fact.

use retrylab::stats::student::t_quantile;

use crate::game::{Game, Outcome};

/// How often engines that do agree may be told that they do not, per fact.
const FALSE_ALARM: f64 = 1e-4;

/// Mean and sum of squared deviations of one fact.
struct Sample {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Sample {
    fn of(outcomes: &[Outcome], fact: usize) -> Sample {
        let values = || outcomes.iter().map(|outcome| outcome[fact] as f64);
        let n = outcomes.len() as f64;
        let mean = values().sum::<f64>() / n;
        Sample { n, mean, squares: values().map(|v| (v - mean) * (v - mean)).sum() }
    }
}

/// Refuses to compare engines whose means differ by more than Student's t for two samples of one
/// variance allows: were they the same, so would their variance be.
pub fn check(game: Game, who: &str, theirs: &[Outcome], ours: &[Outcome]) -> Result<(), String> {
    for (fact, name) in game.facts().iter().enumerate() {
        let (their, our) = (Sample::of(theirs, fact), Sample::of(ours, fact));
        let degrees = their.n + our.n - 2.0;
        let variance = (their.squares + our.squares) / degrees;
        let error = (variance * (1.0 / their.n + 1.0 / our.n)).sqrt();
        within(&format!("{who}: {name}"), their.mean, our.mean, error, degrees)?;
    }
    Ok(())
}

/// The same against means that are known with their standard errors.
pub fn with_known(game: Game, known: &[(f64, f64)], ours: &[Outcome]) -> Result<(), String> {
    for ((fact, name), &(mean, error)) in game.facts().iter().enumerate().zip(known) {
        let our = Sample::of(ours, fact);
        let degrees = our.n - 1.0;
        let error = (our.squares / degrees / our.n + error * error).sqrt();
        within(&format!("known {name}"), mean, our.mean, error, degrees)?;
    }
    Ok(())
}

fn within(what: &str, theirs: f64, ours: f64, error: f64, degrees: f64) -> Result<(), String> {
    let t = t_quantile(1.0 - FALSE_ALARM / 2.0, degrees).ok_or("too few runs to judge by")?;
    let allowed = t * error;
    let said = format!("{what} {theirs:.2}, retrylab {ours:.2}, may differ by {allowed:.2}");
    if (theirs - ours).abs() > allowed {
        return Err(format!("the results disagree, so no times are compared: {said}"));
    }
    eprintln!("  {said}");
    Ok(())
}
