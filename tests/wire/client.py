"""Calls stubs with a real Python SDK: jobs on standard input, what became of each call on standard output.

A job is {"url", "calls", "client", "stream", "timeout", "most"}: so many calls at once, each by a client of its
own name, given up after `most` seconds. With a scale all waits of the SDK are so many times shorter.
"""
import asyncio
import json
import sys

import anyio

package, scale, spread = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
if scale != 1:
    sleep = anyio.sleep
    anyio.sleep = lambda seconds: sleep(seconds / scale)
if package == "openai":
    from openai import AsyncOpenAI as Sdk
else:
    from anthropic import AsyncAnthropic as Sdk


async def call(client, url, stream):
    events = 0
    if package == "openai":
        client = client.with_options(base_url=url + "/v1")
        asked = {"model": "gpt-4o", "messages": [{"role": "user", "content": "hello"}], "stream": stream}
        answer = client.chat.completions.create(**asked)
    else:
        client = client.with_options(base_url=url)
        asked = {"model": "claude-sonnet-4", "max_tokens": 1000, "messages": [{"role": "user", "content": "hello"}]}
        answer = client.messages.create(**asked, stream=stream)
    try:
        answer = await answer
        if stream:
            async for _ in answer:
                events += 1
        return "none"
    except Exception as error:
        return type(error).__name__ + (" after events" if events else "")


async def job(client, job, start):
    await asyncio.sleep(start)
    if job.get("timeout"):
        client = client.with_options(timeout=job["timeout"])
    calls = [call(client, f"{job['url']}/c/{job['client']}{i}", job["stream"]) for i in range(job["calls"])]
    waited = [asyncio.wait_for(one, job["most"]) for one in calls]
    ended = await asyncio.gather(*waited, return_exceptions=True)
    return [end if isinstance(end, str) else "waiting" for end in ended]


async def main():
    jobs = json.load(sys.stdin)
    client = Sdk(api_key="sk-none", timeout=600)
    # The first call loads half of the package.
    await call(client, "http://127.0.0.1:1", False)
    starts = (i * spread / len(jobs) for i in range(len(jobs)))
    print(json.dumps(await asyncio.gather(*(job(client, j, s) for j, s in zip(jobs, starts)))))


asyncio.run(main())
