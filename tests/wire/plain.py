"""Load on stubs by plain HTTP: forty workers with and without a semaphore, and a stream of requests that nobody
retries. Imported by check.py."""
import asyncio
import json
import random
import time

BODY = json.dumps({"model": "m", "max_tokens": 1000, "messages": [{"role": "user", "content": "hello"}]}).encode()


async def post(port, client):
    """One request on a connection of its own; its status, 0 when the connection breaks."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        head = f"POST /c/{client}/v1/messages HTTP/1.1\r\nhost: s\r\nconnection: close\r\ncontent-length: {len(BODY)}\r\n\r\n"
        writer.write(head.encode() + BODY)
        answer = await reader.read()
        writer.close()
        return int(answer.split(b" ")[1]) if answer else 0
    except OSError:
        return 0


FORTY = """
title = "40 workers, 8 places"
[workload]
clients = 40
burst = { %s }
[provider]
concurrency = 8
overload_status = 429
service = "296ms"
%s
[[client.layers]]
name = "client"
max_attempts = %d
retry_on = { statuses = [429], server_errors = false, resets = false, timeouts = false }
%s
[measure]
horizon = "60s"
"""

# Name, spread, provider, attempts, layer, options of the stub.
ROWS = [
    ("semaphore of 8", "", "", 1, 'semaphore = { permits = 8, scope = "fleet" }', []),
    ("unbounded", "", "", 1, "", []),
    ("unbounded, system backlog of 5", "", "", 1, "", ["--backlog", "5"]),
    ("unbounded, system backlog of 128", "", "", 1, "", ["--backlog", "128"]),
    (
        "unbounded, backlog of 5 that resets", 'spread = "5ms"', 'backlog = { limit = 5, accept = "300us" }', 5,
        'backoff = { full_jitter = { base = "1s", cap = "30s" } }', [],
    ),
    (
        "unbounded, backlog of 128 that resets", 'spread = "5ms"', 'backlog = { limit = 128, accept = "300us" }', 5,
        'backoff = { full_jitter = { base = "1s", cap = "30s" } }', [],
    ),
]


async def worker(port, client, attempts, permits):
    for attempt in range(attempts):
        async with permits:
            status = await post(port, client)
        if status != 429 or attempt + 1 == attempts:
            return status
        await asyncio.sleep(random.random() * min(30, 2**attempt))


def forty(start):
    """The rows of the experiment: name, figures, what parts."""
    for name, spread, provider, attempts, layer, options in ROWS:
        stub = start(FORTY % (spread, provider, attempts, layer), *options)
        port = int(stub.url().rsplit(":", 1)[1])

        async def run():
            permits = asyncio.Semaphore(8 if "semaphore" in layer else 40)
            return await asyncio.gather(*(worker(port, i, attempts, permits) for i in range(40)))

        before = time.monotonic()
        ended = asyncio.run(run())
        took = time.monotonic() - before
        stub.stop()
        found = stub.validate("-r", "2000", "--overhead", "250ms")
        parted = [check for check in found["checks"] if not check["agrees"]]
        refused = sum(row["event"] == "refused" and row["status"] == "429" for row in stub.rows())
        reset = sum(row["event"] == "refused" and row["why"] == "connections" for row in stub.rows())
        figures = f"{ended.count(200)} of 40 answered, {refused} x 429, {reset} connections reset, {took:.2f} s"
        exact = layer.startswith("semaphore") and (ended.count(200), refused) != (40, 0)
        yield name, figures, parted or exact


STREAM = """
title = "100 requests per second, and no retry"
[workload]
clients = 500
poisson = { rate = "100/s", duration = "5s" }
[request]
input_tokens = 500
output_tokens = 50
[provider]
concurrency = 20
queue = { fifo = { limit = 10 } }
service = { exponential = { mean = "250ms" } }
limits = { requests = { rate = "80/s", burst = 20 } }
billing = { price = "claude-sonnet-4" }
[measure]
horizon = "60s"
"""


def stream(start):
    """A Poisson stream of requests, each by a client of its own: figures, what parts."""
    stub = start(STREAM)
    port = int(stub.url().rsplit(":", 1)[1])

    async def run():
        requests = []
        for client in range(500):
            requests.append(asyncio.create_task(post(port, client)))
            await asyncio.sleep(random.expovariate(100))
        return await asyncio.gather(*requests)

    ended = asyncio.run(run())
    stub.stop()
    found = stub.validate("-r", "20")
    figures = ", ".join(f"{ended.count(status)} x {status}" for status in sorted(set(ended)))
    return figures, [check for check in found["checks"] if not check["agrees"]]
