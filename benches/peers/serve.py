"""Runs a model as told on standard input.

A line `CLIENTS RUNS SEED` is answered with a line of the CPU time in nanoseconds and what came out of each run.
"""

import gc
import sys
import time


def serve(run, generator):
    """`run(clients, rng)` gives the numbers of one run, `generator(seed)` the source of randomness of some runs."""
    for line in sys.stdin:
        clients, runs, seed = map(int, line.split())
        rng = generator(seed)
        # What earlier runs left behind is not the cost of these.
        gc.collect()
        before = time.process_time_ns()
        outcomes = [run(clients, rng) for _ in range(runs)]
        took = time.process_time_ns() - before
        print(took, *(number for outcome in outcomes for number in outcome), flush=True)
