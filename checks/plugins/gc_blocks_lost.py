"""Do blocks get lost on the interconnect: at which instance, from which, since when, and what shows why?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.facts import Activity, Cluster, Unknown
from checks.finding import Finding, Remedy, Status
from checks.plugin import check
from checks.plugins._instances import (
    Unseen,
    active,
    database_of,
    instance_name,
    instance_names,
    node_of,
    nodes_of,
    span,
    sql,
    unseen,
    unseen_findings,
)
from checks.plugins._loss_beside import claims_and_corrupt, lost_before
from checks.plugins._loss_counts import Loss, loss_lines, loss_of, loss_table, loss_title
from checks.plugins._loss_history import history_evidence, history_lines
from checks.plugins._loss_kinds import (
    CLAIM_LOST,
    CORRUPT,
    FALSE_COUNT,
    LITTLE,
    LOST,
    LOST_BEFORE,
    NONE_LOST,
    NOT_KNOWN,
    ONE_CONTAINER,
)
from checks.plugins._loss_signs import Signs, signs_of
from checks.wording import counted, listed

_COUNTS = ("sysstat", "cache_transfer", "system_event")
_HAS_FALSE_COUNTS = "12.1.0.2"


@check(
    "gc-blocks-lost",
    question="Do all blocks arrive that the instances send to each other?",
    needs=("activity",),
    uses=("database", "history", "counters", "nodes", "networks", "paths"),
    kinds=(
        NONE_LOST,
        LOST,
        LITTLE,
        NOT_KNOWN,
        ONE_CONTAINER,
        FALSE_COUNT,
        CLAIM_LOST,
        CORRUPT,
        LOST_BEFORE,
    ),
)
def gc_blocks_lost(cluster: Cluster) -> Iterator[Finding]:
    """Counts, between two samples, the blocks that each instance received and those that it lost, and from whom.

    Only what is lost in the interval counts, never a total since startup. Any loss is a warning; above
    lost_blocks_fail_percent of the blocks received, or where waits for lost blocks are among the three events of the
    wait class Cluster that cost most, it is a failure. With the loss stand the signs that name its cause: failed
    reassemblies and full receive buffers of the receiving node in the same time, the MTU of the private networks, and
    the paths between the two nodes. AWR or Statspack, where read, tell since when.

    Oracle 12.1.0.2 may count blocks as lost that were not (bug 20922010): where nothing else shows a loss, that is
    said, and it is no failure.
    """
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return
    judged, missing = [], list(unseen(cluster))
    for own in active(activity):
        loss = loss_of(activity, own)
        if loss is None:
            missing.append(Unseen(own.instance, "Its statistic `gc blocks lost` was not read."))
        else:
            judged.append(loss)
    yield from _losing(cluster, activity, judged)
    yield from claims_and_corrupt(cluster, judged)
    yield from lost_before(cluster, judged)
    yield from unseen_findings(cluster, NOT_KNOWN, "What {} lost", missing, ("sysstat",))
    if not judged and not missing:
        yield NOT_KNOWN.finding(
            Status.UNKNOWN,
            "No instance told how many blocks it lost.",
            subject="no instance",
            evidence=sql(cluster, "sysstat"),
        )


# --- in the interval --------------------------------------------------------------------------------------------------


def _losing(cluster: Cluster, activity: Activity, judged: Sequence[Loss]) -> Iterator[Finding]:
    database = database_of(cluster)
    losing = [loss for loss in judged if loss.lost]
    for loss in losing:
        yield _lost(cluster, activity, loss, [other for other in judged if other is not loss])
    if database is not None and database.in_pluggable:
        yield ONE_CONTAINER.finding(
            Status.UNKNOWN,
            f"Only what the instances did for the pluggable database {database.container} is seen: what others lost "
            "is not known.",
            subject=f"{database.container} only",
            seen=(f"connected to {database.container} by {database.reached}",),
            expected=("A connection to CDB$ROOT",),
            next=[Remedy("Connect to the root container.", where="in the settings, [database] connect")],
            evidence=sql(cluster, "connected"),
        )
    if judged and not losing:
        yield _none_lost(cluster, activity, judged, certain=database is None or not database.in_pluggable)


def _none_lost(cluster: Cluster, activity: Activity, judged: Sequence[Loss], certain: bool) -> Finding:
    names = instance_names(cluster, [loss.instance for loss in judged])
    received = sum(loss.received or 0 for loss in judged)
    time = span(activity.seconds)
    seen = tuple(
        f"{instance_name(cluster, loss.instance)}: "
        + ("blocks received not told" if loss.received is None else f"{counted(loss.received, 'block')} received")
        + ", none lost"
        for loss in judged
    )
    evidence = sql(cluster, *_COUNTS)
    idle = [loss.instance for loss in judged if (loss.received or 0) < cluster.thresholds.few_blocks]
    if len(idle) == len(judged) or not certain:
        return LITTLE.finding(
            Status.INFO,
            f"{names} received {counted(received, 'block')} in {time} and lost none: that is too few to tell much."
            if certain
            else f"{names} lost none of the {counted(received, 'block')} in {time} that this container sees.",
            subject=f"{counted(received, 'block')}, none lost",
            seen=seen,
            expected=(f"{cluster.thresholds.few_blocks} blocks or more for each instance",),
            next=[Remedy("Look again while the database is busy.", ("racwire check gc-blocks-lost",))],
            evidence=evidence,
            table=loss_table(cluster, activity),
        )
    return NONE_LOST.finding(
        Status.PASS,
        f"{names} received {counted(received, 'block')} in {time} and lost none.",
        subject=f"{counted(received, 'block')}, none lost",
        seen=(
            *seen,
            *([f"too few to tell much: {instance_names(cluster, idle)}"] if idle else []),
        ),
        evidence=evidence,
        table=loss_table(cluster, activity),
    )


def _lost(cluster: Cluster, activity: Activity, loss: Loss, others: Sequence[Loss]) -> Finding:
    receiver = node_of(cluster, loss.instance)
    senders = nodes_of(cluster, loss.senders)
    signs = signs_of(cluster, receiver, senders)
    name = instance_name(cluster, loss.instance)
    seen = [
        *loss_lines(cluster, loss),
        *(s.seen for s in signs.signs),
        *signs.background,
        *_senders_not_told(activity, loss),
        *_others(cluster, others),
        *history_lines(cluster, loss.instance),
    ]
    evidence = [*sql(cluster, *_COUNTS), *signs.evidence, *history_evidence(cluster)]
    subject = f"{name}: {loss.lost:,} in {span(loss.seconds)}"
    nodes = [n for n in dict.fromkeys((receiver, *senders)) if n]
    if _may_be_false(cluster, activity, loss, signs):
        all_known = not signs.not_known and not _why_no_transfers(activity)
        return FALSE_COUNT.finding(
            Status.INFO if all_known else Status.WARN,
            f"{name} counts {counted(loss.lost, 'lost block')} in {span(loss.seconds)}, most likely wrongly: nothing "
            "else shows a loss, and its release is known to count so.",
            subject=f"{subject}, likely false",
            seen=(*seen, *signs.clean, *(f"not known: {what}" for what in signs.not_known)),
            expected=("0 lost",),
            next=[
                Remedy(
                    "See whether the patch for bug 20922010 is in (12.1.0.2.161018 and later have it).",
                    ("$ORACLE_HOME/OPatch/opatch lsinventory | grep -i 20922010",),
                    f"the owner of the database on {receiver or 'its node'}",
                )
            ],
            evidence=evidence,
            table=loss_table(cluster, activity),
            nodes=nodes,
        )
    grave = loss.percent > cluster.thresholds.lost_blocks_fail_percent or loss.waits_are_on_top
    return LOST.finding(
        Status.FAIL if grave else Status.WARN,
        loss_title(cluster, loss),
        subject=subject,
        seen=(*seen, *_bug_note(cluster, loss)),
        expected=("0 lost",),
        why=_why(signs, receiver),
        next=_next(signs, receiver, senders),
        evidence=evidence,
        table=loss_table(cluster, activity),
        nodes=nodes,
    )


def _why(signs: Signs, receiver: str) -> str:
    node = receiver or "its node"
    if signs.signs:
        return f"{signs.signs[0].why} {LOST.why}"
    if signs.not_known:
        looked = f"; {listed(signs.clean)}" if signs.clean else ""
        return f"Why is not known, since {listed(signs.not_known)} could not be looked at{looked}. {LOST.why}"
    return (
        f"The network looks clean: {listed(signs.clean)}. What is left is {node} too busy to take what arrives "
        "(MOS 563566.1, cause 19), a NIC's driver or firmware (9, 16), or a switch that drops only under load (20). "
        f"{LOST.why}"
    )


def _next(signs: Signs, receiver: str, senders: Sequence[str]) -> Iterator[Remedy]:
    yield from dict.fromkeys(sign.next for sign in signs.signs)
    where = f"root on {listed([n for n in (receiver, *senders) if n])}" if receiver else "root on both nodes"
    yield Remedy(
        "Look at the errors, drops and rings of the private NICs.",
        ("ip -s -s link show ETH", "ethtool -S ETH", "ethtool -g ETH"),
        where,
    )
    if not signs.signs:
        yield Remedy(
            "See how busy the nodes are, and that the LMS processes run in the real-time class.",
            ("ps -eo cls,rtprio,pcpu,comm | grep lms", "mpstat -P ALL 1 5"),
            where,
        )
        yield Remedy("Ask the network team for discards and queue drops of these nodes' switch ports under load.")


def _senders_not_told(activity: Activity, loss: Loss) -> list[str]:
    if reason := _why_no_transfers(activity):
        return [f"from whom is not known{' in full' if loss.senders else ''}: {reason}"]
    return [] if loss.senders else ["the transfers between instances show no lost block"]


def _why_no_transfers(activity: Activity) -> str:
    """Why the transfers between instances are not known, or not all of them; empty where they are."""
    if isinstance(activity.transfers, Unknown):
        return activity.transfers.reason or "GV$INSTANCE_CACHE_TRANSFER was not read"
    return activity.why_unread("GV$INSTANCE_CACHE_TRANSFER") or ""


def _others(cluster: Cluster, others: Sequence[Loss]) -> list[str]:
    fine = [loss for loss in others if not loss.lost]
    if not fine:
        return []
    received = sum(loss.received or 0 for loss in fine)
    return [
        f"{instance_names(cluster, [loss.instance for loss in fine])}: none lost, {received:,} received in "
        f"{span(max(loss.seconds for loss in fine))}"
    ]


# --- false counts of 12.1.0.2 -----------------------------------------------------------------------------------------


def _counts_falsely(cluster: Cluster, instance: int) -> bool:
    database = database_of(cluster)
    one = database.instance(instance) if database else None
    return one is not None and one.version.startswith(_HAS_FALSE_COUNTS)


def _may_be_false(cluster: Cluster, activity: Activity, loss: Loss, signs: Signs) -> bool:
    """Whether the count stands alone: no sign, no sender, no wait, and at least something was looked at."""
    looked = bool(signs.clean) or not _why_no_transfers(activity)
    alone = not signs.signs and not loss.senders and not loss.waits
    return _counts_falsely(cluster, loss.instance) and alone and looked


def _bug_note(cluster: Cluster, loss: Loss) -> list[str]:
    if not _counts_falsely(cluster, loss.instance):
        return []
    return ["12.1.0.2 may count too many (bug 20922010, MOS 2096299.1); here more than its count shows the loss"]
