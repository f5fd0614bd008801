//! Recovery: answers, queue and in-flight over time, from the trigger on.

use super::chart::{Axis, Chart, Key, Mark, Panel, Place, Series, Sign};
use super::palette;

/// A value over replications at an instant: 5, 50 and 95 % points.
pub type Points = [f64; 3];

/// What one policy does over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// The policy.
    pub label: String,
    /// Instants in seconds.
    pub at_s: Vec<f64>,
    /// New requests per second, mean.
    pub demand: Vec<f64>,
    /// Answers per second, mean: the counts of single windows are too small for points over seeds.
    pub answers: Vec<f64>,
    /// Attempts in queues.
    pub queue: Vec<Points>,
    /// Attempts at the providers.
    pub in_flight: Vec<Points>,
}

/// What the picture shows.
#[derive(Clone, Debug, PartialEq)]
pub struct RecoveryFigure {
    /// Heading and note.
    pub title: String,
    /// See `title`.
    pub note: String,
    /// Outages in seconds.
    pub outages_s: Vec<(f64, f64)>,
    /// When the trigger is over.
    pub trigger_over_s: Option<f64>,
    /// The policies.
    pub policies: Vec<Course>,
}

/// The chart.
pub fn chart(figure: &RecoveryFigure) -> Chart {
    let labels: Vec<&str> = figure.policies.iter().map(|policy| policy.label.as_str()).collect();
    let series: Vec<Series> = palette::assigned(&labels).into_iter().map(Series).collect();
    let end = figure.policies.iter().filter_map(|policy| policy.at_s.last());
    let end = end.copied().fold(0.0, f64::max).max(1e-9);
    let goodput = goodput(figure, &series, end);
    let demand = goodput.marks.iter().any(|mark| matches!(mark, Mark::Theory(_)));
    let state =
        |label: &str, pick: fn(&Course) -> &[Points]| state(figure, &series, end, label, pick);
    let panels = vec![
        goodput,
        state("queue, median", |policy| &policy.queue),
        state("in flight, median", |policy| &policy.in_flight),
    ];
    Chart {
        title: figure.title.clone(),
        note: figure.note.clone(),
        description:
            "Answers per second, attempts in queues and at the providers over time in seconds."
                .to_owned(),
        x: Axis::between("time (s)", 0.0, end),
        panels,
        keys: keys(figure, &labels, &series, demand),
    }
}

fn places(at_s: &[f64], values: impl Iterator<Item = f64>) -> Vec<Place> {
    at_s.iter().copied().zip(values).collect()
}

fn goodput(figure: &RecoveryFigure, series: &[Series], end: f64) -> Panel {
    let mut marks = background(figure, end);
    let answers = figure.policies.iter().flat_map(|policy| policy.answers.iter().copied());
    let mut top = answers.fold(0.0, f64::max);
    if let Some(policy) = figure.policies.first() {
        let most = policy.demand.iter().copied().fold(0.0, f64::max);
        // A herd that comes at once would flatten all answers.
        if most <= 4.0 * top {
            top = top.max(most);
            marks.push(Mark::Theory(places(&policy.at_s, policy.demand.iter().copied())));
        }
    }
    for (policy, series) in figure.policies.iter().zip(series) {
        let line = places(&policy.at_s, policy.answers.iter().copied());
        marks.push(Mark::Line(line, *series));
    }
    Panel {
        label: ("goodput, mean".to_owned(), None),
        note: String::new(),
        y: Axis::from_zero("answers per s", [top]),
        marks,
    }
}

fn state(
    figure: &RecoveryFigure,
    series: &[Series],
    end: f64,
    label: &str,
    pick: fn(&Course) -> &[Points],
) -> Panel {
    let mut marks = background(figure, end);
    let mut top = 0.0_f64;
    let line = |policy: &Course, point: usize| {
        places(&policy.at_s, pick(policy).iter().map(|points| points[point]))
    };
    for (policy, series) in figure.policies.iter().zip(series) {
        let (low, high) = (line(policy, 0), line(policy, 2));
        top = high.iter().map(|(_, value)| *value).fold(top, f64::max);
        marks.push(Mark::Band(low, high, *series));
    }
    for (policy, series) in figure.policies.iter().zip(series) {
        marks.push(Mark::Line(line(policy, 1), *series));
    }
    let y = Axis::from_zero("attempts", [top]);
    Panel { label: (label.to_owned(), None), note: String::new(), y, marks }
}

fn background(figure: &RecoveryFigure, end: f64) -> Vec<Mark> {
    let seen = figure.outages_s.iter().filter(|(from, _)| *from < end);
    let mut marks: Vec<Mark> = seen.map(|(from, to)| Mark::Shade(*from, to.min(end))).collect();
    let over = figure.trigger_over_s.filter(|over| *over < end);
    marks.extend(over.map(|over| Mark::Upright(over, String::new())));
    marks
}

fn keys(figure: &RecoveryFigure, labels: &[&str], series: &[Series], demand: bool) -> Vec<Key> {
    let lines = labels.iter().zip(series);
    let mut keys: Vec<Key> = lines.map(|(label, s)| Key::new(Sign::Line(*s), *label)).collect();
    keys.push(Key::new(Sign::Band(series.to_vec()), "5\u{2013}95 % of seeds"));
    if demand {
        keys.push(Key::new(Sign::Theory, "new requests, mean"));
    }
    if figure.trigger_over_s.is_some() {
        keys.push(Key::new(Sign::Limit, "trigger over"));
    }
    if !figure.outages_s.is_empty() {
        keys.push(Key::new(Sign::Shade, "outage"));
    }
    keys
}
