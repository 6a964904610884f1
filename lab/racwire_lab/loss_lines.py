"""Format the lost blocks of the practice cluster for `racwire lab status --losses`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from racwire_lab.cluster.losses import Losses


def loss_lines(losses: Losses, nodes: tuple[str, ...]) -> Iterator[str]:
    """Yield a line for each receiver, and one for each counter that moved."""
    yield f"Blocks lost in {losses.ended_at - losses.begun_at:.0f} s:"
    for node in nodes:
        yield f"  {node}   {_account(losses, node)}"
    yield "Packets dropped, by rules since these last changed, by nodes since their start:"
    counters = [*losses.rules, *losses.queues, *losses.kernels]
    moved = [f"  {counter.place}   {counter.name}   {counter.packets:,}" for counter in counters if counter.packets]
    yield from moved or ["  none"]


def _account(losses: Losses, node: str) -> str:
    by_rule = Counter[str]()
    for lost in losses.lost:
        if lost.receiver == node:
            by_rule[lost.rule] += lost.blocks
    total, left = by_rule.total(), by_rule.pop("", 0)
    no_room = min(left, losses.no_room.get(node, 0))
    parts = [f"{blocks:,} by {rule}" for rule, blocks in sorted(by_rule.items())]
    parts += [f"{no_room:,} without room in the receive buffer"] if no_room else []
    parts += [f"{left - no_room:,} elsewhere"] if left > no_room else []
    return f"{total:,}{' = ' if parts else ''}{' + '.join(parts)}"
