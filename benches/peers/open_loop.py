"""N clients whose every attempt fails at once, in NumPy: four retries each, the fullest window of them."""

import numpy as np

from serve import serve

RETRIES = 4
WINDOWS_PER_SECOND = 10
BASE, CAP = 1.0, 30.0
MOST = np.minimum(CAP, BASE * 2.0 ** np.arange(RETRIES))[:, np.newaxis]


def run(clients, rng):
    """Retries, and how many of them fall into the fullest window."""
    waits = rng.random((RETRIES, clients))
    waits *= MOST
    instants = np.cumsum(waits, axis=0, out=waits)
    instants *= WINDOWS_PER_SECOND
    load = np.bincount(instants.astype(np.int64).ravel())
    return instants.size, load.max()


if __name__ == "__main__":
    serve(run, np.random.default_rng)
