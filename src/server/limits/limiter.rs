//! The state of all limits of a provider.

use super::growth::Growth;
use super::header::Wait;
use super::rate::Meter;
use super::{ConcurrencyLimit, Consumes, GrowthLimit, Kind, Limits, RateLimit, SpendCap};
use crate::answer::Hint;
use crate::client::Scope;
use crate::server::Tokens;
use crate::units::Time;

/// Who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The number of the group.
    pub group: usize,
    /// The number of the client in it.
    pub client: u32,
}

/// A refusal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Denied<'a> {
    /// The limit that refuses.
    pub kind: Kind,
    /// What the 429 says.
    pub hint: Hint<'a>,
}

/// Where a caller stands with a limit, as the headers of an answer tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The limit.
    pub kind: Kind,
    /// Most that it lets through at once.
    pub most: u64,
    /// What is left of that.
    pub left: u64,
    /// Nanoseconds until it is whole again; None is never.
    pub whole_in: Option<u64>,
}

/// Copies of a part: one, or one for each group or client.
#[derive(Clone, Debug)]
struct Copies<T> {
    scope: Scope,
    /// The number of the first client of each group.
    first: Vec<usize>,
    all: Vec<T>,
}

impl<T: Clone> Copies<T> {
    fn new(scope: Scope, clients: &[u32], part: T) -> Copies<T> {
        let mut first = Vec::with_capacity(clients.len());
        let mut sum = 0;
        for group in clients {
            first.push(sum);
            sum += *group as usize;
        }
        let count = match scope {
            Scope::Fleet => 1,
            Scope::Group => clients.len(),
            Scope::Client => sum,
        };
        Copies { scope, first, all: vec![part; count] }
    }

    #[inline]
    fn of(&mut self, who: Caller) -> &mut T {
        let index = match self.scope {
            Scope::Fleet => 0,
            Scope::Group => who.group,
            Scope::Client => self.first[who.group] + who.client as usize,
        };
        &mut self.all[index]
    }
}

/// A limit per time and what has been let through.
struct Metered {
    kind: Kind,
    rule: RateLimit,
    meters: Copies<Meter>,
}

impl Metered {
    /// What an attempt with these tokens takes on arrival.
    fn price(&self, tokens: Tokens) -> u64 {
        let reserve = self.rule.reserve.unwrap_or(0);
        match self.kind {
            Kind::InputTokens => tokens.input,
            Kind::OutputTokens => reserve,
            Kind::Tokens => tokens.input.saturating_add(reserve),
            _ => 1,
        }
    }

    fn settles(&self) -> bool {
        matches!(self.kind, Kind::OutputTokens | Kind::Tokens) && self.rule.settles()
    }
}

/// The state of all limits of a provider.
pub struct Limiter<'a> {
    spend: Option<(&'a SpendCap, u128)>,
    places: Option<(ConcurrencyLimit, Copies<u32>)>,
    rates: Vec<Metered>,
    growth: Option<(GrowthLimit, Copies<Growth>)>,
    rejected: Consumes,
    counts_tokens: bool,
    /// Whether there are no other limits than rates.
    only_rates: bool,
    /// Whether the end of an attempt changes anything.
    learns_of_ends: bool,
}

impl<'a> Limiter<'a> {
    /// Nothing used so far; None when there is no limit. `clients` are those of each group.
    pub fn new(limits: &'a Limits, clients: &[u32]) -> Option<Limiter<'a>> {
        if limits.kinds().is_empty() {
            return None;
        }
        let metered = |kind| {
            let rule = *limits.rate(kind)?;
            let meters = Copies::new(rule.shared_by, clients, rule.meter());
            Some(Metered { kind, rule, meters })
        };
        let rates: Vec<Metered> = Kind::ALL.into_iter().filter_map(metered).collect();
        Some(Limiter {
            spend: limits.spend.as_ref().map(|cap| (cap, 0)),
            places: limits.concurrency.map(|rule| (rule, Copies::new(rule.shared_by, clients, 0))),
            growth: limits
                .growth
                .map(|rule| (rule, Copies::new(rule.shared_by, clients, Growth::new(&rule)))),
            rejected: limits.rejected_consumes,
            learns_of_ends: limits.concurrency.is_some() || rates.iter().any(Metered::settles),
            only_rates: limits.spend.is_none()
                && limits.concurrency.is_none()
                && limits.growth.is_none(),
            counts_tokens: rates.iter().any(|limit| limit.kind != Kind::Requests),
            rates,
        })
    }

    /// Lets an attempt through at `now`, or says which limit refuses it; `tokens` are asked for
    /// when they matter.
    #[inline]
    pub fn admit(
        &mut self,
        now: Time,
        who: Caller,
        tokens: impl FnOnce() -> Tokens,
    ) -> Result<(), Denied<'a>> {
        let tokens = if self.counts_tokens { tokens() } else { Tokens::default() };
        // The usual case; whoever is refused is told so below.
        if let ([limit], true) = (self.rates.as_mut_slice(), self.only_rates) {
            let price = limit.price(tokens);
            if limit.meters.of(who).admit(now, price) {
                return Ok(());
            }
        }
        if let Some(denied) = self.denied(now, who, tokens) {
            self.take_of_rejected(now, who, tokens);
            return Err(denied);
        }
        if let Some((_, places)) = &mut self.places {
            *places.of(who) += 1;
        }
        for limit in &mut self.rates {
            let price = limit.price(tokens);
            limit.meters.of(who).take(now, price);
        }
        if let Some((_, growth)) = &mut self.growth {
            growth.of(who).take(now);
        }
        Ok(())
    }

    fn denied(&mut self, now: Time, who: Caller, tokens: Tokens) -> Option<Denied<'a>> {
        if let Some((cap, spent)) = self.spend
            && spent >= cap.units()
        {
            return Some(Denied { kind: Kind::Spend, hint: Hint::Stated(&cap.answer) });
        }
        let header = |span: Option<_>| span.map_or(Hint::None, Hint::RetryAfter);
        if let Some((rule, places)) = &mut self.places
            && *places.of(who) >= rule.limit
        {
            return Some(Denied { kind: Kind::Concurrency, hint: header(rule.retry_after) });
        }
        for limit in &mut self.rates {
            let price = limit.price(tokens);
            if let Err(wait) = limit.meters.of(who).fits(now, price) {
                let hint = header(limit.rule.retry_after.of(wait));
                return Some(Denied { kind: limit.kind, hint });
            }
        }
        let (rule, growth) = self.growth.as_mut()?;
        let wait: Wait = growth.of(who).fits(now).err()?;
        Some(Denied { kind: Kind::Growth, hint: header(rule.retry_after.of(wait)) })
    }

    /// What a refused attempt takes all the same.
    fn take_of_rejected(&mut self, now: Time, who: Caller, tokens: Tokens) {
        for limit in &mut self.rates {
            let takes = match self.rejected {
                Consumes::None => false,
                Consumes::Request => limit.kind == Kind::Requests,
                Consumes::Tokens => true,
            };
            if takes {
                let price = limit.price(tokens);
                limit.meters.of(who).take(now, price);
            }
        }
    }

    /// An attempt that was let through is over, after `output` tokens of its answer.
    #[inline]
    pub fn release(&mut self, now: Time, who: Caller, output: u64) {
        if self.learns_of_ends {
            self.learn_of_end(now, who, output);
        }
    }

    fn learn_of_end(&mut self, now: Time, who: Caller, output: u64) {
        if let Some((_, places)) = &mut self.places {
            *places.of(who) -= 1;
        }
        for limit in self.rates.iter_mut().filter(|limit| limit.settles()) {
            let reserved = limit.rule.reserve.unwrap_or(0);
            limit.meters.of(who).settle(now, reserved, output);
        }
    }

    /// So much has been billed, in 1e-12 dollars.
    #[inline]
    pub fn bill(&mut self, picodollars: u128) {
        if let Some((_, spent)) = &mut self.spend {
            *spent = spent.saturating_add(picodollars);
        }
    }

    /// The limit of a kind changes at `now`.
    pub fn change(&mut self, now: Time, kind: Kind, change: impl Fn(&RateLimit) -> RateLimit) {
        for limit in self.rates.iter_mut().filter(|limit| limit.kind == kind) {
            limit.rule = change(&limit.rule);
            limit.meters.all.iter_mut().for_each(|meter| meter.change(now, &limit.rule));
        }
    }

    /// Where a caller stands with the limits on what is counted per time.
    pub fn standing(&mut self, now: Time, who: Caller) -> Vec<Standing> {
        let rates = self.rates.iter_mut();
        let of = |limit: &mut Metered| {
            let (most, left, whole_in) = limit.meters.of(who).standing(now);
            Standing { kind: limit.kind, most, left, whole_in }
        };
        rates.map(of).collect()
    }

    /// Attempts that count for the concurrency limit; None without one.
    pub fn in_flight(&self) -> Option<u64> {
        let (_, places) = self.places.as_ref()?;
        Some(places.all.iter().map(|n| u64::from(*n)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{NANOS_PER_SECOND, Span};

    const ME: Caller = Caller { group: 0, client: 0 };

    fn limits(text: &str) -> Limits {
        toml::from_str(text).unwrap()
    }

    fn tokens(input: u64) -> impl FnOnce() -> Tokens {
        move || Tokens { input, ..Tokens::default() }
    }

    #[test]
    fn the_first_exhausted_limit_answers_and_the_others_lose_nothing() {
        let limits = limits(
            "requests = { rate = \"60/min\", burst = 2 }\n\
             input_tokens = { rate = \"600/min\", burst = 100, retry_after = \"exact\" }",
        );
        let mut limiter = Limiter::new(&limits, &[1]).unwrap();
        assert_eq!(limiter.admit(0, ME, tokens(90)), Ok(()));
        let wait = Hint::RetryAfter(Span::from_seconds(8));
        let denied = Denied { kind: Kind::InputTokens, hint: wait };
        assert_eq!(limiter.admit(0, ME, tokens(90)), Err(denied));
        assert_eq!(limiter.admit(0, ME, tokens(10)), Ok(()));
        let denied = limiter.admit(0, ME, tokens(0)).unwrap_err();
        assert_eq!(denied.kind, Kind::Requests);
    }

    #[test]
    fn each_scope_has_its_own() {
        let callers = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)];
        let callers = callers.map(|(group, client)| Caller { group, client });
        for (scope, expected) in [("client", 5), ("group", 2), ("fleet", 1)] {
            for limit in [
                format!("requests = {{ rate = \"1/min\", burst = 1, shared_by = \"{scope}\" }}"),
                format!("concurrency = {{ limit = 1, shared_by = \"{scope}\" }}"),
                format!(
                    "growth = {{ window = \"1s\", factor = 2, free = 1, shared_by = \"{scope}\" }}"
                ),
            ] {
                let limits = limits(&limit);
                let mut limiter = Limiter::new(&limits, &[2, 3]).unwrap();
                let both = callers.iter().chain(&callers);
                let admitted = both.filter(|who| limiter.admit(0, **who, tokens(0)).is_ok());
                assert_eq!(admitted.count(), expected, "{limit}");
            }
        }
    }

    #[test]
    fn rejected_attempts_take_what_they_are_told_to() {
        let text = |consumes: &str| {
            format!(
                "rejected_consumes = \"{consumes}\"\n\
                 requests = {{ rate = \"6/min\", burst = 5 }}\n\
                 input_tokens = {{ rate = \"60/min\", burst = 100 }}\n\
                 growth = {{ window = \"1h\", factor = 1, free = 1 }}"
            )
        };
        for (consumes, requests_left, tokens_left) in
            [("none", 4, 90), ("request", 1, 90), ("tokens", 1, 60)]
        {
            let limits = limits(&text(consumes));
            let mut limiter = Limiter::new(&limits, &[1]).unwrap();
            limiter.admit(0, ME, tokens(10)).unwrap();
            (0..3).for_each(|_| assert!(limiter.admit(0, ME, tokens(10)).is_err()));
            let mut fits =
                |index: usize, amount| limiter.rates[index].meters.of(ME).fits(0, amount).is_ok();
            assert!(fits(0, requests_left) && !fits(0, requests_left + 1), "{consumes}");
            assert!(fits(1, tokens_left) && !fits(1, tokens_left + 1), "{consumes}");
        }
    }

    /// Bedrock at 2 M tokens per minute: 1,333 in flight with 1,500 reserved each, 31 with 64,500
    /// (AWS, "quota health" of the Bedrock skill in aws/agent-toolkit-for-aws).
    #[test]
    fn a_large_reservation_leaves_few_in_flight() {
        for (reserve, most) in [(1_000, 1_333), (64_000, 31)] {
            let limits = limits(&format!(
                "tokens = {{ rate = \"2000000/min\", burst = 2000000, reserve = {reserve} }}"
            ));
            let mut limiter = Limiter::new(&limits, &[1]).unwrap();
            let in_flight = (0..).take_while(|_| limiter.admit(0, ME, tokens(500)).is_ok());
            assert_eq!(in_flight.count(), most);
            // What is not used of two reservations makes room for one more.
            limiter.release(0, ME, 10);
            assert!(limiter.admit(0, ME, tokens(500)).is_err());
            limiter.release(0, ME, 10);
            assert_eq!(limiter.admit(0, ME, tokens(500)), Ok(()));
        }
    }

    #[test]
    fn what_is_spent_stays_spent() {
        let limits = limits("spend = { usd = 0.5 }");
        let mut limiter = Limiter::new(&limits, &[1]).unwrap();
        limiter.bill(499_999_999_999);
        assert_eq!(limiter.admit(0, ME, tokens(0)), Ok(()));
        limiter.bill(1);
        let denied = limiter.admit(u64::MAX, ME, tokens(0)).unwrap_err();
        let Hint::Stated(answer) = denied.hint else { panic!("{denied:?}") };
        assert_eq!(answer.error_code.as_deref(), Some("enforced_spend_limit_reached"));
        assert_eq!(answer.retry_after, None);
    }

    #[test]
    fn a_minute_is_checked_in_parts() {
        // 500 a minute in windows of 10 s lets 83 through at once, and 500 in a minute never.
        let text = "requests = { rate = \"500/min\", counting = \"fixed_window\", window = \"60s\", short_window = \"10s\" }";
        let limits = limits(text);
        let mut limiter = Limiter::new(&limits, &[1]).unwrap();
        let at_once = |limiter: &mut Limiter<'_>, now| {
            (0..200).filter(|_| limiter.admit(now, ME, tokens(0)).is_ok()).count()
        };
        let admitted: Vec<usize> =
            (0..7).map(|tens| at_once(&mut limiter, tens * 10 * NANOS_PER_SECOND)).collect();
        assert_eq!(admitted, [83; 7]);
    }
}
