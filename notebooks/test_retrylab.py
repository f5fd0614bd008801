"""Tests of retrylab.py against the command: python -m unittest discover notebooks"""

import os
import pathlib
import tempfile
import unittest
from unittest import mock

import retrylab

STORM = """
workload = { clients = 20, burst = {} }
provider.faults = [{ outage = { from = "0s", to = "2s", status = 529 } }]
[[client.layers]]
name = "sdk"
preset = "openai-python-3.57"
"""


class Command(unittest.TestCase):
    def test_run_gives_a_row_per_metric_and_per_replication(self):
        storm = retrylab.run(STORM, sets={"workload.clients": 30}, replications=4)
        requests = storm.metric("requests")
        self.assertEqual(requests["mean"].tolist(), [30])
        self.assertEqual(len(storm.runs), 4)
        self.assertAlmostEqual(storm.metric("attempts")["mean"][0], storm.runs["attempts"].mean())
        self.assertAlmostEqual(storm.windows["attempts_mean"].sum(), storm.runs["attempts"].mean(), places=6)

    def test_seed_and_output_are_passed_on(self):
        with tempfile.TemporaryDirectory() as home:
            kept = pathlib.Path(home) / "kept"
            first = retrylab.run(STORM, seed=7, replications=3, output=kept)
            self.assertTrue(retrylab.read(kept).runs.equals(first.runs))
            self.assertEqual(first.manifest["replications"], 3)
        again = retrylab.run(STORM, seed=7, replications=3)
        other = retrylab.run(STORM, seed=8, replications=3)
        self.assertTrue(again.runs.equals(first.runs))
        self.assertFalse(other.runs.equals(first.runs))

    def test_compare_has_every_policy(self):
        both = retrylab.compare(STORM, ["none", "full"], layer="sdk", replications=3)
        self.assertEqual(both.metric("attempts")["policy"].tolist(), ["none", "full"])
        self.assertEqual(len(both.runs), 6)

    def test_sweep_has_every_cell(self):
        grid = retrylab.sweep(STORM, {"workload.clients": [10, 20, 40]}, replications=3)
        cells = grid.metric("requests")
        self.assertEqual(cells["workload.clients"].tolist(), [10, 20, 40])
        self.assertEqual(cells["mean"].tolist(), [10, 20, 40])
        same = retrylab.sweep(STORM, {"workload.clients": "10..40:lin2"}, replications=3)
        self.assertEqual(same.metric("requests")["mean"].tolist(), [10, 40])

    def test_diff_reads_two_folders(self):
        with tempfile.TemporaryDirectory() as home:
            before, after = pathlib.Path(home) / "before", pathlib.Path(home) / "after"
            retrylab.run(STORM, replications=5, output=before)
            retrylab.run(STORM, sets={"client.layers.sdk.max_attempts": 2}, replications=5, output=after)
            changes = retrylab.diff(before, after, ["attempts"])
        self.assertEqual(changes["change"].tolist(), ["better"])
        self.assertLess(changes["high"][0], 0)

    def test_reproduce_gives_claims_and_results(self):
        claims, results = retrylab.reproduce("forty-workers", replications=10)
        self.assertEqual(len(results.runs), 30)
        claim = claims.set_index("id").loc["peak_in_flight/semaphore"]
        self.assertEqual((claim["mean"], claim["verdict"]), (8, "reproduced"))

    def test_schedule_and_trace_agree(self):
        first = retrylab.schedule("openai-python-3.57").set_index("retry").loc[1]
        events = retrylab.trace(STORM)
        arrived = events[(events["event"] == "arrived") & (events["attempt"] == 2)]["time_ns"] / 1e9
        self.assertEqual(len(arrived), 20)
        self.assertTrue(arrived.between(first["at.min_s"], first["at.max_s"]).all())

    def test_bad_input_raises_the_sentence_of_the_command(self):
        # As in a notebook, which asks for colours.
        with mock.patch.dict(os.environ, CLICOLOR_FORCE="1"), self.assertRaises(retrylab.RetrylabError) as refused:
            retrylab.run(STORM, sets={"workload.clints": 4})
        sentence = str(refused.exception)
        self.assertIn("did you mean `clients`?", sentence)
        self.assertTrue(sentence.startswith("--set workload.clints=4"), repr(sentence))
        self.assertEqual(len(sentence.splitlines()), 1)

    def test_a_check_that_says_no_is_an_answer(self):
        unmet = retrylab.run(STORM + "[expect]\nattempts = '<= 1'\n", replications=3)
        self.assertEqual(len(unmet.runs), 3)

    def test_an_unknown_metric_is_an_error(self):
        with self.assertRaises(KeyError):
            retrylab.run(STORM, replications=2).metric("atempts")


if __name__ == "__main__":
    unittest.main()
