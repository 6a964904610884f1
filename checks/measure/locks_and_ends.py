"""Opens what a measurement needs: the lock of every node, the far ends and the sender."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace

from checks.measure.far_end.far_process import FarEnd, FarEndError
from checks.measure.far_end.programs import LOCK, FarLimits, Interpreter
from checks.measure.load_limits import LoadLimits
from checks.measure.load_plan import Consent
from checks.measure.measure_error import MeasureError
from checks.measure.near_process import NearProcess, SenderError
from checks.measure.preparing import Prepared
from checks.model.measurement import MeasuredPath
from checks.model.settings import SshSettings
from checks.sources.nodes.shell import ShellError

_FAR_MARGIN_S = 10.0
_LOOPBACK = "127.0.0.1"


@contextmanager
def locked_here() -> Iterator[None]:
    """Hold the lock of this node. Raises MeasureError where another measurement has it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as lock:
        try:
            lock.bind(f"\0{LOCK}")
        except OSError:
            raise MeasureError("Another measurement runs on this node: wait for its end.") from None
        yield


async def open_far_ends(
    prepared: Prepared, ssh: SshSettings, stack: AsyncExitStack
) -> tuple[list[FarEnd | None], list[FarEnd]]:
    """Open a far end for each path that has one, and one that only holds the lock on each other peer of the plan.

    `stack` closes them. Paths to the same peer share no far end. Raises MeasureError, and then closes all of them.
    """
    limits, rooms = far_limits(prepared.plan.limits), prepared.plan.rooms
    in_fragments = prepared.plan.load.most_incomplete_bytes
    opened: Counter[str] = Counter()

    async def one(node: str, candidates: Sequence[Interpreter], own: str, peer: str, lock: str) -> FarEnd:
        own_limits = replace(
            limits, lock=lock, most_fragment_bytes=rooms[node].stop_bytes if in_fragments and node in rooms else 0
        )
        far = await FarEnd.open(node, ssh, candidates, own, peer, own_limits)
        stack.push_async_callback(far.close)
        return far

    answering: dict[int, asyncio.Task[FarEnd]] = {}
    for number, path in enumerate(prepared.paths):
        if path.far_end != "kernel":
            node = path.target_node
            lock = f"{LOCK}-{opened[node]}" if opened[node] else LOCK
            opened[node] += 1
            answering[number] = asyncio.create_task(
                one(node, prepared.candidates[node], path.target, path.source, lock)
            )
    # On its loopback a far end gets no packet of the measurement: it has nothing to do but to hold the lock.
    holding = [
        asyncio.create_task(one(node, candidates, _LOOPBACK, _LOOPBACK, LOCK))
        for node, candidates in prepared.lock_holders.items()
    ]
    tasks = [*answering.values(), *holding]
    try:
        for task in tasks:
            await task
    except (FarEndError, ShellError) as error:
        raise MeasureError(str(error)) from None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return (
        [answering[number].result() if number in answering else None for number in range(len(prepared.paths))],
        [task.result() for task in holding],
    )


def far_limits(limits: LoadLimits) -> FarLimits:
    """Return what a far end enforces by itself."""
    seconds = limits.whole_s + _FAR_MARGIN_S
    return FarLimits(seconds, limits.most_bytes, limits.cpu_share * seconds)


async def open_sender(consent: Consent, links: Sequence[MeasuredPath], here: str, stack: AsyncExitStack) -> NearProcess:
    """Start the sender on this node, which `stack` closes. Raises MeasureError."""
    plan, limits = consent.plan, consent.plan.limits
    slowest = min((limits.bits_per_s(link.speed_mbps) for link in links), default=limits.bits_per_s(None))
    try:
        sender = await NearProcess.open(
            packets_per_s=limits.packets_per_s,
            bits_per_s=slowest,
            most_bytes=limits.most_bytes,
            cpu_share=limits.cpu_share,
            rooms=dict(plan.rooms),
            stop_bytes=plan.rooms[here].stop_bytes if plan.load.most_incomplete_bytes else 0,
        )
    except SenderError as error:
        raise MeasureError(str(error)) from None
    stack.push_async_callback(sender.close)
    return sender
