"""Rules for UDP datagrams to a closed port: what the answers of a path's source ports show, and what they do not.

A link aggregation chooses a member by a hash of addresses and ports (IEEE 802.1AX, 6.2.4: each conversation stays on
one link), so a source port always takes the same member. A kernel limits its "port unreachable" answers, to all senders
on a node together, so a missing answer counts where a small datagram from the same port is answered and the target's
kernel did not count the large ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from checks.model.facts import (
    Activity,
    Cluster,
    FlowArrivals,
    FlowPort,
    FlowProbe,
    Flows,
    PathProbe,
    SmallDatagrams,
    Verdict,
)
from checks.model.finding import Status
from checks.model.known_instances import active
from checks.model.wording import counted
from checks.rules.cache_fusion import lost, received
from checks.rules.path_status import packet_loss
from checks.rules.port_shares import lossy_ports, lost_by_port

Pair = tuple[str, str]
"""The sending and the receiving node of a path."""

LEAST_SMALL = 6
"""Small datagrams of a path of which not one arrives."""
LEAST_LARGE = 3
"""Large datagrams that one source port must lose, without one answer."""
_BY_CHANCE = 0.001
"""The probability from which on chance explains that one of the source ports lost all its datagrams. It is ours."""

OWN_FILTER = ("EPERM",)
"""Errors of sending with which the sender's own packet filter drops a datagram (netfilter)."""
NO_ROUTE = {
    "EINVAL": "a route of type blackhole",
    "EHOSTUNREACH": "a route of type unreachable",
    "EACCES": "a route or rule of type prohibit",
    "ENETUNREACH": "the absence of a route",
}
"""Errors of sending with which the sender's routes refuse a datagram, and what returns them (ip-route(8))."""
CHANCE = 0.01
"""Datagrams contradict the loss of pings where they would all pass less often than this at the same loss."""


class FlowVerdict(StrEnum):
    """What the datagrams of a path show."""

    PASSES = "passes"
    SHORT_MEMBER = "some source ports lose every full-size datagram"
    DEAD_MEMBER = "some source ports lose every datagram"
    LOSSY_MEMBER = "some source ports lose a share of their datagrams"
    LARGE_LOST = "every source port loses every full-size datagram"
    NONE = "no datagram arrives"
    REFUSED = "a filter refuses the datagrams"
    NO_ROUTE = "the sender's routes refuse the datagrams"
    OTHER_HOST = "answered, and not by the target"
    OTHER_ON_SOME = "answered, and not by the target on this path or another one to it"
    IN_PART = "lost in part"
    SMALL_LOST = "small datagrams are lost, full-size ones pass"
    SMALL_IN_PART = "small datagrams are lost in part, full-size ones pass"
    UNDECIDED = "not decided"
    NOT_SENT = "not sent"


@dataclass(frozen=True, slots=True)
class FlowJudgement:
    """The verdict on a path, with the source ports that show it."""

    probe: FlowProbe
    verdict: FlowVerdict
    ports: tuple[FlowPort, ...] = ()
    reason: str = ""

    @property
    def of(self) -> int:
        """The source ports of full-size datagrams."""
        return len(whole(self.probe))


def whole(probe: FlowProbe) -> tuple[FlowPort, ...]:
    """Return the source ports that sent full-size datagrams in one packet."""
    return tuple(p for p in probe.ports if p.whole and p.sent)


def is_short(port: FlowPort) -> bool:
    """Return whether a port loses every large datagram and a small one from the same port was answered."""
    return port.sent >= LEAST_LARGE and not port.answered and port.small_answered > 0


def is_dead(port: FlowPort) -> bool:
    """Return whether a port loses every datagram, small ones included."""
    return port.sent >= LEAST_LARGE and not port.answered and port.small_sent > 0 and not port.small_answered


def is_fine(port: FlowPort) -> bool:
    """Return whether each full-size datagram of a port was answered."""
    return 0 < port.sent == port.answered


def judge_flow(probe: FlowProbe, flows: Flows, paths: Sequence[PathProbe] = ()) -> FlowJudgement:
    """Return what the full-size datagrams of a path show. `paths` are those that pings probed: where these are lost
    in part, a source port can lose its few datagrams by chance."""
    ports, arrivals = whole(probe), flows.arrived(probe.to_node)
    if barred := tuple(p for p in probe.ports if p.error in OWN_FILTER):
        reason = f"the kernel of {probe.from_node} refuses to send them ({barred[0].error})"
        return FlowJudgement(probe, FlowVerdict.REFUSED, barred, reason)
    unrouted = tuple(p for p in probe.ports if p.error in NO_ROUTE and not p.sent)
    if unrouted and len(unrouted) == len(probe.ports):
        error = unrouted[0].error
        reason = f"the kernel of {probe.from_node} does not send them: {error}, the error of {NO_ROUTE[error]}"
        return FlowJudgement(probe, FlowVerdict.NO_ROUTE, unrouted, reason)
    if not ports:
        return FlowJudgement(probe, FlowVerdict.NOT_SENT, reason=probe.reason or _errors(probe.ports))
    if refused := tuple(p for p in probe.ports if p.prohibited_by):
        return FlowJudgement(probe, FlowVerdict.REFUSED, refused)
    fine = tuple(filter(is_fine, ports))
    if len(fine) == len(ports):
        uncounted = uncounted_at(flows, probe.to_node)
        is_counted = isinstance(probe.small, SmallDatagrams) and probe.small.counted
        if uncounted >= probe.datagrams and not is_counted:
            among = answered_whole(flows, probe.to_node)
            reason = f"the kernel of {probe.to_node} did not count {uncounted} of the datagrams that were answered"
            if sum(p.datagrams for p in among) <= uncounted:
                return FlowJudgement(probe, FlowVerdict.OTHER_HOST, (), reason)
            reason += f" on {counted(len(among), 'path')}, and which these are is not known"
            return FlowJudgement(probe, FlowVerdict.OTHER_ON_SOME, (), reason)
        return FlowJudgement(probe, _of_small(probe), fine)
    if not answered(probe):
        return _without_answer(flows, probe, arrivals)
    short, dead = tuple(filter(is_short, ports)), tuple(filter(is_dead, ports))
    # A port that loses some of its datagrams takes no link that loses all, so the reason is another.
    is_mixed = any(0 < p.answered < p.sent for p in ports)
    if short and did_not_arrive(flows, probe, sum(p.sent for p in short)):
        if not any(p.answered for p in ports):
            return FlowJudgement(probe, FlowVerdict.LARGE_LOST, short)
        if fine and not is_mixed and not _is_chance(probe, short, paths):
            return FlowJudgement(probe, FlowVerdict.SHORT_MEMBER, short)
    none_of_dead = sum(p.sent + p.small_sent for p in dead)
    is_of_member = dead and fine and not short and not is_mixed and not _is_chance(probe, dead, paths)
    if is_of_member and did_not_arrive(flows, probe, none_of_dead):
        return FlowJudgement(probe, FlowVerdict.DEAD_MEMBER, dead)
    if lossy := lossy_ports(probe):
        return FlowJudgement(probe, FlowVerdict.LOSSY_MEMBER, lossy)
    least, most = lost_here(flows, probe)
    silent = tuple(p for p in ports if p not in fine)
    arrivals, _ = counts_of(flows, probe.to_node)
    if probe.reason:
        return FlowJudgement(probe, FlowVerdict.UNDECIDED, silent, probe.reason)
    if any(lost for lost, _ in lost_by_port(probe.turns).values()):
        return FlowJudgement(probe, FlowVerdict.IN_PART, silent)
    if arrivals is None:
        reason = f"whether the datagrams arrived at {probe.to_node} is not known: its Udp.NoPorts could not be read"
        return FlowJudgement(probe, FlowVerdict.UNDECIDED, silent, reason)
    if of_others(arrivals):
        reason = (
            f"{arrivals.counted} datagrams to closed ports reached {probe.to_node}, more than the {arrivals.sent} of "
            "this check: another program, or a racwire on another node, sends them too and takes a share of the answers"
        )
        return FlowJudgement(probe, FlowVerdict.UNDECIDED, silent, reason)
    if not most and who_sent(flows):
        reason = (
            f"another racwire sent at the same time ({who_sent(flows)}), so the counts of {probe.to_node} are of both"
        )
        return FlowJudgement(probe, FlowVerdict.UNDECIDED, silent, reason)
    if not most:
        # The kernel of the target counted as many datagrams as were sent: only answers are missing.
        return FlowJudgement(probe, _of_small(probe), ports)
    if not least:
        reason = f"{probe.to_node} counted {arrivals.counted} of {arrivals.sent} datagrams on all networks"
        return FlowJudgement(probe, FlowVerdict.UNDECIDED, silent, reason)
    return FlowJudgement(probe, FlowVerdict.IN_PART, silent)


def _of_small(probe: FlowProbe) -> FlowVerdict:
    """Return the verdict on a path whose full-size datagrams arrive: that on its small ones, as far as these tell."""
    small = probe.small
    if not isinstance(small, SmallDatagrams) or 0 < small.sent == small.counted:
        return FlowVerdict.PASSES
    if not small.counted and (small.sent >= LEAST_SMALL or small.error in OWN_FILTER):
        return FlowVerdict.SMALL_LOST
    return FlowVerdict.SMALL_IN_PART if small.sent else FlowVerdict.PASSES


def _is_chance(probe: FlowProbe, ports: Sequence[FlowPort], paths: Sequence[PathProbe]) -> bool:
    """Return whether the loss of the pings on the same path explains that some port lost all its datagrams."""
    way = (probe.network, probe.from_node, probe.to_node)
    path = next((p for p in paths if (p.network, p.from_node, p.to_node) == way and p.verdict is Verdict.LOSS), None)
    if path is None:
        return False
    series = [s for s in path.series if not s.refused_locally]
    sent, lost = sum(s.sent for s in series), sum(s.sent - s.received for s in series)
    share = lost / sent if sent else 0.0
    return len(whole(probe)) * share ** min(port.sent for port in ports) >= _BY_CHANCE


def answered(probe: FlowProbe) -> int:
    """Return how many datagrams of a path were answered."""
    return sum(p.answered + p.small_answered + p.full_answered for p in probe.ports)


def lost_here(flows: Flows, probe: FlowProbe) -> tuple[int, int]:
    """Return the least and the most datagrams of a path that its target's kernel did not count.

    The kernel counts those of all paths to it together. Those without an answer on another path may be lost there; they
    are where that path has no answer at all.
    """
    arrivals, later = counts_of(flows, probe.to_node)
    own = _unanswered(probe, later)
    if arrivals is None:
        return 0, own
    missing = arrivals.sent - arrivals.counted
    others = [p for p in flows.probes if p.to_node == probe.to_node and p != probe]
    unanswered = sum(_unanswered(p, later) for p in others)
    certain = sum(_unanswered(p, later) for p in others if not answered(p))
    return max(0, missing - unanswered), max(0, min(own, missing - certain))


def counts_of(flows: Flows, node: str) -> tuple[FlowArrivals | None, bool]:
    """Return what a node counted, and whether that is of the later datagrams alone: those of others may have reached it
    with the first ones only."""
    whole, later = flows.arrived(node), flows.arrived_later(node)
    if later is not None and of_others(whole) and not of_others(later):
        return later, True
    return whole, False


def _unanswered(probe: FlowProbe, later: bool) -> int:
    """Return how many datagrams of a path got no answer; `later`: of those that examined missing answers alone."""
    first = sum(p.sent > 0 and (p.late or not p.answered) for p in probe.ports)
    return probe.datagrams - answered(probe) - first * later


def who_sent(flows: Flows) -> str:
    """Return which other processes sent at the same time; empty where none is known."""
    return ", ".join(f"pid {o.pid} on {o.node}" for o in flows.others if o.age_s is None)


def is_of_others(flows: Flows, probe: FlowProbe) -> bool:
    """Return whether others sent datagrams as well, from the nodes or to the target of a path."""
    return of_others(counts_of(flows, probe.to_node)[0]) or bool(who_sent(flows))


def of_others(arrivals: FlowArrivals | None) -> bool:
    """Return whether a node counted datagrams that this check did not send."""
    return arrivals is not None and arrivals.counted > arrivals.sent


def did_not_arrive(flows: Flows, probe: FlowProbe, lost: int) -> bool:
    """Return whether the counts of a path's target agree with the loss of so many of its datagrams.

    Datagrams of other programs to closed ports count too, so half of the missing ones suffice. Where the count is not
    known, a share of the kernel's answers that another sender took would look like a loss.
    """
    later = counts_of(flows, probe.to_node)[1]
    # The first datagram of each port was sent before the count.
    expected = lost - sum(p.sent > 0 and not p.answered for p in probe.ports) if later else lost
    return flows.arrived(probe.to_node) is not None and 2 * lost_here(flows, probe)[1] >= max(1, expected)


def uncounted_at(flows: Flows, node: str) -> int:
    """Return how many datagrams to a node were answered without its kernel counting them."""
    arrivals = flows.arrived(node)
    return sum(answered(p) for p in flows.probes if p.to_node == node) - arrivals.counted if arrivals else 0


def answered_whole(flows: Flows, node: str) -> tuple[FlowProbe, ...]:
    """Return the paths to a node of whose datagrams each was answered."""
    return tuple(p for p in flows.probes if p.to_node == node and 0 < p.datagrams == answered(p))


def _without_answer(flows: Flows, probe: FlowProbe, arrivals: FlowArrivals | None) -> FlowJudgement:
    if arrivals is None:
        reason = f"no datagram got an answer, and {probe.to_node} does not show whether any arrived"
        return FlowJudgement(probe, FlowVerdict.UNDECIDED, reason=reason)
    if not of_others(arrivals) and not who_sent(flows) and not lost_here(flows, probe)[1]:
        reason = f"the kernel of {probe.to_node} counted each of them (Udp.NoPorts): the answers alone vanish"
        return FlowJudgement(probe, FlowVerdict.PASSES, whole(probe), reason)
    if not did_not_arrive(flows, probe, probe.datagrams):
        reason = (
            f"{arrivals.counted} of {arrivals.sent} datagrams arrived at {probe.to_node}, which does not answer those "
            f"from {probe.from_node}"
        )
        return FlowJudgement(probe, FlowVerdict.UNDECIDED, reason=reason)
    return FlowJudgement(probe, FlowVerdict.NONE, probe.ports)


def _errors(ports: Sequence[FlowPort]) -> str:
    errors = sorted({p.error for p in ports if p.error})
    return f"the kernel did not send: {', '.join(errors)}" if errors else "nothing was sent"


def contradicts_pings(there: FlowJudgement, back: FlowJudgement | None, ping: PathProbe | None) -> bool:
    """Return whether full-size datagrams pass both ways between two nodes where pings do not.

    The answer to a ping is as large as the ping, so one direction alone proves nothing. Where pings are lost in part,
    the datagrams must be enough that they would not all pass by chance, at the rate at which the smallest pings are
    lost: a full queue drops large packets of a burst, and the datagrams are paced.
    """
    if back is None or ping is None or {there.verdict, back.verdict} != {FlowVerdict.PASSES}:
        return False
    if ping.verdict is Verdict.LOSS:
        smallest = min(
            (s for s in ping.series if not s.refused_locally and s.sent), key=lambda s: s.payload, default=None
        )
        passes = smallest.received / smallest.sent if smallest else 1.0
        return bool(passes ** (there.of + back.of) < CHANCE)
    return ping.verdict in (Verdict.BLACK_HOLE, Verdict.FILTERED)


def is_silent(ping: PathProbe) -> bool:
    """Return whether no ping of any size returned on a path whose nodes are up."""
    return ping.verdict is Verdict.FILTERED and not any(s.received for s in ping.series)


def agrees_with_pings(judgement: FlowJudgement, pings: Mapping[Pair, PathProbe]) -> bool:
    """Return whether datagrams are lost where pings are lost too, so that df-ping has the finding.

    `pings` are the paths of the network of the datagrams. A ping crosses the path in both directions, so the loss of a
    direction can appear as the loss of pings that start at the other end.
    """
    there = judgement.probe.from_node, judgement.probe.to_node
    lost_too = (FlowVerdict.LARGE_LOST, FlowVerdict.IN_PART, FlowVerdict.NONE, FlowVerdict.UNDECIDED)
    if there not in pings or judgement.verdict not in lost_too:
        return False
    if pings[there].verdict in (Verdict.BLACK_HOLE, Verdict.LOSS, Verdict.UNREACHABLE, Verdict.TOO_BIG):
        return True
    loss = packet_loss(pings.values())
    lossy = {(p.from_node, p.to_node) for p in loss.paths} if loss else set()
    in_part = (FlowVerdict.IN_PART, FlowVerdict.UNDECIDED)
    return judgement.verdict in in_part and not lossy.isdisjoint({there, there[::-1]})


def missed_member_percent(ports: int, members: int) -> float:
    """Return the probability in percent that no source port of so many takes one certain member of so many."""
    return float(100 * (1 - 1 / members) ** ports)


def members_of(dead: int, of: int) -> tuple[int, int, int] | tuple[None, None, None]:
    """Return the number of parallel links that a share of dead ports suggests, and the least and most that agree.

    One dead link of N takes 1/N of the ports. The interval is Wilson's for a binomial share, at 95 % (E. B. Wilson,
    1927), and has at least 2. No number of equal links agrees with a share such as 0.4 of 256 ports, where more than
    one link is dead, or the ports are spread unevenly: then all three are None. Raises ValueError unless some ports of
    all are dead.
    """
    if not 0 < dead <= of:
        raise ValueError(f"{dead} of {of} ports")
    z, share = 1.96, dead / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    low, high = max(middle - half, 1 / (2 * of)), min(middle + half, 1.0)
    least, most = max(2, math.ceil(1 / high)), math.floor(1 / low)
    return (min(max(least, round(1 / share)), most), least, most) if least <= most else (None, None, None)


def harm(cluster: Cluster) -> Status:
    """Return FAIL where instances lost blocks in this run, or received none at all; else WARN."""
    activity = cluster.activity
    if not isinstance(activity, Activity):
        return Status.WARN
    own = [instance.statistics for instance in active(activity)]
    if any((lost(statistics) or 0) > 0 for statistics in own):
        return Status.FAIL
    arrived = [received(statistics) for statistics in own]
    return Status.FAIL if len(own) > 1 and arrived and not any(arrived) else Status.WARN


def flows_of(cluster: Cluster) -> Flows | None:
    """Return the datagrams of the run; None where none were sent."""
    return cluster.flows if isinstance(cluster.flows, Flows) else None
