"""The account of lost blocks: each to the causes whose footprint holds it, none more than its counters allow."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from checks.diagnosis.cover import Covering
from checks.diagnosis.seen import Seen
from checks.model.facts import Activity
from checks.model.hypothesis import How, LossAccount
from checks.model.known_instances import active, instance_name, node_of
from checks.model.traffic import Traffic
from checks.model.wording import listed
from checks.rules.lost_blocks import InstanceLoss, loss_of
from checks.rules.node_counts import NodeCounts, node_counts, own_incomplete, vanish

_REASSEMBLY, _FILTER = "CAUSE-03", "CAUSE-08"
_COUNTED: tuple[tuple[str, str, Callable[[NodeCounts], int]], ...] = (
    ("CAUSE-02", "in its receive buffers", lambda c: c.overflowed + c.no_memory),
    ("CAUSE-04", "with a wrong checksum", lambda c: c.bad_checksums),
    ("CAUSE-15", "by rp_filter", lambda c: c.reverse_path),
    ("CAUSE-17", "in the backlog of a CPU", lambda c: c.backlog_dropped),
)
"""Cause, place, and the packets that the receiver's kernel counted there, in the order in which they pass."""
_BOUND = frozenset({_REASSEMBLY, _FILTER, *(code for code, _, _ in _COUNTED)})
"""The causes that a counter of the receiver bounds: they lose no block on the way."""


def loss_accounts(seen: Seen, entries: Sequence[Covering]) -> tuple[LossAccount, ...]:
    """Return the account of each instance that lost blocks, where its node's counters are known.

    A counter of the kernel includes the packets of other programs, so it explains at most that many blocks. Datagrams
    with a missing fragment (ReasmTimeout) count for what loses fragments on the way, other failures of reassembly for
    the node. What the counters leave counts for the causes on the paths from the senders; what several of these hold,
    for all of them. Blocks lost while racwire probed are apart where more were lost then than chance explains, and else
    where nothing explains them.
    """
    activity = seen.cluster.activity
    if not isinstance(activity, Activity):
        return ()
    losses = [loss for own in active(activity) if (loss := loss_of(activity, own)) and loss.lost]
    return tuple(
        _account(seen, loss, counts, entries)
        for loss in losses
        if (counts := node_counts(seen.cluster, node_of(seen.cluster, loss.instance)))
    )


def _account(seen: Seen, loss: InstanceLoss, counts: NodeCounts, entries: Sequence[Covering]) -> LossAccount:
    apart = loss.apart
    left, parts, explained = loss.lost - apart, [], dict[str, int]()

    def take(code: str, where: str, most: int) -> None:
        nonlocal left
        if (number := min(left, most)) > 0:
            left -= number
            explained[code] = explained.get(code, 0) + number
            parts.append(f"{number:,} {where}")

    for code, where, number in _COUNTED:
        take(code, where, number(counts))
    failed = max(0, counts.failed - own_incomplete(seen.cluster, counts))
    missing = min(failed, counts.timed_out)
    take(_joint(_losing_fragments(seen, counts.node, entries)) or _REASSEMBLY, "in reassembly", missing)
    where = "in reassembly, for want of memory or order" if missing else "in reassembly"
    # A full memory fails each fragment by itself: where that is enough for all blocks, it bounds nothing.
    others = _holding(_legs(seen, counts.node), entries) if failed - missing >= left > 0 else ()
    take(_joint((_REASSEMBLY, *others)), where, failed - missing)
    if vanish(counts, loss.lost):
        take(_FILTER, "after their arrival, for no counted reason", counts.vanished)
    for code, where, most in _on_paths(seen, loss, counts.node, entries):
        take(code, where, most)
    name = instance_name(seen.cluster, loss.instance)
    if not loss.only_while_probing:
        apart += (rest := min(left, (loss.while_probing or 0) - apart))
        left -= rest
    parts += [f"{apart:,} while racwire probed"] if apart else []
    total = " + ".join([*parts, *([f"{left:,} not explained"] if left else [])])
    return LossAccount(
        instance=name,
        node=counts.node,
        lost=loss.lost,
        explained=explained,
        while_probing=apart,
        unexplained=left,
        text=f"{loss.lost:,} lost at {name} = {total}.",
    )


def _losing_fragments(seen: Seen, node: str, entries: Sequence[Covering]) -> tuple[str, ...]:
    """Return the causes that lose fragments on the way to a node, of blocks that were sent in fragments if any were."""
    legs = [leg for leg in _legs(seen, node) if leg.forms == ("fragment",)]
    return _holding(legs or [Traffic(receivers=(node,), forms=("fragment",), protocols=("udp",))], entries)


def _on_paths(
    seen: Seen, loss: InstanceLoss, receiver: str, entries: Sequence[Covering]
) -> Iterator[tuple[str, str, int]]:
    """Yield cause, place and blocks for the senders whose path to the receiver some causes spoil."""
    groups: dict[str, list[int]] = defaultdict(list)
    for number in loss.senders:
        sender = node_of(seen.cluster, number)
        if code := _joint(_holding(_legs(seen, receiver, sender), entries)):
            groups[code].append(number)
    for code, numbers in groups.items():
        names = listed(dict.fromkeys(node_of(seen.cluster, n) for n in numbers))
        which = f" ({code})" if " or " in code else ""
        yield code, f"on the way from {names}{which}", sum(loss.senders[n] for n in numbers)


def _legs(seen: Seen, receiver: str, sender: str = "") -> list[Traffic]:
    """Return the packets of the blocks that a node lost, of one sender or of all."""
    return [
        leg
        for loss in seen.losses
        if loss.observation.what == "block"
        for leg in loss.observation.legs
        if leg.receivers == (receiver,) and (not sender or leg.senders is None or sender in leg.senders)
    ]


def _holding(legs: Sequence[Traffic], entries: Sequence[Covering]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            entry.first.cause.code
            for entry in entries
            if entry.first.cause.code not in _BOUND
            and any(e.how is not How.DELAYS and leg.meets(e.traffic) for e in entry.first.effects for leg in legs)
        )
    )


def _joint(codes: Sequence[str]) -> str:
    return " or ".join(sorted(codes))
