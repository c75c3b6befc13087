"""Speed and memory of the API backend against a server on loopback: ``python -m benchmarks.scoring_api``.

The server is a process of its own that answers every chat completion after a fixed time. *Ideal* is the time
that so many requests take at that latency and concurrency if nothing else took any: ceil(n / c) x latency.

``python -m benchmarks.scoring_api ledger`` prints what keeping the answers costs: none kept, kept in segments of 256
answers, and kept before a place is free again, with and without waiting for the disk (fsync); the range of five runs,
all in turn.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from audit_lib.score.backends import backend
from audit_lib.score.ledger import Ledger, ledger_keys
from audit_lib.score.packs import pack
from audit_lib.score.remote.limiter import Allotment, Limiter
from audit_lib.score.requests import Candidate, Message, Request
from audit_lib.spec import Model
from audit_lib.store import LocalStore

KEY = "BENCHMARK_API_KEY"
_TOP = [{"token": " Yes", "logprob": -0.5}, {"token": " No", "logprob": -1.5}]
_TOP += [{"token": f" w{i}", "logprob": -4.0 - i} for i in range(18)]
ANSWER = json.dumps(
    {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "served-1",
        "usage": {"prompt_tokens": 700, "completion_tokens": 1, "total_tokens": 701},
        "choices": [
            {
                "index": 0,
                "finish_reason": "length",
                "message": {"role": "assistant", "content": " Yes"},
                "logprobs": {"content": [{"token": " Yes", "logprob": -0.5, "top_logprobs": _TOP}]},
            }
        ],
    }
).encode()


async def serve(latency: float) -> None:
    """Answer every request on every connection after `latency` seconds, for ever."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
                length = next(
                    int(line.split(b":")[1]) for line in lines if line.startswith(b"content-length")
                )
                await reader.readexactly(length)
                await asyncio.sleep(latency)
                writer.write(head + ANSWER)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


@contextmanager
def server(latency: float) -> Iterator[str]:
    """Run the server for a while; give its URL."""
    command = [sys.executable, "-m", "benchmarks.scoring_api", "serve", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


def requests(count: int) -> list[Request]:
    """Return prompts of about 2,800 characters (some 700 tokens), each its own."""
    return [
        Request(
            request_id=f"r{i:06d}",
            section="s",
            family=f"f{i:06d}",
            messages=(Message(role="user", content=f"{i} " + "long experience in shops " * 112),),
            labels=("No", "Yes"),
            candidates=(Candidate(variant_id=f"v{i}"),),
        )
        for i in range(count)
    ]


def resident_mb() -> float:
    """Return the resident memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def run(url: str, count: int, concurrency: int, kept: str = "none") -> tuple[float, float, list[float]]:
    """Ask `count` requests; return wall clock, CPU seconds and memory after each tenth. `kept`: one of `KEPT`."""
    options = {"base_url": url, "api_key_env": KEY, "max_concurrency": concurrency}
    asking = backend.get("openai")(Model(backend="openai", name="m", options=options))
    packs = pack(requests(count), asking.pack_size)
    sync = (lambda descriptor: None) if kept.endswith("no fsync") else os.fsync
    with tempfile.TemporaryDirectory(dir=".") as folder, patch.object(os, "fsync", sync):
        ledger = Ledger(LocalStore(folder), "ledger", "0-of-1", ledger_keys(packs))
        if kept.startswith("before"):
            asking.allot(Allotment(limiter=Limiter(asking.options), keep=ledger.flush))
        memory, wall, cpu = [], time.perf_counter(), time.process_time()
        for done, response in enumerate(asking.score(packs), start=1):
            if response.status != "ok":
                raise SystemExit(f"not answered: {response.detail}")
            if kept != "none":
                ledger.add(response)
            if done % max(count // 10, 1) == 0:
                memory.append(resident_mb())
        ledger.close()
        return time.perf_counter() - wall, time.process_time() - cpu, memory


KEPT = ("none", "in segments", "before a place is free", "before a place is free, no fsync")


def compare_keeping() -> None:
    """Print what each way of keeping the answers costs."""
    os.environ[KEY] = "any"
    print(f"load average at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for latency, count, concurrency in ((0.2, 1000, 64), (0.2, 200, 8), (0.02, 2000, 64), (0.02, 200, 1)):
        found: dict[str, list[tuple[float, float]]] = {kept: [] for kept in KEPT}
        with server(latency) as url:
            run(url, 2 * concurrency, concurrency)  # imports and connections
            for _ in range(5):
                for kept in KEPT:
                    found[kept].append(run(url, count, concurrency, kept)[:2])
        print(f"{count} requests, {latency * 1000:.0f} ms, concurrency {concurrency}")
        for kept, times in found.items():
            rates = [count / wall for wall, _ in times]
            cpu = [1000 * cpu / count for _, cpu in times]
            print(
                f"    {kept:34} {min(rates):6.1f} to {max(rates):6.1f} requests/s, "
                f"CPU {min(cpu):.2f} to {max(cpu):.2f} ms a request",
                flush=True,
            )


def main() -> None:
    """Print the figures."""
    os.environ[KEY] = "any"
    print(f"load average at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    latency, count, concurrency = 0.2, 1000, 64
    ideal = math.ceil(count / concurrency) * latency
    with server(latency) as url:
        run(url, 2 * concurrency, concurrency)  # imports and connections
        for _ in range(3):
            wall, cpu, _ = run(url, count, concurrency)
            print(
                f"{count} requests, {latency * 1000:.0f} ms, concurrency {concurrency}: {wall:.2f} s; "
                f"ideal {ideal:.2f} s; {wall / ideal:.3f} x ideal; CPU {cpu:.2f} s "
                f"({1000 * cpu / count:.2f} ms a request)"
            )
    with server(0.02) as url:
        wall, cpu, memory = run(url, 10_000, concurrency)
    print(
        f"10000 requests, 20 ms, concurrency {concurrency}: {wall:.1f} s, CPU {cpu:.1f} s; resident memory after "
        f"each tenth: {', '.join(f'{m:.0f}' for m in memory)} MB; first to last {memory[-1] - memory[0]:+.1f} MB"
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(float(sys.argv[2])))
    elif sys.argv[1:2] == ["ledger"]:
        compare_keeping()
    else:
        main()
