"""How fast do the instances answer each other's pings, and are pings of block size much slower than small ones?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from checks.model.check import FailKind, InfoKind, Kind, PassKind, UnknownKind, WarnKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Activity, Cluster, InstancePing, Unknown
from checks.model.finding import Finding, NextStep, Scalar, Table, check_again
from checks.model.known_instances import Unseen, active, instance_name, nodes_of, unseen
from checks.model.shell_command import shell
from checks.model.wording import counted, few, listed, span
from checks.plugins.shared.fragments import fragmenting, plan_jumbo
from checks.plugins.shared.grouping import named
from checks.plugins.shared.hung_instance import HANGS, hung_instance_findings
from checks.plugins.shared.instance_pairs import pairs_table
from checks.plugins.shared.instance_text import (
    milliseconds,
    statement_topics,
    unknown_instance_findings,
    with_container_note,
)
from checks.plugins.shared.path_text import first_lines
from checks.plugins.shared.private_nics import on_nics
from checks.rules.instance_pings import (
    enough_pings,
    good_ms_text,
    good_ratio_text,
    is_sure_to_ping,
    judge_ping,
    judged_from_s,
    size_ratio,
    slow_status,
    worst_ms,
)
from checks.rules.observed.instance_messages import large_messages_lost, messages_late, messages_lost, messages_passed
from checks.rules.observed.states import read_on

_VIEW = "Database Reference, V$INSTANCE_PING"
_STATEMENT = "instance_ping"
_GV = "GV$INSTANCE_PING"
_LARGE_BYTES = 8192

QUICK = PassKind("IC-PING-001", "The instances answer each other quickly")
SLOW = Kind(
    "IC-PING-002",
    "Pings between instances take long",
    "A block transfer takes at least as long as a ping.",
    (_VIEW,),
)
LARGE_SLOWER = WarnKind(
    "IC-PING-003",
    "A message of 8 KB takes several times as long as one of 500 bytes",
    "Fragmentation is a likely cause: the message is complete only when its last fragment arrives. A slow link or a "
    "busy receiver has the same effect.",
    (_VIEW, "MOS 341788.1"),
)
NOT_KNOWN = UnknownKind("IC-PING-004", "The ping time of an instance is not known")
LARGE_MISSING = FailKind(
    "IC-PING-005",
    "Small messages pass between two instances, and messages of 8 KB do not",
    "Blocks have that size, so they do not arrive either. Heartbeats are small and still pass.",
    (_VIEW, "MOS 563566.1, causes 5 and 12"),
)
SILENT = FailKind(
    "IC-PING-007",
    "Two instances exchange neither blocks nor pings",
    "Instances that are up ping each other about every 12 s. Where not even these messages arrive, the instances do "
    "not reach each other over the interconnect: expect IPC send timeouts, and the eviction of an instance.",
    (_VIEW,),
)
FEW = InfoKind("IC-PING-006", "Too few pings between the instances for a verdict")


@check(
    "instance-ping",
    question="Do the instances answer each other quickly, with small and with block-sized messages?",
    needs=("activity",),
    uses=("database", "nodes", "networks"),
    shows=(ConditionKind.INSTANCE,),
    about=(ConditionKind.PATH, ConditionKind.DATABASE),
    kinds=(QUICK, SLOW, LARGE_SLOWER, NOT_KNOWN, LARGE_MISSING, FEW, SILENT, HANGS),
)
def instance_ping(cluster: Cluster) -> Iterator[Finding]:
    """Averages the pings of 500 bytes and 8 KB that the instances' own PING processes exchange in the interval.

    The check compares both averages with ping_warn_ms and ping_fail_ms. Where 8 KB take more than ping_8k_warn_ratio
    times as long as 500 bytes, the message is likely cut into fragments; the MTU of the private networks shows whether
    it is. Where small pings are answered and no ping of 8 KB is, large packets vanish between the two instances.

    A real instance pings each other one about every 12 s, so an interval has few pings. A fault needs few_pings
    of them; two thirds of few_pings of each size suffice for quick answers to pass.
    """
    yield from hung_instance_findings(cluster)
    if isinstance(cluster.activity, Activity):
        yield from with_container_note(cluster, _findings(cluster, cluster.activity))


def _findings(cluster: Cluster, activity: Activity) -> Iterator[Finding]:
    if isinstance(activity.pings, Unknown):
        yield NOT_KNOWN.finding(
            "The ping times between the instances could not be read.",
            subject="not known",
            seen=(activity.pings.reason,),
            next=[check_again("instance-ping")],
            lacks=[activity.pings],
            evidence=statement_topics(cluster, _STATEMENT),
        )
        return
    pings = tuple(p for p in activity.pings if p.instance != p.target)
    table = _table(cluster, activity, pings)
    judged = [(p, judge_ping(p, cluster.thresholds)) for p in pings]
    enough = [p for p, verdict in judged if verdict.status]
    missing = [p for p, verdict in judged if verdict.is_missing]
    slow = [p for p, verdict in judged if verdict.is_slow]
    larger = [p for p, verdict in judged if verdict.is_larger_slower]
    silent_pairs = _silent_pairs(activity, pings)
    if silent_pairs:
        yield _silent(cluster, activity, silent_pairs, table)
    has_fault = bool(missing or slow or larger or silent_pairs)
    doubtful = any(verdict.is_doubtful for _, verdict in judged)
    if missing:
        yield _large_missing(cluster, activity, missing, table)
    if slow:
        yield _slow(cluster, slow, table)
    if larger:
        yield _large_slower(cluster, larger, table)
    reporting = {p.instance for p in pings}
    if enough and not has_fault and not doubtful:
        yield _quick(cluster, activity, enough, len(pings) - len(enough), table)
    if reporting and not has_fault and (doubtful or not enough):
        yield _few(cluster, activity, pings, table)
    silent = [*unseen(cluster), *_without_pings(activity, reporting)]
    yield from unknown_instance_findings(cluster, NOT_KNOWN, "The ping time of {}", silent, (_STATEMENT,))
    if not pings and not silent:
        yield FEW.finding(
            "There is no other instance to ping.",
            subject="one instance",
            data={"pairs": 0},
            evidence=statement_topics(cluster, _STATEMENT),
        )


def _silent_pairs(activity: Activity, pings: Sequence[InstancePing]) -> list[InstancePing]:
    """Return the pairs that exchanged neither block nor ping in an interval that is sure to have a ping; each once."""
    if not is_sure_to_ping(activity.seconds) or isinstance(activity.transfers, Unknown):
        return []
    if activity.why_unread(_GV) or activity.why_unread("GV$INSTANCE_CACHE_TRANSFER"):
        return []
    talking = {frozenset((p.instance, p.target)) for p in pings if p.count_500b > 0 or p.count_8k > 0}
    moved = [t for t in activity.transfers if t.cr_blocks > 0 or t.current_blocks > 0 or t.lost > 0]
    talking |= {frozenset((t.sender, t.receiver)) for t in moved}
    known = {a.instance for a in active(activity)}
    silent = [p for p in pings if {p.instance, p.target} <= known and frozenset((p.instance, p.target)) not in talking]
    return list({frozenset((p.instance, p.target)): p for p in reversed(silent)}.values())[::-1]


def _silent(cluster: Cluster, activity: Activity, pairs: Sequence[InstancePing], table: Table | None) -> Finding:
    first = pairs[0]
    names = f"{instance_name(cluster, first.instance)} and {instance_name(cluster, first.target)}"
    more = f"; {counted(len(pairs) - 1, 'other pair')} likewise" if len(pairs) > 1 else ""
    return SILENT.finding(
        f"{names} exchanged neither a block nor a ping in {span(activity.seconds)}{more}.",
        subject=f"{names}: silent",
        data={"pairs": len(pairs), "seconds": activity.seconds},
        seen=_lines(cluster, pairs),
        expected=("An instance pings each other one about every 12 s",),
        next=[
            NextStep("Test the paths between the nodes.", ("racwire check df-ping packet-filter neighbours",)),
            NextStep(
                "Search the alert logs of both instances for IPC send timeouts.",
                ("grep -i 'IPC Send timeout' alert_*.log | tail",),
                "the owner of the database's home, on each node",
            ),
        ],
        evidence=statement_topics(cluster, _STATEMENT, "cache_transfer"),
        table=table,
        nodes=_nodes(cluster, pairs),
        extent=(len(pairs), "pairs"),
        observed=messages_lost(cluster, pairs, activity.seconds),
    )


def _without_pings(activity: Activity, reporting: set[int]) -> list[Unseen]:
    others = [a.instance for a in active(activity)]
    unread = activity.unread_view(_GV)
    reason = unread.reason if unread else "GV$INSTANCE_PING shows no ping of this instance in the interval."
    return [
        Unseen(n, reason, unread.right if unread else None) for n in others if n not in reporting and len(others) > 1
    ]


def _slow(cluster: Cluster, slow: Sequence[InstancePing], table: Table | None) -> Finding:
    limits = cluster.thresholds
    worst = max(slow, key=worst_ms)
    others = f", and {counted(len(slow) - 1, 'other pair')} over {good_ms_text(limits)}" if len(slow) > 1 else ""
    return SLOW.finding(
        f"A ping from {_way(cluster, worst)} takes {milliseconds(worst_ms(worst))} on average{others}.",
        status=slow_status(worst, limits),
        subject=f"{_way(cluster, worst)}: {milliseconds(worst_ms(worst))}",
        data={"pairs": len(slow), **_ping_data(cluster, worst)},
        seen=_lines(cluster, slow),
        expected=(f"Under {good_ms_text(limits)}",),
        next=[
            NextStep("Compare with the round trip time of the network.", ("racwire check df-ping",)),
            NextStep(
                "If the network is fast, check the CPUs of the nodes.",
                ("mpstat -P ALL 1 5",),
                f"any user on {named(_nodes(cluster, slow), 'node') or 'both nodes'}",
            ),
        ],
        evidence=statement_topics(cluster, _STATEMENT),
        table=table,
        nodes=_nodes(cluster, slow),
        extent=(worst_ms(worst), "ms on average"),
        observed=messages_late(cluster, slow, limits),
    )


def _large_slower(cluster: Cluster, larger: Sequence[InstancePing], table: Table | None) -> Finding:
    worst = max(larger, key=size_ratio)
    small, large = (worst.average_500b_us or 0.0) / 1000, (worst.average_8k_us or 0.0) / 1000
    cut = fragmenting(cluster, _LARGE_BYTES)
    why = (
        f"At MTU {listed(sorted({str(mtu) for _, mtu, _ in cut}))} each message of 8 KB is "
        f"{max(pieces for _, _, pieces in cut)} fragments, and is complete only when the last one arrives."
        if cut
        else "The MTU of the private networks needs no fragments for 8 KB, so the link or the receiver is slow."
        if isinstance(cluster.networks, tuple) and cluster.networks
        else LARGE_SLOWER.why
    )
    return LARGE_SLOWER.finding(
        f"A ping of 8 KB from {_way(cluster, worst)} takes {size_ratio(worst):.1f} times as long as one of 500 bytes: "
        f"{milliseconds(large)}, not {milliseconds(small)}.",
        subject=f"{_way(cluster, worst)}: 8 KB {size_ratio(worst):.1f} times",
        data={"pairs": len(larger), "ratio": size_ratio(worst), **_ping_data(cluster, worst)},
        seen=(
            *_lines(cluster, larger),
            *(f"{n.name} has MTU {mtu}: 8 KB are {pieces} fragments" for n, mtu, pieces in cut),
        ),
        expected=(good_ratio_text(cluster.thresholds),),
        why=why,
        next=[
            NextStep(
                "Check whether failed reassemblies and receive buffer errors grow; the checks reassembly and "
                "udp-receive-buffers do the same.",
                ("netstat -s | grep -iE 'reassembl|receive buffer errors'",),
                f"any user on {named(_nodes(cluster, larger), 'node') or 'both nodes'}",
            ),
            on_nics(
                cluster,
                _nodes(cluster, larger),
                "Check the drops, the link speed, and how busy the nodes are.",
                ("ip -s -s link show {nic}", "ethtool {nic}", "mpstat -P ALL 1 5"),
                f"any user on {named(_nodes(cluster, larger), 'node') or 'both nodes'}",
            ),
            *plan_jumbo(cluster, _LARGE_BYTES),
        ],
        evidence=statement_topics(cluster, _STATEMENT),
        table=table,
        nodes=_nodes(cluster, larger),
        extent=(size_ratio(worst), "times as long"),
        observed=messages_late(cluster, larger, cluster.thresholds),
    )


def _large_missing(
    cluster: Cluster, activity: Activity, missing: Sequence[InstancePing], table: Table | None
) -> Finding:
    first = missing[0]
    more = f"; {counted(len(missing) - 1, 'other pair')} likewise" if len(missing) > 1 else ""
    return LARGE_MISSING.finding(
        f"{counted(first.count_500b, 'small ping')} from {_way(cluster, first)} got an answer in "
        f"{span(activity.seconds)}, and no ping of 8 KB did{more}.",
        subject=f"{_way(cluster, first)}: 8 KB missing",
        data={"pairs": len(missing), **_ping_data(cluster, first)},
        seen=_lines(cluster, missing),
        expected=("As many answers to 8 KB as to 500 bytes",),
        next=[NextStep("Check whether full-size packets pass between the nodes.", ("racwire check df-ping",))],
        evidence=statement_topics(cluster, _STATEMENT),
        table=table,
        nodes=_nodes(cluster, missing),
        extent=(len(missing), "pairs"),
        observed=large_messages_lost(cluster, missing),
    )


def _quick(
    cluster: Cluster, activity: Activity, enough: Sequence[InstancePing], others: int, table: Table | None
) -> Finding:
    worst = max(enough, key=worst_ms)
    return QUICK.finding(
        f"{_who_answers(cluster, enough)} in {milliseconds(worst_ms(worst))} or less on average, 8 KB included.",
        subject=f"{milliseconds(worst_ms(worst))} at most",
        data={"pairs": len(enough), **_ping_data(cluster, worst)},
        seen=(
            f"slowest: {_line(cluster, worst)}",
            f"{counted(sum(p.count_500b + p.count_8k for p in enough), 'ping')} in {span(activity.seconds)}",
            *([f"{counted(others, 'pair')} with too few pings for a verdict"] if others else []),
            *([f"not all pairs are known: {unread}"] if (unread := activity.why_unread(_GV)) else []),
        ),
        evidence=statement_topics(cluster, _STATEMENT),
        table=table,
        observed=(*read_on(QUICK.code, _nodes(cluster, enough)), *messages_passed(cluster, enough)),
    )


def _few(cluster: Cluster, activity: Activity, pings: Sequence[InstancePing], table: Table | None) -> Finding:
    number = sum(max(0, p.count_500b) + max(0, p.count_8k) for p in pings)
    from_s = judged_from_s(cluster.thresholds)
    is_short = activity.seconds < from_s
    longer_s = from_s if is_short else 10 * math.ceil(activity.seconds / 5)
    return FEW.finding(
        f"The instances exchanged {counted(number, 'ping')} in {span(activity.seconds)}: too few for a verdict"
        f"{f'; {from_s} s have enough' if is_short else ''}.",
        subject=counted(number, "ping"),
        data={"pairs": len(pings), "pings": number, "seconds": activity.seconds},
        seen=_lines(cluster, pings),
        expected=(
            f"{enough_pings(cluster.thresholds)} or more pings of each size for each pair, usual in {from_s} s",
            "An instance sends one about every 12 s",
        ),
        next=[NextStep("Use a longer interval.", (shell("racwire check instance-ping --interval {s}", s=longer_s),))],
        evidence=statement_topics(cluster, _STATEMENT),
        table=table,
    )


# --- texts ------------------------------------------------------------------------------------------------------------


def _who_answers(cluster: Cluster, pings: Sequence[InstancePing]) -> str:
    """The start of a sentence about quick answers: of all instances only where the pings of all are known."""
    if not unseen(cluster):
        return "The instances answer each other"
    senders = sorted({ping.instance for ping in pings})
    return f"The pings of {few(instance_name(cluster, n) for n in senders)} are answered"


def _way(cluster: Cluster, ping: InstancePing) -> str:
    return f"{instance_name(cluster, ping.instance)} to {instance_name(cluster, ping.target)}"


def _ping_data(cluster: Cluster, ping: InstancePing) -> dict[str, Scalar | None]:
    small, large = ping.average_500b_us, ping.average_8k_us
    return {
        "from_instance": instance_name(cluster, ping.instance),
        "to_instance": instance_name(cluster, ping.target),
        "average_500_bytes_ms": None if small is None else small / 1000,
        "average_8_kb_ms": None if large is None else large / 1000,
    }


def _nodes(cluster: Cluster, pings: Sequence[InstancePing]) -> tuple[str, ...]:
    return nodes_of(cluster, [n for p in pings for n in (p.instance, p.target)])


def _line(cluster: Cluster, ping: InstancePing) -> str:
    small, large = ping.average_500b_us, ping.average_8k_us
    return (
        f"{_way(cluster, ping)}: 500 bytes {milliseconds(small / 1000) if small is not None else 'none'} "
        f"({ping.count_500b:,}), 8 KB {milliseconds(large / 1000) if large is not None else 'none'} ({ping.count_8k:,})"
    )


def _lines(cluster: Cluster, pings: Sequence[InstancePing]) -> tuple[str, ...]:
    worst = sorted(pings, key=lambda p: (-worst_ms(p), p.instance, p.target))
    return first_lines([_line(cluster, p) for p in worst], "pair like these")


def _table(cluster: Cluster, activity: Activity, pings: Sequence[InstancePing]) -> Table | None:
    def cell(us: float | None) -> str:
        return f"{us / 1000:.2f}" if us is not None else "-"

    return pairs_table(
        cluster,
        ("from", "to"),
        {(p.instance, p.target): f"{cell(p.average_500b_us)} / {cell(p.average_8k_us)}" for p in pings},
        {(p.instance, p.target): worst_ms(p) for p in pings},
        f"milliseconds, 500 bytes / 8 KB, averages over {span(activity.seconds)}",
        heading="500 bytes / 8 KB",
        most=4,
    )
