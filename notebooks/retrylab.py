"""Runs the `retrylab` command and reads what it writes as pandas DataFrames.

    import retrylab
    storm = retrylab.run("storm.toml", sets={"workload.clients": 500}, replications=40)
    storm.summary                       # a row per policy and metric

A scenario is the path of a TOML file, or its text. Nothing is simulated here: every number is the command's.
The command is the one that the environment variable RETRYLAB names, else `retrylab` on PATH, else the
release build of this repository.
"""

import io
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from dataclasses import dataclass

import pandas as pd

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent

# 1 is an answer (a check said no), not a failure.
ANSWERS = (0, 1)


class RetrylabError(Exception):
    """The command refused: its own sentence."""


@dataclass(frozen=True)
class Results:
    """What is in a results folder; None stands for a file that it does not have."""

    summary: pd.DataFrame
    """A row per policy (or cell) and metric: mean, sd, 95 % interval, least and most over the replications."""
    runs: pd.DataFrame
    """A row per policy (or cell) and replication, a column per metric."""
    windows: pd.DataFrame | None
    """A row per policy and window of time: means and quantiles over the replications."""
    manifest: dict
    """How the folder was made; `manifest["setting"]` has the capacity and the window of a run."""

    def metric(self, name):
        """The rows of the summary about one metric, a row per policy or cell."""
        rows = self.summary[self.summary["metric"] == name]
        if rows.empty:
            raise KeyError(name)
        return rows.drop(columns="metric").reset_index(drop=True)


def command():
    """The program that is run."""
    built = REPOSITORY / "target" / "release" / "retrylab"
    found = os.environ.get("RETRYLAB") or shutil.which("retrylab") or (built.exists() and str(built))
    if not found:
        raise RetrylabError("no retrylab found: name it in RETRYLAB, or build it with `cargo build --release`")
    return found


def call(*arguments, text=None):
    """Standard output of the command. Raises RetrylabError with its sentence when it refuses."""
    # Notebook kernels ask for colours by CLICOLOR_FORCE; a sentence has none.
    plain = {key: value for key, value in os.environ.items() if key != "CLICOLOR_FORCE"} | {"NO_COLOR": "1"}
    done = subprocess.run([command(), *map(str, arguments)], input=text, capture_output=True, text=True, env=plain)
    if done.returncode not in ANSWERS:
        raise RetrylabError(done.stderr.strip().removeprefix("error: ") or f"exit code {done.returncode}")
    return done.stdout


def read(folder):
    """Reads a results folder."""
    folder = pathlib.Path(folder)

    def table(name):
        path = folder / name
        return pd.read_csv(path) if path.exists() else None

    manifest = json.loads((folder / "manifest.json").read_text())
    return Results(table("summary.csv"), table("runs.csv"), table("windows.csv"), manifest)


def run(scenario, *, sets=None, replications=None, seed=None, output=None):
    """One scenario. `sets` changes keys of it: {"workload.clients": 500}; a text is written as it is."""
    return _results("run", scenario, _options(sets, replications, seed), output)


def compare(scenario, policies, *, layer=None, sets=None, replications=None, seed=None, output=None):
    """Policies on the same requests, service times and failures."""
    options = ["--policies", ",".join(policies), *_optional("--layer", layer)]
    return _results("compare", scenario, options + _options(sets, replications, seed), output)


def sweep(scenario, vary, *, sets=None, replications=None, seed=None, output=None):
    """Every combination of settings: {"workload.clients": [100, 200]}, or a text such as "100..900:lin9"."""
    options = []
    for key, values in vary.items():
        written = values if isinstance(values, str) else ",".join(map(str, values))
        options += ["--vary", f"{key}={written}"]
    return _results("sweep", scenario, options + _options(sets, replications, seed), output)


def diff(a, b, metrics=None):
    """Two results folders (or scenario files), run by run: a row per metric, `change` is better, worse, …

    Intervals hold together, with 95 % confidence over all metrics asked for.
    """
    options = _optional("--metric", metrics and ",".join(metrics))
    document = json.loads(call("diff", a, b, "--json", "--quiet", *options))
    rows = pd.DataFrame(document["changes"])
    rows["low"], rows["high"] = zip(*(interval or (None, None) for interval in rows.pop("interval")))
    return rows


def reproduce(name, *, replications=None, seed=None, output=None):
    """A published experiment: its claims with verdicts, and the results as (claims, Results)."""
    with _folder(output) as folder:
        options = _options(None, replications, seed)
        document = json.loads(call("reproduce", name, "--json", "--quiet", "-o", folder, *options))
        claims = pd.DataFrame(document["claims"])
        claims["low"], claims["high"] = zip(*claims.pop("ci95"))
        return claims, read(folder)


def schedule(preset):
    """When the retries of a preset or policy come: a row per retry, times in seconds after the first attempt."""
    document = json.loads(call("schedule", preset, "--json"))
    return pd.json_normalize(document["retries"])


def trace(scenario, *, sets=None, replication=0):
    """The events of one run, a row per event; `time_ns` is in nanoseconds."""
    path, text = _scenario(scenario)
    options = ["--replication", replication, *_options(sets, None, None)]
    return pd.read_csv(io.StringIO(call("trace", path, "--quiet", *options, text=text)), low_memory=False)


def _results(subcommand, scenario, options, output):
    path, text = _scenario(scenario)
    with _folder(output) as folder:
        call(subcommand, path, "--json", "--quiet", "-o", folder, *options, text=text)
        return read(folder)


def _scenario(scenario):
    """The argument and the standard input for a path, or for the text of a scenario."""
    if isinstance(scenario, str) and ("\n" in scenario or "=" in scenario):
        return "-", scenario
    return scenario, None


def _options(sets, replications, seed):
    options = [part for key, value in (sets or {}).items() for part in ("--set", f"{key}={value}")]
    return options + _optional("--replications", replications) + _optional("--seed", seed)


def _optional(option, value):
    return [] if value is None else [option, value]


class _folder:
    """The folder that was asked for, or one that is gone at the end."""

    def __init__(self, output):
        self.temporary = None if output else tempfile.TemporaryDirectory()
        self.path = pathlib.Path(output) if output else pathlib.Path(self.temporary.name) / "results"

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        if self.temporary:
            self.temporary.cleanup()
