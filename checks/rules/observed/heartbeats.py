"""What Clusterware and its logs report, as observations: heartbeats and messages between nodes, now and in the past."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from checks.model.facts import Cluster, Clusterware, Unknown
from checks.model.known_instances import database_of, node_of
from checks.model.observation import Fate, Observation
from checks.model.traffic import End, Traffic, among
from checks.rules.log_events.episodes import LogEpisode
from checks.rules.log_events.log_message import LogEvent
from checks.rules.observed.database_ways import DatabaseWays
from checks.rules.observed.states import states

_HEARTBEAT, _MESSAGE = "heartbeat", "message"
_BY_CLUSTERWARE: tuple[End, ...] = ("clusterware",)


def heartbeats_lost(cluster: Cluster, node: str) -> tuple[Observation, ...]:
    """Return the heartbeats between a node that is not active and the others, in both directions: none passes."""
    legs = _both_ways(cluster, node, tuple(n for n in _nodes(cluster) if n != node))
    return (Observation(fate=Fate.LOST, what=_HEARTBEAT, legs=legs, number=1, of=1),)


def episodes_observed(cluster: Cluster, code: str, episodes: Sequence[LogEpisode]) -> tuple[Observation, ...]:
    """Return what episodes in alert logs report: packets that were lost or refused, or the state `code` of a node.

    An episode of the last minutes is of this run; earlier ones have the times of their lines.
    """
    return tuple(one for episode in episodes for one in _of(cluster, code, episode))


def _of(cluster: Cluster, code: str, episode: LogEpisode) -> Iterator[Observation]:
    fate, what, legs = Fate.LOST, _MESSAGE, tuple[Traffic, ...]()
    match episode.event:
        case LogEvent.HEARTBEAT | LogEvent.NO_NETWORK_HEARTBEAT:
            # The log of a node reports that the heartbeat of another one is missing.
            own = (episode.writer,) if episode.writer in _nodes(cluster) else episode.nodes
            what, legs = _HEARTBEAT, (_packets(cluster, (episode.about,), own),)
        case LogEvent.NODE_EVICTED:
            others = tuple(node for node in episode.nodes if node != episode.about)
            what, legs = _HEARTBEAT, _both_ways(cluster, episode.about or episode.writer, others)
        case LogEvent.GIPC:
            legs = _both_ways(cluster, episode.about, episode.nodes)
        case LogEvent.SEND_TIMEOUT | LogEvent.INSTANCE_EVICTED | LogEvent.NO_CONNECTION:
            legs = _between_instances(cluster, episode)
        case LogEvent.NO_BUFFERS | LogEvent.SEND_FAILED | LogEvent.TOO_LONG:
            fate, legs = Fate.REFUSED, tuple(Traffic(senders=(n,), ends=("instance",)) for n in episode.nodes)
        case _:
            yield from states(code, episode.nodes)
            return
    times = None if episode.is_recent else (episode.first_at.timestamp(), episode.last_at.timestamp())
    yield Observation(
        fate=fate,
        what=what,
        legs=tuple(msgspec.structs.replace(leg, times=times) for leg in legs),
        number=episode.times,
        nodes=episode.nodes if fate is Fate.REFUSED else (),
    )


def _between_instances(cluster: Cluster, episode: LogEpisode) -> tuple[Traffic, ...]:
    """Return the messages between the instance that wrote the lines and the one that they name, in both directions: a
    message without an acknowledgement was lost there or back. The first leg is that of the message."""
    ways = DatabaseWays(cluster)
    peer = node_of(cluster, episode.instance) if episode.instance is not None else _node_of(cluster, episode.about)
    # Both sides can report an eviction: then its messages are those between the two.
    writers = [node for node in episode.nodes if node != peer] or list(episode.nodes)
    pairs = [(node, peer if peer != node else "") for node in writers]
    return tuple(
        leg
        for node, other in pairs
        for sender, receiver in (
            ((other, node), (node, other)) if episode.is_inward else ((node, other), (other, node))
        )
        for leg in ways.any_size(sender, receiver)
    )


def _node_of(cluster: Cluster, instance: str) -> str:
    database = database_of(cluster)
    found = (i.number for i in (database.instances if database else ()) if i.name == instance)
    return next((node_of(cluster, number) for number in found), "")


def _both_ways(cluster: Cluster, node: str, others: tuple[str, ...]) -> tuple[Traffic, ...]:
    one = (node,) if node else ()
    return (_packets(cluster, one, others), _packets(cluster, others, one))


def _packets(cluster: Cluster, senders: Sequence[str], receivers: Sequence[str]) -> Traffic:
    """Return what Clusterware sends from some nodes to others, on the private networks; without names, on all nodes."""
    return Traffic(
        networks=among(network.name for network in cluster.read_networks()) or None,
        senders=among(filter(None, senders)) or None,
        receivers=among(filter(None, receivers)) or None,
        addresses=("private",),
        ends=_BY_CLUSTERWARE,
    )


def _nodes(cluster: Cluster) -> tuple[str, ...]:
    facts = cluster.clusterware
    members = () if not isinstance(facts, Clusterware) or isinstance(facts.members, Unknown) else facts.members
    return among([*(m.name for m in members), *(n.name for n in cluster.all_nodes())])
