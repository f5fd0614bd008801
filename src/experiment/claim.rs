//! Claims and verdicts.
//!
//! A claim sets one metric of one policy against what it should be. With R replications, mean m
//! and standard deviation s over seeds:
//!
//! * a **reference** (a closed form, or an independent Monte Carlo with its own standard error e)
//!   holds when it lies within t·sqrt(s²/R + e²) of m, t being the two-sided 0.01 % point of
//!   Student's distribution: fifteen such claims are all judged right for 99.85 % of seeds;
//! * a **published** figure is one draw, and holds when it lies in the 95 % prediction interval
//!   m ± t·s·sqrt(1 + 1/R), widened by the rounding with which it was printed;
//! * a **bound** (`at_least`, `at_most`) holds when m lies on its side of it by at least t·s/√R,
//!   with the same t.
//!
//! What is claimed can be a ratio (`over`): of two metrics, of one metric under two policies, or of
//! both. It is taken run by run, and policies share the seeds of their runs, so it is paired.
//!
//! A metric that is 0 or 1 in a run is a probability, and the same questions are asked of the binomial
//! distribution itself: a reference holds unless so many successes, or so few, have less than half of 0.01 %
//! under it (moved by the quantile times its standard error); a bound is kept when they have less than that on its
//! other side.
//!
//! Below five replications a claim is inconclusive, unless an exact value is met exactly.

use serde::{Deserialize, Serialize};

use crate::metrics::INDICATOR;
use crate::stats::binomial::{lower_tail, upper_tail};
use crate::stats::student::{prediction_interval, t_quantile};
use crate::stats::summary::Summary;

/// What a claim rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// A published figure alone.
    Published,
    /// A formula.
    ClosedForm,
    /// An independent simulation.
    MonteCarlo,
}

/// What the metric of a claim is divided by, run by run: another metric, the same metric under
/// another policy, or another metric under another policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Over {
    /// The policy; by default the claim's.
    #[serde(default)]
    pub policy: Option<String>,
    /// The metric; by default the claim's.
    #[serde(default)]
    pub metric: Option<String>,
}

/// One claim, as an experiment file states it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its name, unique in the experiment.
    pub id: String,
    /// The policy it is about.
    pub policy: String,
    /// The metric it is about.
    pub metric: String,
    /// What it is divided by; without it, nothing.
    #[serde(default)]
    pub over: Option<Over>,
    /// The published figure.
    pub published: Option<f64>,
    /// Half the last printed digit of the published figure.
    #[serde(default)]
    pub rounding: f64,
    /// What theory or an independent simulation gives.
    pub reference: Option<f64>,
    /// Standard error of the reference; 0 for a closed form.
    #[serde(default)]
    pub reference_se: f64,
    /// The mean is this or more.
    pub at_least: Option<f64>,
    /// The mean is this or less.
    pub at_most: Option<f64>,
    /// What the reference or the bound rests on.
    pub basis: Basis,
    /// Where the reference or the bound is from.
    pub source: String,
}

impl Claim {
    /// The policy and the metric that it is divided by.
    pub fn divisor(&self) -> Option<(&str, &str)> {
        let over = self.over.as_ref()?;
        let policy = over.policy.as_deref().unwrap_or(&self.policy);
        Some((policy, over.metric.as_deref().unwrap_or(&self.metric)))
    }

    /// True when there is something to be judged.
    pub fn says_something(&self) -> bool {
        [self.published, self.reference, self.at_least, self.at_most].iter().any(Option::is_some)
    }
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It holds.
    Reproduced,
    /// It does not.
    NotReproduced,
    /// Too few replications to tell.
    Inconclusive,
}

impl Verdict {
    /// The verdict in words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::NotReproduced => "not reproduced",
            Verdict::Inconclusive => "inconclusive",
        }
    }
}

/// A claim with what was found and the verdict.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The claim.
    pub claim: Claim,
    /// Unit of the metric.
    pub unit: &'static str,
    /// What was found; None when no run has a value.
    pub found: Option<Summary>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Fewest replications from which a spread is taken seriously.
const ENOUGH: usize = 5;

/// Two-sided risk of calling a true reference not reproduced.
const RISK: f64 = 1e-4;

/// The verdict on `claim`, given what was found of a metric with this unit.
pub fn judge(claim: &Claim, unit: &str, found: Option<&Summary>) -> Verdict {
    let Some(found) = found else { return Verdict::NotReproduced };
    if unit == INDICATOR && found.n >= ENOUGH {
        return judge_share(claim, found);
    }
    let reference = claim.reference.map(|reference| {
        if equal(found.mean, reference) {
            return Verdict::Reproduced;
        }
        margin(claim, found)
            .map_or(Verdict::Inconclusive, |margin| holds((found.mean - reference).abs() <= margin))
    });
    let bounds = [
        claim.at_least.map(|least| found.mean - least),
        claim.at_most.map(|most| most - found.mean),
    ];
    let bounds = bounds.into_iter().flatten().map(|room| within(room, claim, found));
    let published = claim.published.map(|published| match interval(found) {
        None if exactly_met(claim, found, reference) => {
            holds((found.mean - published).abs() <= claim.rounding + tiny(published))
        }
        None => Verdict::Inconclusive,
        Some((low, high)) => {
            let slack = claim.rounding + tiny(published);
            holds(low - slack <= published && published <= high + slack)
        }
    });
    [reference, published].into_iter().flatten().chain(bounds).fold(Verdict::Reproduced, worse)
}

/// The verdict on a claim of a probability, of which `found` is the share.
fn judge_share(claim: &Claim, found: &Summary) -> Verdict {
    let trials = found.n as u64;
    let happened = (found.mean * found.n as f64).round() as u64;
    let slack =
        t_quantile(1.0 - RISK / 2.0, f64::INFINITY).unwrap_or_default() * claim.reference_se;
    let reference = claim.reference.map(|p| {
        upper_tail(happened, trials, (p + slack).min(1.0)) >= RISK / 2.0
            && lower_tail(happened, trials, (p - slack).max(0.0)) >= RISK / 2.0
    });
    let published = claim.published.map(|p| {
        upper_tail(happened, trials, (p + claim.rounding).min(1.0)) >= RISK / 2.0
            && lower_tail(happened, trials, (p - claim.rounding).max(0.0)) >= RISK / 2.0
    });
    // What is the same in every run keeps its bound or does not.
    let same = found.min == found.max;
    let least = claim
        .at_least
        .map(|p| (same && found.mean >= p) || upper_tail(happened, trials, p) < RISK / 2.0);
    let most = claim
        .at_most
        .map(|p| (same && found.mean <= p) || lower_tail(happened, trials, p) < RISK / 2.0);
    holds([reference, published, least, most].into_iter().flatten().all(|holds| holds))
}

/// The verdict on a bound that the mean keeps with this much room.
fn within(room: f64, claim: &Claim, found: &Summary) -> Verdict {
    if room >= -tiny(found.mean) && found.min == found.max {
        return Verdict::Reproduced;
    }
    margin(claim, found).map_or(Verdict::Inconclusive, |margin| holds(room >= margin))
}

/// With too few replications for a spread, a published figure is still judged where the
/// reference is a formula that was met to the digit.
fn exactly_met(claim: &Claim, found: &Summary, reference: Option<Verdict>) -> bool {
    claim.basis == Basis::ClosedForm
        && reference == Some(Verdict::Reproduced)
        && found.min == found.max
}

fn holds(yes: bool) -> Verdict {
    if yes { Verdict::Reproduced } else { Verdict::NotReproduced }
}

fn tiny(value: f64) -> f64 {
    1e-9 * value.abs().max(1.0)
}

fn equal(a: f64, b: f64) -> bool {
    (a - b).abs() <= tiny(b)
}

fn margin(claim: &Claim, found: &Summary) -> Option<f64> {
    let sd = found.sd.filter(|_| found.n >= ENOUGH)?;
    let n = found.n as f64;
    let t = t_quantile(1.0 - RISK / 2.0, n - 1.0)?;
    Some(t * (sd * sd / n + claim.reference_se * claim.reference_se).sqrt())
}

fn interval(found: &Summary) -> Option<(f64, f64)> {
    let sd = found.sd.filter(|_| found.n >= ENOUGH)?;
    prediction_interval(found.mean, sd, found.n, 0.95)
}

fn worse(a: Verdict, b: Verdict) -> Verdict {
    match (a, b) {
        (Verdict::NotReproduced, _) | (_, Verdict::NotReproduced) => Verdict::NotReproduced,
        (Verdict::Inconclusive, _) | (_, Verdict::Inconclusive) => Verdict::Inconclusive,
        _ => Verdict::Reproduced,
    }
}

/// The verdict on all claims together: the worst of them.
pub fn overall(judged: &[Judged]) -> Verdict {
    judged.iter().map(|j| j.verdict).fold(Verdict::Reproduced, worse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::summary::summarise;

    fn claim(published: Option<f64>, reference: Option<f64>) -> Claim {
        Claim {
            id: "x".to_owned(),
            policy: "p".to_owned(),
            metric: "m".to_owned(),
            published,
            rounding: 0.0,
            over: None,
            reference,
            reference_se: 0.0,
            at_least: None,
            at_most: None,
            basis: Basis::ClosedForm,
            source: "test".to_owned(),
        }
    }

    fn verdict(values: &[f64], published: Option<f64>, reference: Option<f64>) -> Verdict {
        judge(&claim(published, reference), "s", summarise(values).as_ref())
    }

    const AROUND_100: [f64; 8] = [97.0, 99.0, 98.0, 101.0, 103.0, 100.0, 102.0, 100.0];

    #[test]
    fn a_reference_is_judged_by_the_standard_error_and_a_published_draw_by_the_spread() {
        assert_eq!(verdict(&AROUND_100, None, Some(100.0)), Verdict::Reproduced);
        assert_eq!(verdict(&AROUND_100, None, Some(106.0)), Verdict::NotReproduced);
        assert_eq!(verdict(&AROUND_100, Some(104.0), None), Verdict::Reproduced);
        assert_eq!(verdict(&AROUND_100, Some(106.0), None), Verdict::NotReproduced);
        assert_eq!(verdict(&AROUND_100, Some(100.0), Some(106.0)), Verdict::NotReproduced);
    }

    #[test]
    fn an_exact_value_is_met_exactly_or_not_at_all() {
        assert_eq!(verdict(&[1_000.0; 10], Some(1_000.0), Some(1_000.0)), Verdict::Reproduced);
        assert_eq!(verdict(&[999.0; 10], None, Some(1_000.0)), Verdict::NotReproduced);
        assert_eq!(verdict(&[15.0], Some(15.0), Some(15.0)), Verdict::Reproduced);
    }

    #[test]
    fn few_replications_are_inconclusive() {
        assert_eq!(verdict(&[97.0], None, Some(100.0)), Verdict::Inconclusive);
        assert_eq!(verdict(&AROUND_100[..4], Some(100.0), None), Verdict::Inconclusive);
        assert_eq!(verdict(&[], None, Some(1.0)), Verdict::NotReproduced);
    }

    #[test]
    fn a_bound_is_kept_with_room_or_exactly() {
        let bound = |values: &[f64], at_least, at_most| {
            let claim = Claim { at_least, at_most, ..claim(None, None) };
            judge(&claim, "s", summarise(values).as_ref())
        };
        // A standard error of 0.71, and t of 6 at 8 seeds.
        assert_eq!(bound(&AROUND_100, Some(90.0), None), Verdict::Reproduced);
        assert_eq!(bound(&AROUND_100, None, Some(110.0)), Verdict::Reproduced);
        assert_eq!(bound(&AROUND_100, Some(90.0), Some(99.0)), Verdict::NotReproduced);
        assert_eq!(bound(&AROUND_100, Some(99.9), None), Verdict::NotReproduced);
        assert_eq!(bound(&AROUND_100, None, Some(100.1)), Verdict::NotReproduced);
        assert_eq!(bound(&[5.0; 6], Some(5.0), Some(5.0)), Verdict::Reproduced);
        assert_eq!(bound(&[5.0; 6], Some(5.1), None), Verdict::NotReproduced);
        assert_eq!(bound(&[4.0, 6.0], Some(1.0), None), Verdict::Inconclusive);
        assert_eq!(bound(&[], Some(1.0), None), Verdict::NotReproduced);
    }

    #[test]
    fn a_probability_is_judged_by_the_binomial_distribution() {
        let of = |happened: usize, claim: Claim| {
            let values: Vec<f64> = (0..200).map(|i| f64::from(u8::from(i < happened))).collect();
            judge(&claim, INDICATOR, summarise(&values).as_ref())
        };
        let reference = |p: f64, se: f64| Claim { reference_se: se, ..claim(None, Some(p)) };
        // 200 of 200 have a probability of 46 % at 0.9961, and no spread to judge by.
        assert_eq!(of(200, reference(0.9961, 0.0)), Verdict::Reproduced);
        assert_eq!(of(192, reference(0.9961, 0.0)), Verdict::NotReproduced);
        assert_eq!(of(1, reference(0.0003, 0.0)), Verdict::Reproduced);
        assert_eq!(of(1, reference(0.0, 0.0)), Verdict::NotReproduced);
        assert_eq!(of(0, reference(0.0, 0.0)), Verdict::Reproduced);
        assert_eq!(of(70, reference(0.5, 0.0)), Verdict::NotReproduced);
        assert_eq!(of(70, reference(0.5, 0.05)), Verdict::Reproduced);
        let bound = |at_least, at_most| Claim { at_least, at_most, ..claim(None, None) };
        assert_eq!(of(199, bound(Some(0.9), None)), Verdict::Reproduced);
        assert_eq!(of(185, bound(Some(0.9), None)), Verdict::NotReproduced);
        assert_eq!(of(200, bound(Some(1.0), None)), Verdict::Reproduced);
        assert_eq!(of(3, bound(None, Some(0.2))), Verdict::Reproduced);
        assert_eq!(of(39, bound(None, Some(0.2))), Verdict::NotReproduced);
    }

    #[test]
    fn rounding_widens_the_published_figure() {
        let rounded = Claim { rounding: 0.005, ..claim(Some(14.18), Some(14.1804)) };
        assert_eq!(judge(&rounded, "USD", summarise(&[14.1804; 5]).as_ref()), Verdict::Reproduced);
        let exact = Claim { rounding: 0.0, ..rounded };
        assert_eq!(judge(&exact, "USD", summarise(&[14.1804; 5]).as_ref()), Verdict::NotReproduced);
    }
}
