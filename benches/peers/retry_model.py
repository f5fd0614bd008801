"""N clients that fail together, in SimPy: a process per client, and the provider as a resource."""

import random
from collections import Counter

import simpy

from serve import serve

MAX_ATTEMPTS = 5
WINDOW = 0.1
SERVICE_RATE = 25.0  # 40 ms each
BASE, CAP = 1.0, 30.0


def client(env, provider, most_waiting, rng, load, answered):
    for made in range(1, MAX_ATTEMPTS + 1):
        load[int(env.now / WINDOW)] += 1
        if provider.count < provider.capacity or len(provider.queue) < most_waiting:
            with provider.request() as place:
                yield place
                yield env.timeout(rng.expovariate(SERVICE_RATE))
            answered.append(env.now)
            return
        if made < MAX_ATTEMPTS:
            yield env.timeout(rng.uniform(0, min(CAP, BASE * 2 ** (made - 1))))


def run(clients, rng):
    """Attempts, requests answered, attempts in the first window and in the fullest one."""
    env = simpy.Environment()
    provider = simpy.Resource(env, capacity=clients // 100)
    load, answered = Counter(), []
    for _ in range(clients):
        env.process(client(env, provider, clients // 20, rng, load, answered))
    env.run()
    return load.total(), len(answered), load[0], max(load.values())


if __name__ == "__main__":
    serve(run, random.Random)
