"""Traces the kernel in its own namespaces and prints the facts; `test_kernel_trace.py` runs it."""

from __future__ import annotations

import asyncio
import socket
import sys

import msgspec

from checks.model.journal import Journal
from checks.sources.kernel_trace.tracing import trace_drops
from checks.sources.nodes.shell import Shell

SIZE = 1237
FREE, FILTERED = 50_001, 50_002


async def main(seconds: int, packets: int) -> None:
    """Trace for some seconds while datagrams of one size arrive, every third at a port that is filtered."""

    async def send() -> None:
        print("tracing", flush=True)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for number in range(packets):
                port = FREE if number % 3 else FILTERED
                try:
                    sender.sendto(bytes(SIZE - 28), ("10.99.0.2", port))
                except ConnectionRefusedError:
                    continue
                await asyncio.sleep(0.002)

    found = await trace_drops(await Shell.open_local("rac1"), Journal(), ["tt1"], seconds, size=SIZE, during=send)
    print(msgspec.json.encode(found).decode(), flush=True)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
