"""Divide the lost blocks of each receiver among the causes: each block once, and the rest counts as unexplained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from checks.diagnosis.effects import paths_of
from checks.model.facts import Activity, Cluster
from checks.model.finding import Finding
from checks.model.hypothesis import LossAccount
from checks.model.known_instances import active, instance_name, node_of
from checks.model.wording import listed
from checks.rules.lost_blocks import InstanceLoss, loss_of
from checks.rules.node_counts import NodeCounts, node_counts, own_incomplete, vanish

_REASSEMBLY, _FILTER = "CAUSE-03", "CAUSE-08"
_COUNTED: tuple[tuple[str, str, Callable[[NodeCounts], int]], ...] = (
    ("CAUSE-02", "in its receive buffers", lambda c: c.overflowed + c.no_memory),
    ("CAUSE-04", "with a wrong checksum", lambda c: c.bad_checksums),
    ("CAUSE-15", "by rp_filter", lambda c: c.reverse_path),
    ("CAUSE-17", "in the backlog of a CPU", lambda c: c.backlog_dropped),
    (_REASSEMBLY, "in reassembly", lambda c: c.failed),
    (_FILTER, "after their arrival, for no counted reason", lambda c: c.vanished),
)
"""Cause, place, and the packets that the receiver's kernel counted there, in the order in which they pass."""


@dataclass(frozen=True)
class FoundCause:
    """A cause that was found, for the account."""

    code: str
    shown: Sequence[Finding]
    loses_fragments: bool
    """Whether the cause makes reassembly fail."""
    spoils_paths: bool
    """Whether the cause loses packets on the paths of the nodes that it is at."""


def loss_accounts(cluster: Cluster, found: Sequence[FoundCause]) -> tuple[LossAccount, ...]:
    """Return the account of each instance that lost blocks, where its node's counters are known.

    A counter of the kernel includes the packets of other programs, so it explains at most that many blocks. Failed
    reassemblies count for the cause that loses the fragments, where one was found. What the counters leave counts for
    the causes on the paths from the senders. Blocks lost while racwire probed are apart where more were lost then than
    chance explains, and else where nothing explains them.
    """
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return ()
    losses = [loss for own in active(activity) if (loss := loss_of(activity, own)) and loss.lost]
    return tuple(
        _account(cluster, loss, replace(counts, failed=max(0, counts.failed - own_incomplete(cluster, counts))), found)
        for loss in losses
        if (counts := node_counts(cluster, node_of(cluster, loss.instance)))
    )


def _account(cluster: Cluster, loss: InstanceLoss, counts: NodeCounts, found: Sequence[FoundCause]) -> LossAccount:
    apart = loss.apart
    left, parts, explained = loss.lost - apart, [], dict[str, int]()

    def take(code: str, where: str, most: int) -> None:
        nonlocal left
        if (number := min(left, most)) > 0:
            left -= number
            explained[code] = explained.get(code, 0) + number
            parts.append(f"{number:,} {where}")

    for code, where, number in _COUNTED:
        if code == _REASSEMBLY:
            code = next((f.code for f in found if f.loses_fragments and _touches(f, counts.node)), code)
        if code != _FILTER or vanish(counts, loss.lost):
            take(code, where, number(counts))
    for code, where, most in _on_paths(cluster, loss, counts.node, found):
        take(code, where, most)
    name = instance_name(cluster, loss.instance)
    if not loss.only_while_probing:
        apart += (rest := min(left, (loss.while_probing or 0) - apart))
        left -= rest
    parts += [f"{apart:,} while racwire probed"] if apart else []
    total = " + ".join([*parts, *([f"{left:,} not explained"] if left else [])])
    text = f"{loss.lost:,} lost at {name} = {total}."
    return LossAccount(
        instance=name,
        node=counts.node,
        lost=loss.lost,
        explained=explained,
        while_probing=apart,
        unexplained=left,
        text=text,
    )


def _touches(cause: FoundCause, node: str) -> bool:
    return any(node in finding.nodes or not finding.nodes for finding in cause.shown)


def _on_paths(
    cluster: Cluster, loss: InstanceLoss, receiver: str, found: Sequence[FoundCause]
) -> Iterator[tuple[str, str, int]]:
    """Yield cause, place and blocks for the senders whose path to the receiver a cause spoils.

    The blocks of a sender count for the first cause on its path.
    """
    nodes = {n: node_of(cluster, n) for n in loss.senders}
    taken = set[int]()
    for cause in found:
        pairs = {pair for finding in cause.shown for pair in paths_of(finding)}
        ends = {node for f in cause.shown for node in f.nodes} if cause.spoils_paths and not pairs else set[str]()
        left = [n for n in loss.senders if n not in taken]
        on_it = [n for n in left if (nodes[n], receiver) in pairs or not ends.isdisjoint((nodes[n], receiver))]
        taken |= {*on_it}
        if blocks := sum(loss.senders[n] for n in on_it):
            yield cause.code, f"on the way from {listed(dict.fromkeys(nodes[n] for n in on_it))}", blocks
