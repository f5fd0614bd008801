"""Scenario files against docs/reference/scenario.schema.json: good ones are valid, wrong ones are not."""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from jsonschema import Draft7Validator

HOME = Path(__file__).parents[2]
VALIDATOR = Draft7Validator(json.loads((HOME / "docs/reference/scenario.schema.json").read_text()))

GOOD = """
workload = { clients = 5, burst = {} }
[provider]
concurrency = 5
service = "100ms"
[[client.layers]]
name = "sdk"
max_attempts = 3
backoff = { full_jitter = { base = "1s", cap = "8s" } }
"""

# What is changed in it, and to what.
WRONG = [
    ("clients = 5", "client = 5"),  # unknown key
    ("clients = 5", 'clients = "5"'),  # text for a number
    ("clients = 5", "clients = 0"),  # out of range
    ("clients = 5", "clients = 2.5"),  # not whole
    ('service = "100ms"', "service = 100"),  # no unit
    ('service = "100ms"', 'service = "100"'),
    ('service = "100ms"', 'service = "100m"'),  # minutes or milliseconds
    ('service = "100ms"', 'service = "100 parsecs"'),
    ('service = "100ms"', "service = { exponential = { median = 5 } }"),  # key of another law
    ('service = "100ms"', 'service = "1s"\noverload_status = 200'),
    ('service = "100ms"', 'service = "1s"\nqueue = { filo = {} }'),  # unknown kind
    ('service = "100ms"', 'service = "1s"\nlimits = { requests = { rate = "60", burst = 1 } }'),
    ('service = "100ms"', 'service = "1s"\nfaults = [{ outage = { to = "1s", status = 503 } }]'),  # no start
    ('service = "100ms"', 'service = "1s"\nbilling = { rule = "lenient" }'),
    ("full_jitter", "fullest_jitter"),
    ("max_attempts = 3", "max_attempts = 1_000_001"),
    ('name = "sdk"', ""),  # a key that is needed
    ("burst = {}", "burst = []"),
    ("workload = ", "work_load = "),
    (GOOD[: GOOD.index("[provider]")], 'trigger = { to = "5s", without = ["provider.faults=[]"] }\n'),  # no clients
]


def scenarios():
    """Where a scenario is from, and its text."""
    for path in sorted(HOME.glob("experiments/**/scenario.toml")) + sorted(HOME.glob("tests/golden/*.toml")):
        if "workload" in path.read_text() or "[[group]]" in path.read_text():
            yield str(path.relative_to(HOME)), path.read_text()
    yield "init.toml", (HOME / "src/cli/init.toml").read_text()
    pages = [HOME / "README.md", *HOME.glob("docs/**/*.md"), *HOME.glob("experiments/**/*.md")]
    for page in sorted(pages):
        text = page.read_text()
        for block in re.finditer(r"^ *```toml\n(.*?)^ *```", text, re.S | re.M):
            if "workload" in block[1] and "provider" in block[1]:
                line = text[: block.start()].count("\n") + 2
                yield f"{page.relative_to(HOME)}:{line}", block[1]


def errors(text):
    return [error.message for error in VALIDATOR.iter_errors(tomllib.loads(text))]


def taplo(text):
    """What Taplo, the TOML plugin of editors, says of a file whose first line names the schema."""
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "scenario.toml")
        schema = HOME / "docs/reference/scenario.schema.json"
        file.write_text(f"#:schema {schema.as_uri()}\n{text}")
        return subprocess.run(["taplo", "check", file], cwd=home, capture_output=True).returncode


def main():
    VALIDATOR.check_schema(VALIDATOR.schema)
    found = list(scenarios())
    for where, text in found:
        assert not errors(text), (where, errors(text))
    assert len(found) > 20, len(found)
    assert not errors(GOOD), errors(GOOD)
    for old, new in WRONG:
        assert old in GOOD, old
        assert errors(GOOD.replace(old, new)), f"the schema allows {new}"
    assert taplo(GOOD) == 0 and taplo(GOOD.replace("clients = 5", "client = 5")) == 1
    print(f"{len(found)} scenarios are valid, {len(WRONG)} wrong ones are not")


sys.exit(main())
