//! Bad input gives one sentence with file, line, key, what was found and what is allowed, exit
//! code 2, and nothing on standard output.

mod command;

use std::path::Path;
use std::time::{Duration, Instant};

use command::{Ran, SMALL, run, run_with};

/// Words of the implementation that say nothing to a user.
const JARGON: [&str; 9] =
    ["u32", "u16", "u64", "f64", "i128", "struct ", "variant", "invalid type", "field"];

fn refused(what: &str, ran: &Ran, parts: &[&str]) {
    assert_eq!(ran.code, 2, "{what}: {ran:?}");
    assert_eq!(ran.out, "", "{what}");
    assert!(ran.err.starts_with("error: "), "{what}: {}", ran.err);
    assert_eq!(ran.err.matches("error:").count(), 1, "{what}: {}", ran.err);
    for part in parts {
        assert!(ran.err.contains(part), "{what}: no \"{part}\" in\n{}", ran.err);
    }
    for word in JARGON {
        assert!(!ran.err.contains(word), "{what}: \"{word}\" in\n{}", ran.err);
    }
}

/// A text of [`SMALL`], what to write instead, where the error is, and what it says.
type Case = (&'static str, &'static str, &'static str, &'static [&'static str]);

const UNKNOWN: [Case; 12] = [
    (
        "[workload]",
        "[worklod]",
        "4:2",
        &["worklod", "did you mean `workload`?", "request, provider"],
    ),
    ("clients = 20", "clinets = 20", "5:1", &["workload.clinets", "did you mean `clients`?"]),
    ("window =", "windw =", "25:1", &["measure.windw", "did you mean `window`?"]),
    ("permits", "permit", "22:15", &["client.layers.1.semaphore.permit", "`permits`", "scope"]),
    ("max_attempts", "max_attempt", "17:1", &["client.layers.0.max_attempt", "`max_attempts`"]),
    (
        "full_jitter",
        "ful_jitter",
        "18:13",
        &[
            "client.layers.0.backoff.ful_jitter",
            "kind",
            "did you mean `full_jitter`?",
            "sdk_jitter",
        ],
    ),
    ("base =", "bas =", "18:29", &["backoff.full_jitter.bas", "`base`", "multiplier, cap"]),
    ("outage =", "outrage =", "13:1", &["provider.faults.0.outrage", "`outage`", "slow"]),
    (
        "\"fleet\"",
        "\"flet\"",
        "22:28",
        &["client.layers.1.semaphore.scope: unknown value `flet`", "did you mean `fleet`?"],
    ),
    (
        "name = \"app\"",
        "name = \"app\"\npreset = \"anthropic-pyton-2.14\"",
        "22:1",
        &["client.layers.1.preset", "did you mean `anthropic-python-2.14`?"],
    ),
    (
        "concurrency = 5",
        "billing = { price = \"gpt-40\" }",
        "10:13",
        &["provider.billing.price", "did you mean `gpt-4o`?", "claude-sonnet-4"],
    ),
    ("clients = 20", "zzz = 20", "5:1", &["unknown key `zzz`", "known: clients, shares, burst"]),
];

const SYNTAX: [Case; 11] = [
    ("\"10ms\"", "ten", "9:11", &["text needs quotes"]),
    ("[[client.layers]]\nname = \"app\"", "[client.layers]", "20:9", &["`layers`", "as [[…]]"]),
    ("[workload]", "title = \"b\"\n[workload]", "4:1", &["`title`", "twice"]),
    ("clients = 20", "clients =", "5:10", &["the value is missing"]),
    ("\"100ms\"", "100ms", "25:10", &["quotes"]),
    ("\"Twenty clients\"", "\"Twenty", "2:16", &["\"", "^"]),
    ("[measure]", "[measure", "24:9", &["]"]),
    ("clients = 20", "clients: 20", "5:10", &["="]),
    ("clients = 20", "clients = 1000000000000000000000000000000", "5:11", &["too large", "10000"]),
    ("clients = 20", "clients = 18446744073709551616", "5:11", &["too large"]),
    ("clients = 20", "clients = 1e400", "5:11", &["1e400", "too large"]),
];

const VALUES: [Case; 49] = [
    ("format = 1", "format = 2", "1:1", &["format 2", "reads format 1"]),
    ("\"Twenty clients\"", "3", "2:1", &["title", "the number 3", "text in quotes"]),
    (
        "clients = 20",
        "clients = \"many\"",
        "5:1",
        &["workload.clients", "\"many\"", "0 to 4294967295"],
    ),
    ("clients = 20", "clients = 20.5", "5:1", &["20.5", "whole number"]),
    ("clients = 20", "clients = -1", "5:1", &["the number -1", "whole number from 0"]),
    ("clients = 20", "clients = 5000000000", "5:1", &["5000000000", "4294967295"]),
    ("clients = 20", "clients = nan", "5:1", &["NaN", "whole number"]),
    ("clients = 20", "clients = true", "5:1", &["found true", "whole number"]),
    ("clients = 20", "clients = []", "5:1", &["an array", "whole number"]),
    ("clients = 20", "clients = 0", "5:1", &["0 clients", "1 or more"]),
    ("{ at = \"0s\" }", "true", "6:1", &["workload.burst", "found true", "a table"]),
    (
        "burst = { at = \"0s\" }",
        "",
        "4:2",
        &[
            "workload",
            "no kind",
            "burst, poisson, ramp, on_off, spike, renewal, closed_loop, agents, trace",
        ],
    ),
    (
        "burst =",
        "poisson = { rate = \"1/s\" }\nburst =",
        "4:2",
        &["2 kinds (burst, poisson)", "keep one of"],
    ),
    (
        "burst = { at = \"0s\" }",
        "poisson = { rate = \"0/s\" }",
        "6:13",
        &["rate of 0", "above 0/s"],
    ),
    ("burst = { at = \"0s\" }", "poisson = { rate = 60 }", "6:13", &["no unit", "\"60/s\""]),
    ("burst = { at = \"0s\" }", "poisson = { rate = \"60/m\" }", "6:13", &["60/m", "1000/min"]),
    ("burst = { at = \"0s\" }", "closed_loop = {}", "6:1", &["`jobs` is missing", "whole number"]),
    ("burst = { at = \"0s\" }", "closed_loop = { jobs = 0 }", "6:17", &["0 jobs", "1 or more"]),
    ("\"10ms\"", "60", "9:1", &["provider.service", "60 has no unit", "\"60s\" or \"60ms\""]),
    ("\"10ms\"", "\"60\"", "9:1", &["60 has no unit", "\"60s\" or \"60ms\""]),
    ("\"10ms\"", "\"5m\"", "9:1", &["minutes or milliseconds", "\"5min\" or \"5ms\""]),
    ("\"10ms\"", "inf", "9:1", &["provider.service", "inf", "a duration"]),
    ("\"10ms\"", "\"99999d\"", "9:1", &["too long", "3650d"]),
    (
        "\"10ms\"",
        "{ uniform = { low = \"2s\", high = \"1s\" } }",
        "9:1",
        &["provider.service", "high is below low"],
    ),
    ("base = \"1s\"", "base = \"-1s\"", "18:29", &["full_jitter.base", "negative", "0s or more"]),
    (
        "\"30s\"",
        "\"500ms\"",
        "18:42",
        &["client.layers.0.backoff.full_jitter.cap", "500ms is below the base 1s", "at least 1s"],
    ),
    ("\"30s\"", "\"30s\", multiplier = 0.5", "18:55", &["multiplier 0.5", "1 to 1000"]),
    ("\"30s\"", "\"30s\", multiplier = nan", "18:55", &["multiplier NaN", "1 to 1000"]),
    ("\"30s\"", "\"30s\", multiplier = -inf", "18:55", &["multiplier -inf", "1 to 1000"]),
    ("max_attempts = 3", "max_attempts = 0", "17:1", &["max_attempts = 0", "1 (no retry)"]),
    ("status = 503", "status = 200", "13:36", &["status 200", "400 to 599"]),
    ("status = 503", "status = 70000", "13:36", &["70000", "0 to 65535"]),
    ("from = \"0s\"", "from = \"2s\"", "13:25", &["ends at 1s", "starts at 2s", "swap"]),
    (
        "name = \"app\"",
        "name = \"sdk\"",
        "21:1",
        &["two layers are called \"sdk\"", "its own name"],
    ),
    ("name = \"app\"\n", "", "20:1", &["client.layers.1", "`name` is missing", "text in quotes"]),
    ("permits = 2", "permits = 0", "22:15", &["0 permits", "1 or more"]),
    (
        ", scope = \"fleet\"",
        "",
        "22:1",
        &["client.layers.1.semaphore", "`scope` is missing", "write one of client, group, fleet"],
    ),
    ("window = \"100ms\"", "window = \"0s\"", "25:1", &["window of 0s", "\"100ms\""]),
    ("\"10min\"", "\"0s\"", "26:1", &["horizon of 0s", "\"10min\""]),
    (
        "\"10min\"",
        "\"10min\"\nhealth = { window = \"1ns\", last = 1 }",
        "27:12",
        &["measure.health.window", "10000000 windows of 1ns"],
    ),
    (
        "\"10min\"",
        "\"10min\"\nhealth = { window = \"4min\", last = 3 }",
        "27:29",
        &["measure.health.last", "last = 3", "1 to 2"],
    ),
    (
        "[measure]",
        "[trigger]\nto = \"10min\"\nwithout = [\"provider.faults=[]\"]\n[measure]",
        "25:1",
        &["trigger.to", "horizon of 600s", "longer measure.horizon"],
    ),
    (
        "[measure]",
        "[trigger]\nto = \"1s\"\nwithout = []\n[measure]",
        "26:1",
        &["trigger.without", "without its trigger", "provider.faults=[]"],
    ),
    (
        "[measure]",
        "[trigger]\nto = \"1s\"\nwithout = [\"provider.faults\"]\n[measure]",
        "26:12",
        &["trigger.without.0", "write path=value"],
    ),
    (
        "[measure]",
        "[trigger]\nto = \"1s\"\nwithout = [\"measure.horizon=1s\"]\n[measure]",
        "26:12",
        &["trigger.without.0", "measured alike", "measure cannot be set"],
    ),
    ("\"10min\"", "\"10min\"\ncurve = \"150ms\"", "27:1", &["curves of 150ms", "whole multiple"]),
    ("\"100ms\"", "\"1ns\"", "26:1", &["600s", "10000000 windows of 1ns", "measure.window"]),
    (
        "max_attempts = 3",
        "connect_timeout = \"0s\"",
        "17:1",
        &["client.layers.0.connect_timeout", "leaves no time at all"],
    ),
    (
        "max_attempts = 3",
        "[[client.layers]]\nname = \"app\"\nconnect_timeout = \"5s\"",
        "19:1",
        &["only the innermost layer connects", "write its connect_timeout there"],
    ),
];

const BURST: &str = "burst = { at = \"0s\" }";

const STREAMS: [Case; 18] = [
    (
        "[[client.layers]]",
        "[request]\nstream = true\n[[provider.faults]]\nstream_error = { share = 0.1, per_token = 0.1 }\n[[client.layers]]",
        "18:31",
        &["provider.faults.1.stream_error.per_token", "share is written too"],
    ),
    (
        "[[client.layers]]",
        "[request]\nstream = true\n[[provider.faults]]\nstream_error = { share = 0.1 }\n[[client.layers]]",
        "18:1",
        &["`when` is missing", "before_first_token"],
    ),
    (
        "[[client.layers]]",
        "[request]\nstream = true\n[[provider.faults]]\nstream_error = { how = \"silence\" }\n[[client.layers]]",
        "18:1",
        &["which streams break is not said", "per_token alone"],
    ),
    (BURST, "agents = { steps = 0 }", "6:12", &["steps = 0 leaves nothing", "1 or more"]),
    (BURST, "agents = { steps = 3, fan_out = 0 }", "6:23", &["fan_out = 0", "1 or more"]),
    (
        BURST,
        "agents = { steps = 3000, fan_out = 1000 }",
        "6:12",
        &["3000000 calls", "at most 1000000"],
    ),
    (
        BURST,
        "trace = { file = \"trace.csv\", empty = \"remove\" }",
        "6:31",
        &["workload.trace.empty", "remove", "keep, drop"],
    ),
    (
        BURST,
        "poisson = { rate = \"1/s\" }\nshares = { zipf = { exponent = -1.0 } }",
        "7:21",
        &["workload.shares.zipf.exponent", "-1 is out of range", "0 to 10"],
    ),
    (
        BURST,
        "burst = {}\nshares = { lognormal = { sigma = 1.0 } }",
        "7:1",
        &["requests of its own", "leave shares out"],
    ),
    (
        BURST,
        "ramp = { from = \"0/s\", to = \"0/s\", over = \"1s\" }",
        "6:24",
        &["from 0 to 0", "above 0/s"],
    ),
    (
        BURST,
        "ramp = { from = \"1/s\", to = \"2/s\", over = \"0s\" }",
        "6:36",
        &["over above 0s", "poisson"],
    ),
    (
        BURST,
        "ramp = { from = \"1/s\", to = \"2/s\", over = \"1s\", back = \"0s\" }",
        "6:49",
        &["workload.ramp.back", "takes some time"],
    ),
    (BURST, "ramp = { from = \"1/s\", to = \"2/s\" }", "6:1", &["`over` is missing", "duration"]),
    (
        BURST,
        "on_off = { rate = \"0/s\", on = \"1s\", off = \"1s\" }",
        "6:12",
        &["rate of 0", "above 0/s"],
    ),
    (
        BURST,
        "on_off = { rate = \"1/s\", on = \"1s\", off = \"0s\" }",
        "6:37",
        &["off = 0s", "poisson"],
    ),
    (
        BURST,
        "spike = { rate = \"2/s\", peak = \"2/s\", from = \"1s\", to = \"2s\" }",
        "6:25",
        &["peak of 2/s is not above the rate of 2/s"],
    ),
    (
        BURST,
        "spike = { rate = \"2/s\", peak = \"3/s\", from = \"2s\", to = \"2s\" }",
        "6:52",
        &["over at 2s", "begins at 2s", "later end"],
    ),
    (BURST, "spike = { rates = \"2/s\" }", "6:11", &["workload.spike.rates", "did you mean"]),
];

const KINDS: [Case; 41] = [
    ("[workload]", "[[workload]]", "4:3", &["found a list", "as [workload]"]),
    (
        "concurrency = 5",
        "billing = { input_usd_per_mtok = nan }",
        "10:13",
        &["provider.billing.input_usd_per_mtok", "NaN", "0 to 1000000 dollars"],
    ),
    ("\"10ms\"", "{ exponential = { mean = nan } }", "9:29", &["NaN", "a duration in quotes"]),
    ("concurrency = 5", "queue = 5", "10:1", &["provider.queue", "found 5", "write one of fifo"]),
    (
        "concurrency = 5",
        "queue = { lifo = { when_full = \"drop_oldest\" } }",
        "10:20",
        &["provider.queue.lifo.when_full", "never full", "write a limit"],
    ),
    (
        ", status = 503",
        "",
        "13:1",
        &["provider.faults.0.outage", "status = 503, or silence = true"],
    ),
    (
        "status = 503",
        "status = 503, silence = true",
        "13:50",
        &["faults.0.outage.silence", "no status", "leave out silence or status = 503"],
    ),
    (
        "outage = { from = \"0s\", to = \"1s\", status = 503 }",
        "slow_down = { from = \"0s\", factor = nan }",
        "13:28",
        &["slow_down.factor", "NaN", "0.001 to 1000"],
    ),
    (
        "[[client.layers]]",
        "[[provider.actions]]\ntimeout = { at = \"1s\", layer = \"ap\", timeout = \"1s\" }\n[[client.layers]]",
        "16:24",
        &["provider.actions.0.timeout.layer", "\"ap\"", "did you mean `app`?"],
    ),
    (
        "[[client.layers]]",
        "[[provider.actions]]\nramp = { from = \"1s\", to = \"2s\", start = 0, end = 2 }\n[[client.layers]]",
        "16:45",
        &["provider.actions.0.ramp.end", "share 2", "0 to 1"],
    ),
    (
        "[[client.layers]]",
        "[[provider.actions]]\npause = { from = \"3s\", to = \"2s\" }\n[[client.layers]]",
        "16:24",
        &["provider.actions.0.pause.to", "ends at 2s", "swap"],
    ),
    (
        "concurrency = 5",
        "limits = { requests = { rate = \"1/s\" } }",
        "10:12",
        &["provider.limits.requests.burst", "`burst` is missing"],
    ),
    (
        "concurrency = 5",
        "limits = { requests = { rate = \"1/s\", burst = 0 } }",
        "10:39",
        &["provider.limits.requests.burst", "1 or more"],
    ),
    (
        "concurrency = 5",
        "limits = { requests = { rate = \"1/s\", burst = 1, reserve = 5 } }",
        "10:50",
        &["limits.requests.reserve", "only output tokens"],
    ),
    (
        "concurrency = 5",
        "limits = { tokens = { rate = \"1/min\", counting = \"fixed_window\", window = \"1s\" } }",
        "10:66",
        &["limits.tokens.window", "less than one in 1s"],
    ),
    (
        "concurrency = 5",
        "limits = { tokens = { rate = \"9/s\", counting = \"sliding_window\", window = \"1s\" } }",
        "10:12",
        &["limits.tokens.settle", "cannot settle"],
    ),
    (
        "concurrency = 5",
        "limits = { requests = { rate = \"9/s\", counting = \"fixed_window\", window = \"1s\", burst = 3 } }",
        "10:81",
        &["limits.requests.burst", "no burst"],
    ),
    (
        "concurrency = 5",
        "limits = { spend = { usd = 5 } }",
        "10:12",
        &["provider.limits.spend", "needs prices"],
    ),
    (
        "concurrency = 5",
        "limits = { growth = { window = \"1s\", factor = 0.5, free = 3 } }",
        "10:38",
        &["limits.growth.factor", "1 to 1000"],
    ),
    (
        "concurrency = 5",
        "limits = { concurrency = { limit = 0 } }",
        "10:28",
        &["limits.concurrency.limit", "1 or more"],
    ),
    (
        "concurrency = 5",
        "limits = { preset = \"claude-tier2\" }",
        "10:12",
        &["provider.limits.preset", "did you mean `claude-tier-2`?"],
    ),
    (
        "[[client.layers]]",
        "[[provider.actions]]\nlimit = { at = \"1s\", of = \"requests\", rate = \"1/s\" }\n[[client.layers]]",
        "16:22",
        &["provider.actions.0.limit.of", "no limit on requests to change"],
    ),
    (
        "concurrency = 5",
        "cache = { entries = 0, hit = \"1ms\" }",
        "10:11",
        &["provider.cache.entries", "1 to 100000000"],
    ),
    (
        "concurrency = 5",
        "cache = { entries = 10, hit = \"1ms\", filled = 50 }",
        "10:38",
        &["provider.cache.filled", "0 to 1"],
    ),
    (
        "concurrency = 5",
        "cache = { entries = 10, hit = \"1ms\", lifetime = \"0s\" }",
        "10:38",
        &["provider.cache.lifetime", "never found"],
    ),
    (
        "[[client.layers]]",
        "[[provider.faults]]\ncache_loss = { at = \"1s\", part = [0.0, 0.5] }\n[[client.layers]]",
        "16:1",
        &["there is no cache to lose", "write provider.cache"],
    ),
    (
        "[[client.layers]]",
        "[provider.cache]\nentries = 10\nhit = \"1ms\"\n[[provider.faults]]\ncache_loss = { at = \"1s\", part = [0.5, 0.2] }\n[[client.layers]]",
        "19:27",
        &["provider.faults.1.cache_loss.part", "no part of a cache", "the smaller one first"],
    ),
    (
        "concurrency = 5",
        "billing = { price = \"gpt-5\", cancel_lag = \"1s\" }",
        "10:30",
        &["provider.billing.cancel_lag", "cancel_aware"],
    ),
    (
        "concurrency = 5",
        "billing = { input_usd_per_mtok = 1.0, output_usd_per_mtok = 1.0, cache_lifetime = \"1s\" }",
        "10:66",
        &["provider.billing.cache_lifetime", "cached_input_usd_per_mtok"],
    ),
    (
        "concurrency = 5",
        "row = { status = 200 }",
        "10:9",
        &["provider.row.status", "the status 200 is not an error", "400 to 599"],
    ),
    (
        "concurrency = 5",
        "row = { shared_by = \"flet\" }",
        "10:9",
        &["provider.row.shared_by", "did you mean `fleet`?"],
    ),
    (
        "concurrency = 5",
        "slower_when_full = 0.5\nconcurrency = 5",
        "10:1",
        &["provider.slower_when_full", "1 to 1000"],
    ),
    (
        "concurrency = 5",
        "slower_when_full = 2.0",
        "10:1",
        &["provider.slower_when_full", "never full"],
    ),
    (
        "\"10ms\"",
        "{ prefill_decode = { prefill = [[2, \"1s\"], [1, \"2s\"]], decode = [[1, \"1s\"]] } }",
        "9:1",
        &["provider.service", "prefill needs points in ascending order"],
    ),
    (
        "\"10ms\"",
        "{ prefill_decode = { preset = \"llama2-70b-8xh10\" } }",
        "9:32",
        &["service.prefill_decode.preset", "did you mean `llama2-70b-8xh100`?"],
    ),
    (
        "[provider]",
        "[request]\nstream = true\nidempotency_key = true\n[provider]",
        "10:1",
        &["request.idempotency_key", "streamed answer", "leave stream or"],
    ),
    ("concurrency = 5", "queue = \"fifo\"", "10:1", &["provider.queue", "{ fifo = { … } }"]),
    (
        "backoff = { full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "backoff = {}",
        "18:1",
        &["client.layers.0.backoff", "no kind", "write one of no_backoff, none, full_jitter"],
    ),
    (
        "{ full_jitter =",
        "{ no_backoff = {}, full_jitter =",
        "18:1",
        &["2 kinds (no_backoff, full_jitter)", "exactly one", "equal_jitter"],
    ),
    (
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "\"full_jitter\"",
        "18:1",
        &["client.layers.0.backoff", "`full_jitter`", "{ full_jitter = { … } }"],
    ),
    ("replications = 2", "replications = 0", "27:1", &["0 replications", "1 to 1000000"]),
];

/// Two groups; changed as [`SMALL`] is.
const GROUPS: &str = r#"format = 1

[provider]
concurrency = 5

[[group]]
name = "live"
workload = { clients = 5, burst = {} }

[[group.layers]]
name = "sdk"
budget = { ratio = { of_requests = 0.1, scope = "fleet" } }

[[group]]
name = "batch"
workload = { clients = 9, closed_loop = { jobs = 20 } }

[[group.layers]]
name = "sdk"
max_attempts = 3
budget = { ratio = { of_requests = 0.1, scope = "fleet" } }
"#;

const IN_GROUPS: [Case; 21] = [
    (
        "[provider]",
        "[workload]\nburst = {}\n[provider]",
        "3:2",
        &["workload", "has [[group]]", "move workload into the groups"],
    ),
    ("[provider]", "[client]\n[provider]", "3:2", &["client", "move its keys into the groups"]),
    ("[[group]]\nname = \"live\"", "[group]\nname = \"live\"", "", &["`group`", "as [[…]]"]),
    ("name = \"live\"\n", "", "6:1", &["group.0", "`name` is missing", "text in quotes"]),
    ("\"live\"", "\"batch\"", "15:1", &["two groups are called \"batch\"", "its own name"]),
    ("\"live\"", "\"my group\"", "7:1", &["group.0.name", "\"my group\"", "letters, digits"]),
    ("workload = { clients = 5, burst = {} }", "", "6:1", &["group.0", "`workload` is missing"]),
    (
        "name = \"live\"\n",
        "name = \"live\"\npriority = 1\n",
        "8:1",
        &["group.0.priority", "there is none", "provider.queue"],
    ),
    (
        "name = \"live\"\n",
        "name = \"live\"\npriority = 10\n",
        "8:1",
        &["group.0.priority", "10 is not a class", "0 (first) to 9"],
    ),
    ("clients = 9,", "clients = 0,", "16:14", &["group.1.workload.clients", "0 clients"]),
    ("jobs = 20", "jobs = 0", "16:43", &["group.1.workload.closed_loop.jobs", "0 jobs"]),
    (
        "max_attempts = 3",
        "max_attempts = 0",
        "20:1",
        &["group.1.layers.0.max_attempts", "1 (no retry)"],
    ),
    (
        "max_attempts = 3",
        "preset = \"openai\"",
        "20:1",
        &["group.1.layers.0.preset", "openai-python-3.57"],
    ),
    (
        "max_attempts = 3",
        "max_atempts = 3",
        "20:1",
        &["group.1.layers.0.max_atempts", "did you mean"],
    ),
    (
        "max_attempts = 3\nbudget = { ratio = { of_requests = 0.1",
        "max_attempts = 3\nbudget = { ratio = { of_requests = 0.2",
        "21:1",
        &["group.1.layers.0.budget", "the fleet shares one budget", "state the same"],
    ),
    (
        "name = \"batch\"",
        "name = \"batch\"\nnetwork = { loss = 1.5 }",
        "16:13",
        &["group.1.network.loss", "1.5", "0 to 1"],
    ),
    (
        "name = \"batch\"",
        "name = \"batch\"\nnetwork = { latency = 5 }",
        "16:13",
        &["group.1.network.latency", "no unit", "\"5s\""],
    ),
    (
        "name = \"batch\"",
        "name = \"batch\"\nhost = { processes = 0 }",
        "16:10",
        &["group.1.host.processes", "1 or more"],
    ),
    (
        "name = \"batch\"",
        "name = \"batch\"\nhost = { connections = { limit = 0, scope = \"client\" } }",
        "16:26",
        &["group.1.host.connections.limit", "nothing is ever sent", "1 or more"],
    ),
    (
        "name = \"batch\"",
        "name = \"batch\"\nhost = { connections = { limit = 1, scope = \"fleet\" } }",
        "16:37",
        &["connections.scope", "unknown value `fleet`", "client, process, group"],
    ),
    (
        "name = \"batch\"",
        "name = \"batch\"\nhost = { timeout_starts = \"later\" }",
        "16:10",
        &["host.timeout_starts", "unknown value `later`", "at_call, at_send"],
    ),
];

#[test]
fn a_wrong_group_is_named_by_line() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("storm.toml"), GROUPS).unwrap();
    let ran = run(home.path(), &["check", "storm.toml"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for (old, new, place, parts) in IN_GROUPS {
        assert!(GROUPS.contains(old), "{old}");
        std::fs::write(home.path().join("storm.toml"), GROUPS.replacen(old, new, 1)).unwrap();
        let ran = run(home.path(), &["check", "storm.toml"]);
        refused(new, &ran, parts);
        assert!(ran.err.starts_with(&format!("error: storm.toml:{place}")), "{new}: {}", ran.err);
    }
    std::fs::write(home.path().join("storm.toml"), GROUPS).unwrap();
    for (setting, parts) in [
        ("group.live.workload.clients=0", ["group.0.workload.clients", "0 clients"]),
        ("group.night.workload.clients=1", ["no item \"night\"", "known: live, batch"]),
        ("workload.clients=1", ["has [[group]]", "into the groups"]),
        ("group=[]", ["group", "the list is empty"]),
        ("group={}", ["found a table", "[[group]]"]),
    ] {
        refused(setting, &run(home.path(), &["check", "storm.toml", "--set", setting]), &parts);
    }
    let policies = |place: &[&str], parts: &[&str]| {
        let ran = run(home.path(), &[&["compare", "storm.toml", "-r", "1"], place].concat());
        refused(&place.join(" "), &ran, parts);
    };
    policies(&["--group", "night"], &["no group is called \"night\"", "live, batch"]);
    policies(&["--group", "live", "--layer", "app"], &["no layer is called \"app\"", "sdk"]);
}

const BUDGETS: [Case; 4] = [
    (
        "max_attempts = 3",
        "budget = { retry_throttling = { max_tokens = 2000, token_ratio = 0.1, scope = \"fleet\" } }",
        "17:33",
        &["client.layers.0.budget.retry_throttling.max_tokens", "2000", "0.001 to 1000"],
    ),
    (
        "max_attempts = 3",
        "budget = { active_retries = { ratio = 20, scope = \"fleet\" } }",
        "17:31",
        &["ratio = 20", "0 to 1"],
    ),
    (
        "max_attempts = 3",
        "budget = { recent_ratio = { ratio = 0.2, window = \"10s\", reserve_per_s = 1, scope = \"fleet\" } }",
        "17:12",
        &["`deposit` is missing", "write one of call, success"],
    ),
    (
        "max_attempts = 3",
        "adaptive_throttle = { k = 0.5, scope = \"fleet\" }",
        "17:23",
        &["client.layers.0.adaptive_throttle.k", "0.5", "1 to 1000"],
    ),
];

const PACES: [Case; 4] = [
    (
        "max_attempts = 3",
        "pace = { fixed = { rate = \"0/s\", scope = \"fleet\" } }",
        "17:20",
        &["client.layers.0.pace.fixed.rate", "lets nothing through", "more than 0/s"],
    ),
    (
        "max_attempts = 3",
        "pace = { aimd = { start = \"9/s\", min = \"1/s\", max = \"2/s\", increase = 1, scope = \"fleet\" } }",
        "17:19",
        &["start = 9/s is not between min = 1/s and max = 2/s"],
    ),
    (
        "max_attempts = 3",
        "pace = { vegas = { scope = \"fleet\" } }",
        "17:10",
        &["vegas", "fixed, aimd, cubic"],
    ),
    (
        "max_attempts = 3",
        "pace = { cubic = {} }",
        "17:10",
        &["`scope` is missing", "client, group, fleet"],
    ),
];

const HEDGES: [Case; 6] = [
    (
        "max_attempts = 3",
        "hedge = { after = \"0s\" }",
        "17:11",
        &["client.layers.0.hedge.after", "doubles every attempt"],
    ),
    ("max_attempts = 3", "hedge = { after = \"1s\", max = 4 }", "17:25", &["max = 4", "1 to 3"]),
    (
        "max_attempts = 3",
        "hedge = { after = \"1s\", budget = { of_requests = 5, scope = \"fleet\" } }",
        "17:36",
        &["client.layers.0.hedge.budget.of_requests", "0 to 1"],
    ),
    (
        "max_attempts = 3",
        "[[client.layers]]\nname = \"app\"\nhedge = { after = \"1s\" }",
        "19:1",
        &["only the innermost layer can hedge"],
    ),
    (
        "backoff = { full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "hedge = { after = \"1s\" }\n[request]\nstream = true",
        "19:2",
        &["streamed answers are not hedged", "leave out"],
    ),
    (
        "[[client.layers]]",
        "[client]\nhost = { cpu_per_attempt = \"1ms\" }\n[[client.layers]]\nhedge = { after = \"1s\" }",
        "16:1",
        &["attempts on a host with limits are not hedged"],
    ),
];

const BREAKERS: [Case; 6] = [
    (
        "max_attempts = 3",
        "breaker = { consecutive = { failures = 3 }, open = \"1s\", counts = \"calls\", stops = \"retries\", scope = \"fleet\" }",
        "17:76",
        &["breaker.stops", "around the retries", "counts = \"attempts\""],
    ),
    (
        "max_attempts = 3",
        "breaker = { open = \"1s\" }",
        "17:1",
        &["`scope` is missing", "client, group, fleet"],
    ),
    (
        "max_attempts = 3",
        "breaker = { open = \"1s\", scope = \"fleet\" }",
        "17:1",
        &["client.layers.0.breaker", "one of consecutive, ratio"],
    ),
    (
        "max_attempts = 3",
        "breaker = { consecutive = { failures = 3 }, open = \"0s\", scope = \"fleet\" }",
        "17:45",
        &["client.layers.0.breaker.open", "0s"],
    ),
    (
        "max_attempts = 3",
        "breaker = { ratio = { failures = 1.5, min_calls = 9, last = 9 }, open = \"1s\", scope = \"fleet\" }",
        "17:23",
        &["breaker.ratio.failures", "1.5", "at most 1"],
    ),
    (
        "max_attempts = 3",
        "breaker = { consecutive = { failures = 3 }, open = \"1s\", half_open = { probes = \"all\" }, scope = \"fleet\" }",
        "17:72",
        &["half_open.probes", "\"all\"", "a whole number, or \"unlimited\""],
    ),
];

const BACKOFFS: [Case; 9] = [
    (
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "{ formula = \"min(cap, 2^n)\" }",
        "18:13",
        &[
            "client.layers.0.backoff.formula: unknown name `cap`",
            "known: n, prev, status",
            "    min(cap",
            "    ^^^",
        ],
    ),
    (
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "{ formula = { wait = \"bas * 2^n\", base = \"1s\" } }",
        "18:13",
        &["did you mean `base`?"],
    ),
    (
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "{ formula = { base = \"1s\" } }",
        "18:13",
        &["`wait` is missing", "text in quotes"],
    ),
    (
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "{ formula = \"0 - n\" }",
        "18:13",
        &["retry 2 is negative", "max(0, …)"],
    ),
    (
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "{ formula = 3 }",
        "18:13",
        &["the number 3", "formula in quotes"],
    ),
    (
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "{ table = {} }",
        "18:13",
        &["no waits", "or a file"],
    ),
    (
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "{ table = { waits = [\"1s\", 2] } }",
        "18:38",
        &["backoff.table.waits.1", "the number 2", "a duration in quotes"],
    ),
    (
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "{ table = { waits = [[]] } }",
        "18:32",
        &["empty list", "at least one"],
    ),
    (
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "{ table = { waits = [\"1s\"], file = \"waits.csv\" } }",
        "18:39",
        &["both waits and a file"],
    ),
];

#[test]
fn a_file_of_waits_is_read_or_refused_in_a_sentence() {
    let home = tempfile::tempdir().unwrap();
    let text = SMALL.replacen(
        "{ full_jitter = { base = \"1s\", cap = \"30s\" } }",
        "{ table = { file = \"waits.csv\" } }",
        1,
    );
    std::fs::write(home.path().join("storm.toml"), text).unwrap();
    refused("missing", &run(home.path(), &["run", "storm.toml"]), &["waits.csv", "No such file"]);
    std::fs::write(home.path().join("waits.csv"), "attempt,wait_s\n1,-1\n").unwrap();
    refused("negative", &run(home.path(), &["run", "storm.toml"]), &["waits.csv:2: ", "\"-1\""]);
    std::fs::write(home.path().join("waits.csv"), "attempt,wait_s\n1,0.5\n2,0.25\n").unwrap();
    let ran = run(home.path(), &["run", "storm.toml", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    // All fail at once, wait 0.5 s and 0.25 s, and fail for good, in the outage of one second.
    assert_eq!(ran.json()["metrics"]["gave_up_after_max_s"]["mean"], 0.75);
}

#[test]
fn the_small_scenario_itself_is_right() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let ran = run(home.path(), &["check", "storm.toml"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
}

#[test]
fn a_wrong_line_is_named_with_key_found_and_allowed() {
    let home = tempfile::tempdir().unwrap();
    let first = UNKNOWN.iter().chain(&SYNTAX).chain(&VALUES).chain(&STREAMS).chain(&KINDS);
    for (old, new, place, parts) in
        first.chain(&BACKOFFS).chain(&BREAKERS).chain(&BUDGETS).chain(&PACES).chain(&HEDGES)
    {
        assert!(SMALL.contains(old), "{old}");
        std::fs::write(home.path().join("storm.toml"), SMALL.replacen(old, new, 1)).unwrap();
        let ran = run(home.path(), &["check", "storm.toml"]);
        let start = format!("error: storm.toml:{place}: ");
        refused(new, &ran, parts);
        assert!(ran.err.starts_with(&start), "{new}: not {start}\n{}", ran.err);
        assert!(ran.err.contains("\n   |\n") || ran.err.contains("\n  |\n"), "{}", ran.err);
    }
}

#[test]
fn a_wrong_setting_is_named_instead_of_a_line() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let cases: [(&str, &[&str]); 15] = [
        ("format=\"1\"", &["the text \"1\"", "whole number"]),
        ("titel=x", &["did you mean `title`?"]),
        ("workload.clients=0", &["0 clients", "1 or more"]),
        ("workload.clients=many", &["\"many\"", "whole number"]),
        ("workload.clinets=5", &["did you mean `clients`?"]),
        ("measure.window=5m", &["\"5min\" or \"5ms\""]),
        ("measure.window=60", &["no unit"]),
        ("client.layers.app.max_attempts=0", &["client.layers.1.max_attempts", "1 (no retry)"]),
        ("client.layers.ap.max_attempts=1", &["no item \"ap\"", "sdk, app"]),
        ("client.layers.7.max_attempts=1", &["no item \"7\"", "sdk, app"]),
        (
            "client.layers.sdk.backoff.full_jitter.base=60s",
            &["full_jitter.cap", "cap 30s is below the base 60s"],
        ),
        ("client.layers.app.semaphore.scope=flet", &["did you mean `fleet`?"]),
        ("client.layers.app.preset=openai", &["openai-python-3.57"]),
        ("workload.clients", &["path=value"]),
        ("workload..clients=1", &["empty part"]),
    ];
    for (setting, parts) in cases {
        // The valid setting after it is not to blame.
        let ran = run(
            home.path(),
            &["check", "storm.toml", "--set", setting, "--set", "workload.clients=9"],
        );
        let later_wins = setting.starts_with("workload.clients=");
        let ran = match later_wins {
            true => run(home.path(), &["check", "storm.toml", "--set", setting]),
            false => ran,
        };
        refused(setting, &ran, parts);
        let path = setting.split('=').next().unwrap();
        assert!(ran.err.starts_with(&format!("error: --set {path}")), "{setting}: {}", ran.err);
        assert!(!ran.err.contains("storm.toml:"), "{setting}: {}", ran.err);
    }
}

#[test]
fn a_wrong_line_is_not_blamed_on_a_setting_of_the_same_name() {
    let home = tempfile::tempdir().unwrap();
    let text = SMALL.replacen("max_attempts = 3", "max_attempts = 0", 1);
    std::fs::write(home.path().join("storm.toml"), text).unwrap();
    let set = "client.layers.app.max_attempts=3";
    let ran = run(home.path(), &["check", "storm.toml", "--set", set]);
    refused(set, &ran, &["error: storm.toml:17:1: client.layers.0.max_attempts"]);
}

fn refused_file(home: &Path, name: &str, content: &[u8], parts: &[&str]) {
    std::fs::write(home.join(name), content).unwrap();
    let start = Instant::now();
    let ran = run(home, &["run", name]);
    refused(name, &ran, parts);
    assert!(ran.err.contains(name), "{name}: {}", ran.err);
    assert!(ran.err.len() < 1_500, "{name}: {} bytes of error", ran.err.len());
    assert!(!ran.err.contains('\0'), "{name}");
    assert!(start.elapsed() < Duration::from_secs(5), "{name}: {:?}", start.elapsed());
}

#[test]
fn strange_files_are_refused_in_a_sentence() {
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    refused_file(home, "empty.toml", b"", &["retrylab init"]);
    refused_file(home, "blank.toml", b"# nothing yet\n", &["retrylab init"]);
    refused_file(home, "half.toml", b"format = 1\n", &["`workload` is missing", "table"]);
    refused_file(home, "nul.toml", b"format = 1\ntitle = \"a\0b\"\n", &["nul.toml:2:"]);
    refused_file(home, "binary.toml", b"\0\0\0\0", &["binary.toml:1:"]);
    refused_file(
        home,
        "latin.toml",
        b"format = 1\ntitle = \"caf\xe9\"\n",
        &["latin.toml:2: ", "UTF-8"],
    );
    refused_file(home, "big.toml", &vec![b'#'; 11_000_000], &["larger than 10 MB"]);
    let deep = format!("a = {}", "[".repeat(100_000));
    refused_file(home, "deep.toml", deep.as_bytes(), &["deep.toml:1:", "nested too deeply"]);
    let dotted = format!("{} = 1\n", ["a"; 20_000].join("."));
    refused_file(home, "dotted.toml", dotted.as_bytes(), &["dotted.toml:1:", "nested too deeply"]);
    let long = format!("title = \"{}\" junk", "x".repeat(5_000));
    refused_file(home, "long.toml", long.as_bytes(), &["long.toml:1:", "junk"]);
    for (path, parts) in [
        (home.to_str().unwrap(), ["folder", "scenario file"]),
        ("missing.toml", ["missing.toml", "No such file"]),
        ("/dev/null", ["/dev/null", "retrylab init"]),
        ("/dev/zero", ["/dev/zero", "10 MB"]),
    ] {
        if path.starts_with("/dev") && !Path::new(path).exists() {
            continue;
        }
        refused(path, &run(home, &["run", path]), &parts);
    }
    refused("stdin", &run_with(home, &["run", "-"], b"format = 7\n"), &["standard input"]);
}

#[cfg(unix)]
#[test]
fn a_path_that_is_not_utf8_is_no_panic() {
    use std::os::unix::ffi::OsStrExt;
    let home = tempfile::tempdir().unwrap();
    let name = std::ffi::OsStr::from_bytes(b"st\xffrm.toml");
    refused("missing", &run(home.path(), &[std::ffi::OsStr::new("run"), name]), &["rm.toml"]);
    if std::fs::write(home.path().join(name), SMALL).is_ok() {
        assert_eq!(run(home.path(), &[std::ffi::OsStr::new("run"), name]).code, 0);
    }
}

#[test]
fn a_byte_order_mark_and_windows_line_ends_change_nothing() {
    let home = tempfile::tempdir().unwrap();
    let crlf = SMALL.replace('\n', "\r\n");
    let checked = |text: &str| {
        std::fs::write(home.path().join("storm.toml"), text).unwrap();
        let ran = run(home.path(), &["check", "storm.toml"]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        ran.out
    };
    let plain = checked(SMALL);
    assert_eq!(checked(&format!("\u{feff}{SMALL}")), plain);
    assert_eq!(checked(&crlf), plain);
    assert_eq!(checked(&format!("\u{feff}{crlf}")), plain);
    // A line number counts the same in both.
    let bad = crlf.replacen("clients = 20", "clients = 0", 1);
    std::fs::write(home.path().join("storm.toml"), bad).unwrap();
    let ran = run(home.path(), &["check", "storm.toml"]);
    refused("crlf", &ran, &["storm.toml:5:1", "5 | clients = 0\n"]);
}

#[test]
fn no_concurrency_at_all_is_a_total_outage_and_legal() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let ran = run(home.path(), &["run", "storm.toml", "--set", "provider.concurrency=0", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.json()["metrics"]["succeeded"]["max"], 0.0);
}

#[test]
fn absurd_sizes_are_refused_before_anything_is_allocated() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let start = Instant::now();
    for (set, parts) in [
        ("workload.clients=4000000000", ["4000000000 requests", "TiB", "--max-memory"]),
        ("workload={clients=5,closed_loop={jobs=4294967295}}", ["requests", "TiB", "--max-memory"]),
        ("workload={clients=5,poisson={rate=\"1000000/s\"}}", ["600000000", "GiB", "--max-memory"]),
        (
            "workload={clients=5,poisson={rate=\"1000000000000/s\"}}",
            ["requests", "4294967295", "shorten"],
        ),
    ] {
        for args in [
            vec!["run", "storm.toml"],
            vec!["run", "storm.toml", "--dry-run"],
            vec!["compare", "storm.toml"],
        ] {
            let args: Vec<&str> = args.into_iter().chain(["--set", set]).collect();
            refused(set, &run(home.path(), &args), &parts);
        }
    }
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert_eq!(command::names(home.path()), ["storm.toml"]);
}

#[test]
fn a_livelock_stops_with_a_sentence() {
    let home = tempfile::tempdir().unwrap();
    let text = "[workload]\nclients = 5\nburst = { at = \"0s\" }\n[provider]\nservice = \"0s\"\n\
                [[provider.faults]]\noutage = { from = \"0s\", status = 503 }\n\
                [[client.layers]]\nname = \"app\"\nmax_attempts = 1000000\n";
    std::fs::write(home.path().join("storm.toml"), text).unwrap();
    let start = Instant::now();
    let ran = run(home.path(), &["run", "storm.toml", "-o", "out"]);
    let parts =
        ["t = 0 s", "livelock", "max_attempts", "backoff", "events_per_instant", "seed 0x2a"];
    refused("livelock", &ran, &parts);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    assert_eq!(command::names(home.path()), ["storm.toml"]);
}

#[test]
fn a_trace_is_refused_by_file_and_line() {
    let home = tempfile::tempdir().unwrap();
    let text = SMALL.replacen("burst = { at = \"0s\" }", "trace = { file = \"trace.csv\" }", 1);
    std::fs::write(home.path().join("storm.toml"), text).unwrap();
    let header = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
    let row = "2023-11-16 18:17:03.9799600,4808,10\n";
    let burstgpt = "Timestamp,Model,Request tokens,Response tokens\n";
    let json = r#"{"timestamp": 0, "input_length": 1, "output_length": 1}"#;
    refused("missing", &run(home.path(), &["run", "storm.toml"]), &["trace.csv", "No such file"]);
    for (content, line, parts) in [
        (String::new(), 1, ["the file is empty", "TIMESTAMP"]),
        (format!("time,in,out\n{row}"), 1, ["time,in,out", "starts with"]),
        (header.to_owned(), 2, ["no rows", "at least one"]),
        (format!("{header}{row}2023-11-16 18:1"), 3, ["1 fields instead of 3", "cut off"]),
        (format!("{header}{row}soon,1,2\n"), 3, ["\"soon\"", "time stamp such as"]),
        (format!("{header}{row}2023-11-16 18:17:04,-1,2\n"), 3, ["ContextTokens", "\"-1\""]),
        (format!("{header}{row}2023-11-16 18:17:04,1,nan\n"), 3, ["GeneratedTokens", "\"nan\""]),
        (format!("{burstgpt}5,a,1,1\n5s,a,1,1\n"), 3, ["\"5s\"", "5.25 (seconds)"]),
        (format!("{burstgpt}5,a,1,\n"), 2, ["Response tokens = \"\"", "whole number"]),
        (format!("{json}\n{{\"timestamp\": 1}}\n"), 2, ["`input_length`", "a line is {"]),
        (format!("{json}\n\n1,2,3\n"), 3, ["expected", "a line is {"]),
    ] {
        std::fs::write(home.path().join("trace.csv"), &content).unwrap();
        for command in ["run", "check"] {
            let ran = run(home.path(), &[command, "storm.toml"]);
            assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{content:?}: {ran:?}");
            let place = format!("trace.csv:{line}: ");
            for part in parts.iter().chain([&place.as_str()]) {
                assert!(ran.err.contains(part), "{content:?}: no {part} in {}", ran.err);
            }
        }
    }
}

#[test]
fn bad_usage_says_what_is_allowed() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let cases: [(&[&str], &[&str]); 18] = [
        (
            &["reproduce", "thousand-client"],
            &["did you mean `thousand-clients`?", "reproduce --list"],
        ),
        (&["reproduce", "./nowhere/"], &["nowhere/experiment.toml"]),
        (&["compare", "storm.toml", "--policies", "ful"], &["did you mean `full`?", "no-retry"]),
        (&["compare", "storm.toml", "--policies", "full,full"], &["\"full\"", "twice"]),
        (&["compare", "storm.toml", "--policies", "preset:open"], &["openai-python-3.57"]),
        (&["compare", "storm.toml", "--layer", "ap"], &["did you mean `app`?"]),
        (&["plot", "load", "storm.toml", "-o", "."], &["name a file, such as load.svg"]),
        (&["plot", "lode", "storm.toml"], &["'lode'", "load"]),
        (&["plot", "waves", "nowhere"], &["nowhere", "no results folder"]),
        (&["plot", "waves", "nowhere", "--set", "a=1"], &["--set a=1", "are there"]),
        (&["plot", "load", "storm.toml", "--width", "9"], &["--width", "480"]),
        (&["run", "storm.toml", "--seed", "x"], &["--seed", "0x"]),
        (&["run", "storm.toml", "--seed", "-1"], &["'-1'"]),
        (&["run", "storm.toml", "-r", "0"], &["--replications", "1..=1000000"]),
        (&["run", "storm.toml", "--threads", "99999"], &["--threads", "1024"]),
        (&["run", "storm.toml", "--max-memory", "lots"], &["--max-memory", "8GiB"]),
        (&["run", "storm.toml", "--jsn"], &["--json"]),
        (&["rnu"], &["rnu"]),
    ];
    for (args, parts) in cases {
        let ran = run(home.path(), args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}: {ran:?}");
        for part in parts {
            assert!(ran.err.contains(part), "{args:?}: no {part} in {}", ran.err);
        }
    }
    assert_eq!(command::names(home.path()), ["storm.toml"]);
}

#[test]
fn a_wrong_experiment_is_named_by_line() {
    let home = tempfile::tempdir().unwrap();
    let good = "title = \"t\"\nquestion = \"q\"\nsource = \"s\"\nreplications = 5\n\
                [[policy]]\nname = \"a\"\nset = { \"workload.clients\" = 3 }\n\
                [[claim]]\nid = \"c\"\npolicy = \"a\"\nmetric = \"requests\"\nreference = 3\n\
                basis = \"closed_form\"\nsource = \"s\"\n";
    std::fs::write(home.path().join("scenario.toml"), SMALL).unwrap();
    let write = |text: &str| std::fs::write(home.path().join("experiment.toml"), text).unwrap();
    write(good);
    let path = format!("{}/", home.path().display());
    let ran = run(home.path(), &["reproduce", &path, "-q", "-o", "out"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for (old, new, parts) in [
        ("replications = 5", "replications = 0", ["experiment.toml:4:1", "1 to 1000000"]),
        (
            "[[claim]]",
            "[[policy]]\nname = \"a\"\n[[claim]]",
            ["experiment.toml:9:1", "two policies"],
        ),
        ("policy = \"a\"", "policy = \"b\"", ["experiment.toml:10:1", "no policy is called \"b\""]),
        ("\"requests\"", "\"request\"", ["experiment.toml:11:1", "did you mean `requests`?"]),
        ("basis = \"closed_form\"", "basis = \"closed\"", ["experiment.toml:13:1", "closed_form"]),
        ("reference = 3", "", ["experiment.toml:8:1", "published, reference, at_least or at_most"]),
        (
            "reference = 3",
            "at_most = 3\nover = { policy = \"b\" }",
            ["experiment.toml:13:1", "no policy is called \"b\""],
        ),
        (
            "reference = 3",
            "at_most = 3\nover = { metric = \"request\" }",
            ["experiment.toml:13:1", "did you mean `requests`?"],
        ),
        ("title =", "titel =", ["experiment.toml:1:1", "did you mean `title`?"]),
        (
            "\"workload.clients\" = 3",
            "\"workload.clients\" = 0",
            ["experiment.toml: policy a", "0 clients"],
        ),
        ("\"workload.clients\" = 3", "\"workload.clinets\" = 3", ["policy a", "`clients`"]),
    ] {
        assert!(good.contains(old));
        write(&good.replacen(old, new, 1));
        let ran = run(home.path(), &["reproduce", &path, "-q", "-o", "out"]);
        refused(new, &ran, &parts);
    }
    assert_eq!(command::names(home.path()), ["experiment.toml", "out", "scenario.toml"]);
}

const WITH_FALLBACK: &str = r#"workload = { clients = 5, burst = {} }

[provider]
concurrency = 5

[[fallback]]
name        = "second"
concurrency = 2

[[client.layers]]
name         = "router"
max_attempts = 2
fallback     = true
"#;

const IN_FALLBACKS: [Case; 10] = [
    ("[[fallback]]", "[fallback]", "6:2", &["fallback", "write [[fallback]] with a name"]),
    ("name        = \"second\"\n", "", "", &["fallback.0", "`name` is missing", "in quotes"]),
    ("\"second\"", "\"2nd one\"", "7:1", &["fallback.0.name", "letters, digits"]),
    ("\"second\"", "\"provider\"", "7:1", &["fallback.0.name", "two providers", "its own name"]),
    ("concurrency = 2", "concurency = 2", "8:1", &["fallback.0.concurency", "`concurrency`"]),
    ("concurrency = 2", "overload_status = 200", "8:1", &["fallback.0.overload_status", "400 to"]),
    (
        "concurrency = 2",
        "limits = { preset = \"openai\" }",
        "8:12",
        &["fallback.0.limits.preset", "no preset is called \"openai\""],
    ),
    ("fallback     = true\n", "", "", &["fallback", "nobody falls back", "fallback = true"]),
    ("max_attempts = 2", "max_attempts = 1", "13:1", &["never falls back", "max_attempts = 2"]),
    (
        "[[fallback]]\nname        = \"second\"\nconcurrency = 2\n",
        "",
        "10:1",
        &["client.layers.0.fallback", "nothing to fall back to", "write [[fallback]]"],
    ),
];

#[test]
fn a_wrong_fallback_is_named_by_line() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("storm.toml"), WITH_FALLBACK).unwrap();
    let ran = run(home.path(), &["check", "storm.toml"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    for (old, new, place, parts) in IN_FALLBACKS {
        assert!(WITH_FALLBACK.contains(old), "{old}");
        let text = WITH_FALLBACK.replacen(old, new, 1);
        std::fs::write(home.path().join("storm.toml"), text).unwrap();
        let ran = run(home.path(), &["check", "storm.toml"]);
        refused(new, &ran, parts);
        assert!(ran.err.starts_with(&format!("error: storm.toml:{place}")), "{new}: {}", ran.err);
    }
    let text = format!("{WITH_FALLBACK}\n[[client.layers]]\nname = \"gateway\"\nfallback = true\n");
    std::fs::write(home.path().join("storm.toml"), text).unwrap();
    let ran = run(home.path(), &["check", "storm.toml"]);
    refused("two", &ran, &["client.layers.1.fallback", "falls back already"]);
    std::fs::write(home.path().join("storm.toml"), WITH_FALLBACK).unwrap();
    let ran = run(home.path(), &["check", "storm.toml", "--set", "fallback.second.concurrency=x"]);
    refused("--set", &ran, &["fallback.second.concurrency", "x"]);
}

#[test]
fn a_setting_that_takes_the_trigger_away_is_named() {
    let home = tempfile::tempdir().unwrap();
    let write = |setting: &str| {
        let trigger = format!("[trigger]\nto = \"1s\"\nwithout = ['{setting}']\n[measure]");
        let text = SMALL.replacen("[measure]", &trigger, 1);
        std::fs::write(home.path().join("storm.toml"), text).unwrap();
    };
    for (setting, parts) in [
        ("provider.service=fast", ["trigger.without: provider.service", "fast"]),
        ("workload.clinets=5", ["trigger.without: workload.clinets", "did you mean `clients`?"]),
        ("client.layers.ap.timeout=5s", ["trigger.without: client.layers.ap", "known: sdk, app"]),
    ] {
        write(setting);
        for command in ["run", "check"] {
            refused(setting, &run(home.path(), &[command, "storm.toml"]), &parts);
        }
    }
}

#[test]
fn questions_to_a_trace_that_have_no_answer_are_refused() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("storm.toml"), SMALL).unwrap();
    let cases: [(&[&str], &[&str]); 9] = [
        (&["--explain", "21"], &["--explain 21", "makes 20", "from 1 to 20"]),
        (&["--explain", "0"], &["--explain 0", "the number of a request, from 1"]),
        (&["--explain", "first"], &["--explain first", "the number of a request"]),
        (&["--explain", "batch/3"], &["--explain batch/3", "has no groups; write 3"]),
        (&["--explain", "1", "--layer", "skd"], &["--layer", "--policy"]),
        (&["--policy", "ful"], &["ful", "did you mean"]),
        (&["--policy", "full", "--layer", "skd"], &["skd", "sdk"]),
        (&["-o", "storm.xml"], &["-o storm.xml", ".csv, .jsonl or .json"]),
        (&["--json"], &["--json", "--explain", "--format jsonl"]),
    ];
    for (args, parts) in cases {
        let ran = run(home.path(), &[&["trace", "storm.toml"], args].concat());
        refused(&format!("{args:?}"), &ran, parts);
    }
    let groups = SMALL.replace("[workload]", "[[group]]\nname = \"live\"\n[group.workload]");
    let groups = groups.replace("[[client.layers]]", "[[group.layers]]");
    let other = "\n[[group]]\nname = \"batch\"\nworkload = { clients = 2, burst = {} }\n";
    std::fs::write(home.path().join("groups.toml"), groups + other).unwrap();
    for (request, parts) in [
        ("3", ["--explain 3", "live/3"]),
        ("b/3", ["--explain b/3", "live, batch"]),
        ("batch/3", ["--explain batch/3", "group batch makes 2"]),
    ] {
        let ran = run(home.path(), &["trace", "groups.toml", "--explain", request]);
        refused(request, &ran, &parts);
    }
}
