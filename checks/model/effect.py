"""What a step does to a running cluster when it is carried out on the busiest node at noon."""

from __future__ import annotations

from enum import StrEnum


class Effect(StrEnum):
    """The effect of a command on a node that is in the cluster and serves blocks, from none to the worst."""

    READS = "reads"
    """It only reads, or sends a few packets."""
    HARMLESS = "harmless"
    """It changes something at once, and nothing stops and no packet is lost."""
    AT_NEXT_START = "at-next-start"
    """It changes a file or a registry: nothing happens now, and it takes effect at the next boot or start."""
    ADDS_LOAD = "adds-load"
    """It takes CPU, disk or network for minutes."""
    LOSES_PACKETS = "loses-packets"
    """Packets can be lost for a moment; the link stays up."""
    STOPS = "stops"
    """It stops what it names: a service, an instance, Clusterware on one node."""
    NODE_OUT_FIRST = "node-out-first"
    """The link drops, or an address goes: longer than the cluster may wait. The node leaves the cluster before."""
    CLUSTER_DOWN_FIRST = "cluster-down-first"
    """Nodes that differ meanwhile lose each other's packets and are evicted: Clusterware is down on all nodes."""
    NOT_JUDGED = "not-judged"
    """racwire does not know the command."""

    @property
    def rank(self) -> int:
        """The place among the effects: the highest is the worst."""
        return list(Effect).index(self)

    @property
    def sentence(self) -> str:
        """What the reader must know before typing; empty where the command only reads."""
        return _SENTENCES.get(self, "")


_SENTENCES = {
    Effect.HARMLESS: "Harmless while the cluster runs.",
    Effect.AT_NEXT_START: "Takes effect at the next start, not now.",
    Effect.ADDS_LOAD: "Adds load for minutes: not at the busiest hour.",
    Effect.LOSES_PACKETS: "Packets can be lost for a moment: one node at a time, at a quiet hour.",
    Effect.STOPS: "Stops what it names, at once.",
    Effect.NODE_OUT_FIRST: "The link drops: take the node out of the cluster first (relocate its services, then "
    "`crsctl stop crs` there).",
    Effect.CLUSTER_DOWN_FIRST: "Only with Clusterware down on all nodes.",
    Effect.NOT_JUDGED: "racwire has not judged what this does to a running cluster.",
}
