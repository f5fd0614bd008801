"""A sweep in parts on the workers of a Dask cluster, without a shared disk.

    python contrib/dask_sweep.py [--scheduler ADDRESS] [--retrylab PROGRAM] PARTS OUT SCENARIO --vary …

Without --scheduler it starts two workers on this machine. Every worker needs the program; the scenario is
sent to it (not the traces that it reads), and the journal of its part comes back. Needs
`pip install distributed`.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile


def run_part(retrylab, shard, scenario, options):
    """Runs one part on a worker; returns its journal."""
    with tempfile.TemporaryDirectory() as home:
        home = pathlib.Path(home)
        (home / "scenario.toml").write_bytes(scenario)
        command = [retrylab, "sweep", "scenario.toml", *options, "--threads", "1", "--quiet"]
        done = subprocess.run(
            [*command, "--shard", shard, "--output", "part"], cwd=home, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"part {shard}: {done.stderr.strip()}")
        return (home / "part" / "journal.bin").read_bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--scheduler", help="address of a running scheduler")
    parser.add_argument("--retrylab", default="retrylab", help="the program, as workers find it")
    parser.add_argument("parts", type=int)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("scenario", type=pathlib.Path)
    parser.add_argument("options", nargs=argparse.REMAINDER, help="--vary … as for retrylab sweep")
    args = parser.parse_args()

    from distributed import Client, LocalCluster

    cluster = args.scheduler or LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    with Client(cluster) as client, tempfile.TemporaryDirectory() as home:
        scenario = args.scenario.read_bytes()
        shards = [f"{i}/{args.parts}" for i in range(1, args.parts + 1)]
        # The same call has the same result: a worker that is lost is replaced.
        futures = [client.submit(run_part, args.retrylab, shard, scenario, args.options) for shard in shards]
        folders = []
        for number, future in enumerate(futures, 1):
            folder = pathlib.Path(home) / str(number)
            folder.mkdir()
            (folder / "journal.bin").write_bytes(future.result())
            folders.append(str(folder))
        merge = [args.retrylab, "merge", *folders, "--fresh", "--output", str(args.out)]
        return subprocess.run(merge).returncode


if __name__ == "__main__":
    sys.exit(main())
