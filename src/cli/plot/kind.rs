//! The kinds of pictures.

/// What to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// Load per window over time: first attempts, retries, capacity; a panel for each policy
    Load,
    /// Attempts over time by their number; a panel for each policy
    Waves,
    /// When requests are answered: the share answered within a time
    Completion,
    /// Two metrics of each policy with their intervals
    TradeOff,
    /// One metric over two keys that a sweep varies
    HeatMap,
    /// Goodput over a load that goes slowly up and comes back
    Hysteresis,
    /// Goodput, queue and in-flight over time
    Recovery,
    /// Attempts per request over the failure rate that a sweep varies, with the closed form
    Amplification,
    /// The law of waits of a preset, a policy or a scenario's layer
    Waits,
    /// The front that tune has found
    Pareto,
}

impl Kind {
    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Load => "load",
            Kind::Waves => "waves",
            Kind::Completion => "completion",
            Kind::TradeOff => "trade-off",
            Kind::HeatMap => "heat-map",
            Kind::Hysteresis => "hysteresis",
            Kind::Recovery => "recovery",
            Kind::Amplification => "amplification",
            Kind::Waits => "waits",
            Kind::Pareto => "pareto",
        }
    }

    /// A command that makes what it is drawn from.
    pub fn made_by(self) -> &'static str {
        match self {
            Kind::Load | Kind::Waves | Kind::Completion | Kind::TradeOff | Kind::Recovery => {
                "retrylab compare SCENARIO -o DIR"
            }
            Kind::HeatMap => "retrylab sweep SCENARIO --vary KEY=VALUES --vary KEY=VALUES -o DIR",
            Kind::Amplification => {
                "retrylab sweep SCENARIO --vary provider.faults.0.error.share=VALUES -o DIR"
            }
            Kind::Hysteresis => "retrylab metastable SCENARIO -o DIR",
            Kind::Waits => "retrylab plot waits PRESET",
            Kind::Pareto => "retrylab tune SCENARIO --minimise METRIC --minimise METRIC -o DIR",
        }
    }

    /// Whether it takes several folders.
    pub fn takes_several(self) -> bool {
        matches!(
            self,
            Kind::Load | Kind::Waves | Kind::Completion | Kind::TradeOff | Kind::Recovery
        )
    }

    /// Whether `--metric` says what it draws.
    pub fn takes_metrics(self) -> bool {
        matches!(self, Kind::TradeOff | Kind::HeatMap | Kind::Amplification | Kind::Pareto)
    }
}
