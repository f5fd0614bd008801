"""Real SDKs against the stub, beside what the simulator says of them.

    python3 tests/wire/check.py RETRYLAB WORK [--all]

Every build below is installed from its registry, runs the scenarios that were recorded in
tests/data/sdk/ground_truth.csv against stubs, and is compared by `retrylab validate` with the simulation of its
preset: calls exact, waits of the simulated law. Then a fleet of 50 clients of each build fails together. Only with
--all: the builds that follow the same rules as another one, and scenarios that take more than five seconds, with all
waits twenty times shorter. The tally is printed; the exit code is 1 when a run is not met.
"""
import csv
import itertools
import json
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import plain

HERE = Path(__file__).parent
RETRYLAB, WORK = sys.argv[1], Path(sys.argv[2])
ALL = "--all" in sys.argv
CALLS = 4
SCALE = 20
# Package, version, name of its presets: two or more rules for Retry-After of each. The last ones only with --all.
BUILDS = [
    ("openai", "1.75.0", "openai-python"),
    ("openai", "3.57.0", "openai-python"),
    ("anthropic", "0.49.0", "anthropic-python"),
    ("anthropic", "2.14.0", "anthropic-python"),
    ("openai", "7.59.0", "openai-node"),
    ("@anthropic-ai/sdk", "1.14.0", "anthropic-node"),
] + ALL * [
    ("openai", "2.46.0", "openai-python"),
    ("anthropic", "1.5.0", "anthropic-python"),
    ("openai", "6.25.0", "openai-node"),
    ("@anthropic-ai/sdk", "0.70.0", "anthropic-node"),
]
# What no stub can record, and what it does not do.
LEFT_OUT = {
    "refused": "nobody listens, so nobody records",
    "stream_drop_after": "the stub ends a broken stream with the vendor's error event",
}


def provider(scenario):
    """The provider that plays a recorded scenario; as in tests/sdk.rs."""
    def outage(status, more=""):
        return f'provider.faults = [{{ outage = {{ from = "0s", status = {status}{more} }} }}]'

    def says(keys):
        return outage(429, f", answer = {{ {keys} }}")

    def broken(when, how):
        return (
            "request = { stream = true, output_tokens = 100 }\n"
            'provider = { service = { tokens = { first = "10ms", rate = "10000/s" } }, '
            f'faults = [{{ stream_error = {{ share = 1.0, when = "{when}", how = "{how}" }} }}] }}'
        )

    known = {
        "ok": "provider = {}",
        "fail1_ok": outage(429, ", attempts = 1"),
        "plain429": outage(429),
        "stream_429": outage(429),
        "spend": says('error_code = "enforced_spend_limit_reached"'),
        "insufficient_quota": says('error_code = "insufficient_quota"'),
        "drop": 'provider.faults = [{ refuse_connections = { from = "0s" } }]',
        "read_timeout_1s": 'provider.faults = [{ outage = { from = "0s", silence = true } }]',
        "stream_err_before": broken("before_first_token", "error"),
        "stream_err_after": broken("after_first_token", "error"),
        "stream_hang_after_1s": broken("after_first_token", "silence"),
        "ra_both": says('retry_after = "2", retry_after_ms = "700"'),
        "ra_bothms0": says('retry_after = "2", retry_after_ms = "0"'),
        "ra_date3": says('retry_after = "now+3s"'),
        "ra_date90": says('retry_after = "now+90s"'),
        "ra_date_past": says('retry_after = "now-30s"'),
        "ra_garbage": says('retry_after = "soon"'),
        "xsr_false_429": says("should_retry = false"),
        "xsr_false_500": outage(500, ", answer = { should_retry = false }"),
        "xsr_true_400": outage(400, ", answer = { should_retry = true }"),
        "xsr_true_429_ra2": says('should_retry = true, retry_after = "2"'),
        "xsr_true_429_ra121": says('should_retry = true, retry_after = "121"'),
    }
    if scenario in known:
        return known[scenario]
    if scenario.startswith("st"):
        return outage(int(scenario[2:]))
    if scenario.startswith("ra_ms"):
        return says(f'retry_after_ms = "{scenario[5:]}"')
    return says(f'retry_after = "{scenario[3:].replace("p", ".")}"')


class Stub:
    """A stub that plays a scenario, and its log."""

    def __init__(self, folder, text, *options):
        folder.mkdir(parents=True)
        self.scenario, self.log = folder / "scenario.toml", folder / "wire.csv"
        self.scenario.write_text(text)
        args = [RETRYLAB, "stub", self.scenario, "--json", "-q", "-o", self.log, *options]
        self.process = subprocess.Popen(args, stdout=subprocess.PIPE, text=True)

    def url(self):
        return json.loads(self.process.stdout.readline())["url"]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(40) == 0

    def rows(self):
        with open(self.log) as file:
            return list(csv.DictReader(file))

    def validate(self, *options):
        args = [RETRYLAB, "validate", self.log, self.scenario, "--json", "-q", *options]
        done = subprocess.run(args, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout)


def install(build):
    """Installs a build; the command that runs its client."""
    package, version, name = build
    folder = WORK / "builds" / f"{name}-{version}"
    if name.endswith("python"):
        if not folder.exists():
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            pip = [folder / "bin/pip", "install", "-q", "--disable-pip-version-check", f"{package}=={version}"]
            subprocess.run(pip, check=True)
        return lambda scale, spread: [folder / "bin/python", HERE / "client.py", package, str(scale), str(spread)]
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / "package.json").write_text("{}")
        npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", f"{package}@{version}"]
        subprocess.run(npm, check=True, cwd=folder)
    kind = "openai" if package == "openai" else "anthropic"
    return lambda scale, spread: ["node", HERE / "client.mjs", kind, folder, str(scale), str(spread)]


def layer(build, more=""):
    return f'[[client.layers]]\nname = "sdk"\npreset = "{build[2]}-{build[1]}"\n{more}\n'


def is_long(build, scenario, recorded):
    """True when a scenario takes more than five seconds, by the recording of the nearest build of the same package."""
    times = [float(row["elapsed_s"] or 260) for row in recorded if row["scenario"] == scenario]
    return max(times) >= 5


def scenarios(build, recorded):
    sdk = {"openai-python": "openai", "anthropic-python": "anthropic", "openai-node": "openai-node", "anthropic-node": "anthropic-ts"}
    rows = [row for row in recorded if row["sdk"] == sdk[build[2]]]
    names = sorted({row["scenario"] for row in rows} - set(LEFT_OUT))
    return [(name, is_long(build, name, rows)) for name in names]


def run_build(build, client, recorded):
    """All scenarios of a build; what became of each. What parts is run once more with fewer beside it: a machine that is
    busy makes waits late."""
    found = {}
    for long in [False, True]:
        names = [name for name, is_long in scenarios(build, recorded) if is_long == long]
        if not names or (long and not ALL):
            continue
        found |= run_scenarios(build, client, names, long, 6)
        again = [name for name in names if found[name]]
        for few in [again[i : i + 6] for i in range(0, len(again), 6)]:
            found |= run_scenarios(build, client, few, long, 2)
    return found


def run_scenarios(build, client, names, long, spread):
    """So many scenarios at once, begun over so many seconds."""
    scale = SCALE if long else 1
    stubs, jobs = {}, []
    for name in names:
        timeout = 'timeout = "1s"' if name.endswith("_1s") else ""
        text = (
            f'{provider(name)}\nmeasure.horizon = "261s"\nworkload = {{ clients = {CALLS}, burst = {{ spread = "1s" }} }}\n'
            + layer(build, timeout)
        )
        folder = WORK / "runs" / f"{build[2]}-{build[1]}" / name
        shutil.rmtree(folder, ignore_errors=True)
        stubs[name] = Stub(folder, text, "--time-scale", str(scale))
    for name, stub in stubs.items():
        jobs.append({
            "url": stub.url(), "calls": CALLS, "client": "worker", "stream": name.startswith("stream"),
            "timeout": 1 if name.endswith("_1s") else None, "most": 260 / scale if long else 30,
        })
    done = subprocess.run(client(scale, spread), input=json.dumps(jobs), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    for stub in stubs.values():
        stub.stop()
    return {name: judge(stub, name, scale) for name, stub in stubs.items()}


def judge(stub, name, scale):
    """Empty, or in what the stub and the simulation part."""
    overhead = f"{0.25 * scale}s"
    options = ["--overhead", overhead]
    if name.startswith("ra_date"):
        # A date has whole seconds: the wait depends on the phase of the clock, which no simulation knows.
        options = ["--overhead", "1s" if scale == 1 else "5s", "--arrivals", "scenario"]
    parted = [check for check in stub.validate(*options)["checks"] if not check["agrees"]]
    if name.startswith("ra_date"):
        parted = [check for check in parted if check["name"].startswith("requests")]
    # How few calls share a window is chance; fleets are for that.
    parted = [check for check in parted if "busiest" not in check["name"]]
    return "; ".join(f"{c['name']}: {c['measured']:g}, simulated {c['low']:g} to {c['high']:g}" for c in parted)


FLEET = """
title = "50 clients fail together"
[workload]
clients = 50
burst = {}
[request]
input_tokens = 1000
output_tokens = 60
[provider]
concurrency = 12
queue = { fifo = { limit = 8 } }
service = "1500ms"
billing = { price = "claude-sonnet-4" }
[[provider.faults]]
outage = { from = "0s", status = 503, attempts = 1 }
[measure]
horizon = "60s"
"""


def run_fleet(build, client):
    """All fail, come back, and find 20 places. All waits are four times as long, so that the one process that sends for all
    matters less: what an attempt takes is read off the first ones, an answer is taken to cost as much, and the
    rest is predicted."""
    folder = WORK / "runs" / f"{build[2]}-{build[1]}" / "fleet"
    stub = Stub(folder, FLEET + layer(build), "--time-scale", "0.25")
    job = {"url": stub.url(), "calls": 50, "client": "worker", "stream": False, "timeout": None, "most": 60}
    done = subprocess.run(client(0.25, 0), input=json.dumps([job]), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    stub.stop()
    first = [int(row["time_ns"]) for row in stub.rows() if row["event"] == "arrived" and row["attempt"] == "1"]
    cost = (max(first) - min(first)) / 49 / 1e6
    host = f'client.host={{ cpu_per_attempt = "{cost:.3f}ms", cpu_per_answer = "{cost:.3f}ms" }}'
    found = stub.validate("-r", "1000", "--overhead", "100ms", "--arrivals", "scenario", "--set", host)
    parted = "; ".join(
        f"{c['name']}: {c['measured']:g}, simulated {c['low']:g} to {c['high']:g}" for c in found["checks"] if not c["agrees"]
    )
    busiest = next(c for c in found["checks"] if "busiest" in c["name"])
    share = f"{busiest['measured']:.0%} of retries in the busiest 100 ms, simulated {busiest['low']:.0%} to {busiest['high']:.0%}"
    return f"{found['attempts']} calls, {share}, {cost:.1f} ms per attempt", parted


def main():
    with open(HERE / "../data/sdk/ground_truth.csv") as file:
        recorded = list(csv.DictReader(file))
    with ThreadPoolExecutor(2) as pool:
        clients = list(pool.map(install, BUILDS))
    failed = 0

    def run(build, client):
        start = time.monotonic()
        return run_build(build, client, recorded), *run_fleet(build, client), time.monotonic() - start

    with ThreadPoolExecutor(2) as pool:
        runs = list(pool.map(run, BUILDS, clients))
    for build, (found, fleet, parted, took) in zip(BUILDS, runs):
        met = sum(not why for why in found.values())
        failed += len(found) - met + bool(parted)
        print(
            f"{build[2]} {build[1]}: {met} of {len(found)} scenarios as simulated; fleet of 50: {fleet}: "
            f"{parted or 'as simulated'} ({took:.0f} s)", flush=True
        )
        for name, why in sorted(found.items()):
            if why:
                print(f"  {name}: {why}")
    numbers = itertools.count()
    start = lambda text, *options: Stub(WORK / "runs" / f"plain-{next(numbers)}", text, *options)
    for name, figures, parted in plain.forty(start):
        print(f"40 workers, {name}: {figures}: {parted or 'as simulated'}", flush=True)
        failed += bool(parted)
    figures, parted = plain.stream(start)
    print(f"plain HTTP, 100 requests per second for 5 s: {figures}: {parted or 'as simulated'}")
    sys.exit(bool(failed or parted))


main()
