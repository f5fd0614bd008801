//! N clients that fail together, and their provider, as one nexosim model.

use std::collections::VecDeque;
use std::time::Duration;

use nexosim::model::{Context, Model, schedulable};
use nexosim::time::MonotonicTime;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp};
use serde::{Deserialize, Serialize};

/// When the clients fail.
pub const START: MonotonicTime = MonotonicTime::EPOCH;

const MAX_ATTEMPTS: u8 = 5;
const WINDOW_MS: u128 = 100;
/// Services per second and place: 40 ms each.
const SERVICE_RATE: f64 = 25.0;
const BASE_S: f64 = 1.0;
const CAP_S: f64 = 30.0;

/// What came out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    pub attempts: u64,
    pub answered: u64,
    /// Attempts per window of 100 ms.
    pub load: Vec<u32>,
}

/// All clients and the provider.
#[derive(Serialize, Deserialize)]
pub struct Herd {
    /// Attempts that each client has made.
    made: Vec<u8>,
    free: u32,
    waiting: VecDeque<u32>,
    most_waiting: usize,
    outcome: Outcome,
    rng: Xoshiro256PlusPlus,
}

#[Model]
impl Herd {
    /// A place for every 100 clients, and a queue of a twentieth of them.
    pub fn new(clients: u32, seed: u64) -> Herd {
        Herd {
            made: vec![0; clients as usize],
            free: clients / 100,
            waiting: VecDeque::new(),
            most_waiting: clients as usize / 20,
            outcome: Outcome::default(),
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    #[nexosim(init)]
    async fn init(&mut self, cx: &Context<Self>) {
        for client in 0..self.made.len() as u32 {
            self.attempt(client, cx);
        }
    }

    /// A client's attempt arrives.
    #[nexosim(schedulable)]
    fn attempt(&mut self, client: u32, cx: &Context<Self>) {
        self.count(cx);
        self.made[client as usize] += 1;
        if self.free > 0 {
            self.free -= 1;
            self.serve(client, cx);
        } else if self.waiting.len() < self.most_waiting {
            self.waiting.push_back(client);
        } else {
            self.refuse(client, cx);
        }
    }

    /// A client has its answer, and whoever waits longest has the place.
    #[nexosim(schedulable)]
    fn answer(&mut self, _client: u32, cx: &Context<Self>) {
        self.outcome.answered += 1;
        match self.waiting.pop_front() {
            Some(next) => self.serve(next, cx),
            None => self.free += 1,
        }
    }

    fn count(&mut self, cx: &Context<Self>) {
        let window = (cx.time().duration_since(START).as_millis() / WINDOW_MS) as usize;
        if window >= self.outcome.load.len() {
            self.outcome.load.resize(window + 1, 0);
        }
        self.outcome.load[window] += 1;
        self.outcome.attempts += 1;
    }

    fn serve(&mut self, client: u32, cx: &Context<Self>) {
        let service = Exp::new(SERVICE_RATE).expect("a rate").sample(&mut self.rng);
        cx.schedule_event(after(service), schedulable!(Self::answer), client).expect("later");
    }

    /// The next attempt after full jitter, if there is one.
    fn refuse(&mut self, client: u32, cx: &Context<Self>) {
        let made = self.made[client as usize];
        if made < MAX_ATTEMPTS {
            let most = (BASE_S * f64::from(1 << (made - 1))).min(CAP_S);
            let wait = most * self.rng.random::<f64>();
            cx.schedule_event(after(wait), schedulable!(Self::attempt), client).expect("later");
        }
    }

    /// What came out [replier].
    pub async fn outcome(&mut self) -> Outcome {
        std::mem::take(&mut self.outcome)
    }
}

/// So many seconds; not now, as nexosim schedules for later instants only.
fn after(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds).max(Duration::from_nanos(1))
}
