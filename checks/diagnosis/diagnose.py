"""Diagnose a run: the standing of each cause, from the findings. The order in which checks ended has no influence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause
from checks.model.facts import Activity, Cluster
from checks.model.finding import FAULTS, Finding, Status
from checks.model.hypothesis import Diagnosis, Hypothesis, Standing
from checks.model.known_instances import active, node_of
from checks.rules.lost_blocks import loss_of

EFFECTS = (
    "IC-LOST-002", "IC-LOST-007", "IC-LOST-008", "IC-TIME-002", "IC-TIME-003", "IC-TIME-004", "IC-TIME-006",
    "IC-PING-002", "IC-PING-003", "IC-PING-005", "IC-GRID-006", "IC-IFACE-012",
)  # fmt: skip
"""The codes of findings that are never causes by themselves: what the database and Clusterware suffer."""
_LOST_BLOCKS = "IC-LOST-002"
_ORDER = list(Standing)


def diagnose(cluster: Cluster, findings: Iterable[Finding], causes: Sequence[Cause] = CATALOGUE) -> Diagnosis:
    """Return the standing of every cause, the most certain first, and the effects that none of them explains.

    Waived findings count: a waiver accepts a finding and does not make it untrue.
    """
    known = sorted(findings, key=lambda f: (f.status.gravity, f.code, f.title))
    effects = [f for f in known if f.code in EFFECTS and f.status in FAULTS]
    proofs = [(f, cause.code) for cause in causes for f in known if _shows(f, cause.proved_by)]
    judged = [_hypothesis(cause, cluster, known, effects, proofs) for cause in causes]
    ranked = sorted(judged, key=lambda h: (_ORDER.index(h.standing), -len(h.explains), h.cause))
    explained = {title for h in ranked for title in h.explains}
    return Diagnosis(hypotheses=tuple(ranked), unexplained=tuple(e.title for e in effects if e.title not in explained))


def _shows(finding: Finding, codes: Sequence[str]) -> bool:
    return finding.code in codes and finding.status in FAULTS


def _hypothesis(
    cause: Cause,
    cluster: Cluster,
    findings: Sequence[Finding],
    effects: Sequence[Finding],
    proofs: Sequence[tuple[Finding, str]],
) -> Hypothesis:
    """Return the standing of a cause. What another cause explains, proved at the same place, supports no second one."""
    proved = [f for f in findings if _shows(f, cause.proved_by)]
    if proved:
        return _shown(cause, Standing.PROVED, proved, cluster, effects)
    shown = [f for f in findings if _shows(f, cause.supported_by)]
    enough = [next((code for proof, code in proofs if _is_same_place(cluster, f, proof)), "") for f in shown]
    if supporting := [f for f, other in zip(shown, enough, strict=True) if not other]:
        return _shown(cause, Standing.SUPPORTED, supporting, cluster, effects)
    if shown:
        others = zip(enough, shown, strict=True)
        because = (f"{code} was proved at the same place and is enough to explain: {f.title}" for code, f in others)
        return _of(cause, Standing.POSSIBLE, because=tuple(because))
    hints = [f for f in findings if f.code in cause.hinted_by and f.status not in (Status.PASS, Status.SKIPPED)]
    if hints:
        return _of(cause, Standing.POSSIBLE, because=tuple(f.title for f in hints))
    if cause.ruled_out and (reason := cause.ruled_out(cluster)):
        return _of(cause, Standing.EXCLUDED, because=(reason,))
    if cause.other_platform:
        reason = f"It is a cause on {cause.other_platform}; the nodes that were read run Linux."
        standing = Standing.EXCLUDED if cluster.read_nodes() else Standing.NOT_EXAMINED
        return _of(cause, standing, because=(reason,) if standing is Standing.EXCLUDED else ())
    if cause.cleared_by:
        return _cleared(cause, findings)
    passed = [f for code in cause.excluded_by for f in findings if f.code == code and f.status is Status.PASS]
    has_each = {f.code for f in passed} == set(cause.excluded_by)
    if cause.excluded_by and has_each:
        checks = {f.check for f in passed}
        doubts = [f for f in findings if f.check in checks and f.status in (Status.UNKNOWN, *FAULTS)]
        if not doubts:
            scope = f" ({cause.covers})" if cause.covers else ""
            return _of(cause, Standing.EXCLUDED, because=tuple(f"{f.title.rstrip('.')}{scope}." for f in passed))
        return _of(cause, Standing.POSSIBLE, because=tuple(f.title for f in doubts))
    return _of(cause, Standing.NOT_EXAMINED)


def _cleared(cause: Cause, findings: Sequence[Finding]) -> Hypothesis:
    """Return the standing of a cause that none of its checks shows."""
    own = [f for f in findings if f.check in cause.cleared_by]
    if {f.check for f in own if f.status is not Status.SKIPPED} != set(cause.cleared_by):
        return _of(cause, Standing.NOT_EXAMINED)
    if doubts := [f for f in own if f.status is Status.UNKNOWN]:
        return _of(cause, Standing.POSSIBLE, because=tuple(f.title for f in doubts))
    checks = " and ".join(cause.cleared_by)
    return _of(cause, Standing.EXCLUDED, because=(f"No finding of {checks} shows it, {cause.covers}.",))


def _shown(
    cause: Cause, standing: Standing, shown: Sequence[Finding], cluster: Cluster, effects: Sequence[Finding]
) -> Hypothesis:
    return msgspec.structs.replace(
        _of(cause, standing, because=tuple(f.title for f in shown)),
        places=tuple(dict.fromkeys(f.subject for f in shown if f.subject)),
        nodes=tuple(dict.fromkeys(node for f in shown for node in f.nodes)),
        networks=tuple(dict.fromkeys(f.network for f in shown if f.network)),
        explains=tuple(e.title for e in effects if e not in shown and any(_can_explain(cluster, f, e) for f in shown)),
    )


def _of(cause: Cause, standing: Standing, because: tuple[str, ...] = ()) -> Hypothesis:
    examine = () if standing in (Standing.PROVED, Standing.EXCLUDED) else cause.look
    return Hypothesis(
        cause=cause.code, name=cause.name, sources=cause.sources, standing=standing, because=because, next=examine
    )


_AT_THE_RECEIVER = ("IC-UDP-", "IC-REASM-", "IC-RPF-", "IC-FILTER-")
"""The codes of findings about packets that a node received: they explain blocks lost on the way to it, not from it."""
_PATH_TOPIC = re.compile(r"path .+ (\S+) (\S+)")


def _can_explain(cluster: Cluster, cause: Finding, effect: Finding) -> bool:
    """Return whether a finding can explain an effect: by the pairs of nodes, where both have some; else by a node.

    A pair is (sender, receiver): of a path that loses packets, or of blocks that were lost.
    """
    lost = _lost_pairs(cluster, effect)
    if lost and (paths := _paths(cause)):
        return not lost.isdisjoint(paths)
    if lost and cause.nodes:
        receivers = {receiver for _, receiver in lost}
        ends = receivers if cause.code.startswith(_AT_THE_RECEIVER) else {node for pair in lost for node in pair}
        return not ends.isdisjoint(cause.nodes)
    return not _nodes(cluster, cause).isdisjoint(_nodes(cluster, effect))


def _paths(finding: Finding) -> set[tuple[str, str]]:
    """Return the paths of a finding, from its references to the journal; empty for findings of other checks."""
    found = (_PATH_TOPIC.fullmatch(reference.topic) for reference in finding.evidence)
    return {(match[1], match[2]) for match in found if match}


def _lost_pairs(cluster: Cluster, effect: Finding) -> set[tuple[str, str]]:
    """Return the pairs of nodes between which the blocks of a finding were lost; empty where they are not known."""
    activity = cluster.activity
    if effect.code != _LOST_BLOCKS or not isinstance(activity, Activity):
        return set()
    losses = [loss for own in active(activity) if (loss := loss_of(activity, own)) and loss.lost]
    pairs = {
        (node_of(cluster, sender), node_of(cluster, loss.instance))
        for loss in losses
        for sender, blocks in loss.senders.items()
        if blocks
    }
    return {(sender, receiver) for sender, receiver in pairs if receiver in effect.nodes and sender in effect.nodes}


def _is_same_place(cluster: Cluster, finding: Finding, proof: Finding) -> bool:
    """Return whether a proof is at the place of a finding: on its network, or on all of its nodes."""
    if finding.network and proof.network:
        return finding.network == proof.network
    return _nodes(cluster, finding) <= _nodes(cluster, proof)


def _nodes(cluster: Cluster, finding: Finding) -> set[str]:
    """Return the nodes of a finding; one without nodes is about all nodes that were read."""
    return set(finding.nodes) or {node.name for node in cluster.read_nodes()}
