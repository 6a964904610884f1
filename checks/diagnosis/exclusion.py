"""The causes that were not found: excluded by place, possible, or not examined, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checks.diagnosis.cause import Cause
from checks.diagnosis.cover import Covering
from checks.diagnosis.seen import Seen
from checks.model.finding import FAULTS, Finding, Status
from checks.model.hypothesis import Certainty, How, Hypothesis
from checks.model.observation import Fate
from checks.model.traffic import Traffic
from checks.model.wording import listed
from checks.rules.changed_meanwhile import CHANGED_CODES, is_outdated

_ONLY_IPV4 = "RW-ENGINE-006"
"""The finding of a check that says nothing about a network of IPv6."""


@dataclass(frozen=True)
class _On:
    """What a run says of a cause on one private network; of the whole cluster with an empty name."""

    network: str
    passed: tuple[Finding, ...]
    doubts: tuple[Finding, ...]
    is_complete: bool
    """Whether each of the findings that exclude the cause was made."""
    hidden_by: Covering | None
    skipped: tuple[str, ...] = ()
    """Why its checks were not run there."""

    @property
    def is_excluded(self) -> bool:
        return self.is_complete and not self.doubts and self.hidden_by is None


def not_found(cause: Cause, seen: Seen, entries: Sequence[Covering]) -> tuple[Hypothesis, Covering | None]:
    """Return the standing of a cause that no entry has, and the entry that hides it, if one does."""
    hints = [f for f in seen.not_passed if f.code in cause.hinted_by]
    passed = [f for code in cause.excluded_by for f in seen.of_code.get(code, ()) if f.status is Status.PASS]
    if hints:
        against = tuple(dict.fromkeys(f.title for f in passed))
        return _of(cause, Certainty.POSSIBLE, tuple(f.title for f in hints), against=against), None
    if cause.ruled_out and (reason := cause.ruled_out(seen.cluster)):
        return _of(cause, Certainty.EXCLUDED, (reason,)), None
    if cause.other_platform:
        if not seen.cluster.read_nodes():
            return _of(cause, Certainty.NOT_EXAMINED), None
        reason = f"It is a cause on {cause.other_platform}; the nodes that were read run Linux."
        return _of(cause, Certainty.EXCLUDED, (reason,)), None
    if cause.cleared_by:
        blind = next((e for e in entries if e.first.cause.blinds or e.first.cause.hides_settings), None)
        found = _cleared(cause, seen)
        if blind is None or found.standing is not Certainty.EXCLUDED:
            return found, None
        why = f"Not examined at {listed(blind.first.place.nodes)}: {blind.first.cause.name} ({blind.first.cause.code})."
        return _of(cause, Certainty.NOT_EXAMINED, (why,), against=found.because), blind
    if not cause.excluded_by:
        return _of(cause, Certainty.NOT_EXAMINED), None
    return _by_place(cause, [_on(cause, seen, name, passed, entries) for name in _networks(seen)])


def _networks(seen: Seen) -> tuple[str, ...]:
    networks = seen.cluster.read_networks()
    return tuple(n.name for n in networks if len(n.ports) > 1) or tuple(n.name for n in networks) or ("",)


def _on(cause: Cause, seen: Seen, network: str, passed: Sequence[Finding], entries: Sequence[Covering]) -> _On:
    blind = {f.check for f in seen.of_code.get(_ONLY_IPV4, ()) if f.network == network}
    here = tuple(f for f in passed if f.network in ("", network) and f.check not in blind)
    excluding = (f for code in cause.excluded_by for f in seen.of_code.get(code, ()) if f.network in ("", network))
    if not any(map(is_outdated, excluding)) and _pass_everywhere(cause, seen, network):
        return _On(network, here, (), True, None)
    checks = {f.check for f in here}
    doubts = tuple(
        f
        for f in seen.not_passed
        if f.check in checks and f.network in ("", network) and f.status in (Status.UNKNOWN, *FAULTS)
        if f.code not in CHANGED_CODES
    )
    hidden_by = None if _are_values(here) else _hiding(cause, network, entries)
    if {f.code for f in here} == set(cause.excluded_by):
        return _On(network, here, doubts, True, hidden_by)
    makers = {f.check for f in passed}
    skipped = tuple(
        f.title for f in seen.findings if f.check in makers and f.network == network and f.status is Status.SKIPPED
    )
    return _On(network, here, doubts, False, hidden_by, skipped)


def _pass_everywhere(cause: Cause, seen: Seen, network: str) -> bool:
    """Return whether packets that the cause stops, of any size, passed on each path of a network."""
    nodes = [port.node for known in seen.cluster.read_networks() if known.name == network for port in known.ports]
    stopped = [touch for touch in cause.patterns if touch.how is How.STOPS and not touch.is_sized]
    return (
        bool(stopped)
        and len(stopped) == len(cause.patterns)
        and not cause.is_link_of_aggregation
        and all(
            any(leg <= touch.packets for leg in seen.passed((network, s, r)))
            for touch in stopped
            for s in nodes
            for r in nodes
            if s != r
        )
    )


def _are_values(findings: Sequence[Finding]) -> bool:
    """Return whether findings are about values that were read, which nothing hides that stops packets."""
    observed = [seen for finding in findings for seen in finding.observed]
    return bool(observed) and all(seen.fate is Fate.STATE and seen.value is not None for seen in observed)


def _hiding(cause: Cause, network: str, entries: Sequence[Covering]) -> Covering | None:
    """Return the entry that stops, at its place, all packets of a kind which the cause touches on a network: what is
    behind it was not tested."""
    touched = [
        touch.packets & Traffic(networks=(network,) if network and not touch.every_network else None)
        for touch in (*cause.touches, *cause.patterns)
    ]
    for entry in entries:
        if entry.first.cause.blinds:
            return entry
        for effect in entry.first.effects:
            stops = effect.how in (How.STOPS, How.AT_TIMES)
            if stops and any(_stops(effect.traffic, packets) for packets in touched):
                return entry
    return None


def _stops(stopped: Traffic, packets: Traffic) -> bool:
    there = packets & Traffic(networks=stopped.networks, senders=stopped.senders, receivers=stopped.receivers)
    return bool(there) and there <= stopped


def _by_place(cause: Cause, on: Sequence[_On]) -> tuple[Hypothesis, Covering | None]:
    excluded = [one for one in on if one.is_excluded]
    scope = f" ({cause.covers})" if cause.covers else ""
    reasons = tuple(dict.fromkeys(f"{f.title.rstrip('.')}{scope}." for one in excluded for f in one.passed))
    reasons += tuple(f"Packets pass on each path of {one.network}." for one in excluded if not one.passed)
    hidden = next((one.hidden_by for one in on if one.hidden_by and one.is_complete and not one.doubts), None)
    if len(excluded) == len(on):
        return _of(cause, Certainty.EXCLUDED, reasons), None
    doubts = tuple(dict.fromkeys(f.title for one in on if one.is_complete for f in one.doubts))
    standing = Certainty.POSSIBLE if doubts else Certainty.NOT_EXAMINED
    names = tuple(one.network for one in excluded)
    reasons_not = [
        reason for one in on for reason in (*((_why(one.hidden_by),) if one.hidden_by else ()), *one.skipped)
    ]
    because = doubts or tuple(dict.fromkeys(reasons_not))
    return _of(cause, standing, because, excluded_on=names, against=reasons if names else ()), hidden


def _why(hidden_by: Covering) -> str:
    return f"{hidden_by.first.cause.name} ({hidden_by.first.cause.code}) hides it."


def _cleared(cause: Cause, seen: Seen) -> Hypothesis:
    """Return the standing of a cause that none of its checks shows."""
    own = [f for f in seen.findings if f.check in cause.cleared_by]
    if {f.check for f in own if f.status is not Status.SKIPPED} != set(cause.cleared_by):
        return _of(cause, Certainty.NOT_EXAMINED)
    if doubts := [f for f in own if f.status is Status.UNKNOWN]:
        return _of(cause, Certainty.POSSIBLE, tuple(f.title for f in doubts))
    if outdated := [f for f in own if is_outdated(f)]:
        return _of(cause, Certainty.NOT_EXAMINED, tuple(line for f in outdated for line in f.seen[:1]))
    if left_out := [f for f in own if f.status is Status.SKIPPED and _is_left_out(f)]:
        return _of(cause, Certainty.NOT_EXAMINED, tuple(f.title for f in left_out))
    return _of(cause, Certainty.EXCLUDED, (f"No finding of {listed(cause.cleared_by)} shows it, {cause.covers}.",))


def _is_left_out(finding: Finding) -> bool:
    """Return whether a check did not examine a place, although it examined others."""
    return bool(finding.network and finding.nodes) or finding.code == _ONLY_IPV4


def _of(
    cause: Cause,
    standing: Certainty,
    because: tuple[str, ...] = (),
    *,
    against: tuple[str, ...] = (),
    excluded_on: tuple[str, ...] = (),
) -> Hypothesis:
    return Hypothesis(
        cause=cause.code,
        name=cause.name,
        sources=cause.sources,
        standing=standing,
        because=because,
        against=against,
        excluded_on=excluded_on,
        next=() if standing is Certainty.EXCLUDED else cause.look,
    )
