"""What can be known of a cluster.

Facts are frozen, typed and serialisable: the same objects come from a live cluster, from the practice cluster and
from a saved file, so that a check cannot tell which. Units stand in the names (`speed_mbps`, `rtt_ms`); an MTU is
always in bytes and means the IP packet, as `ip link` counts it. What could not be read is `Unknown` with its reason,
never None and never zero; None means "read, and there is none".
"""

from checks.facts.base import Fact, NotAsked, Unknown
from checks.facts.cluster import FACT_GROUPS, Cluster, Thresholds
from checks.facts.clusterware import (
    ActiveVersion,
    ClusterMember,
    Clusterware,
    ConfiguredInterface,
    GridHome,
    Haip,
    InterfaceConfiguration,
    ListedInterface,
    StaleHome,
    ToolMessage,
)
from checks.facts.database import (
    Activity,
    ActivityGap,
    BlockTransfer,
    Database,
    Instance,
    InstanceActivity,
    InstancePing,
    InterconnectInUse,
    Parameter,
    UnaskedInstance,
    UnreadView,
    WaitBucket,
    WaitEvent,
)
from checks.facts.history import (
    ClientTraffic,
    DeviceHistory,
    History,
    HistoryPeriod,
    InstanceHistory,
    LossHistory,
)
from checks.facts.kernel import CounterChange, CounterChanges
from checks.facts.node import (
    Address,
    Interface,
    IPAddress,
    IPNetwork,
    KernelCounters,
    Neighbour,
    Node,
    Route,
    UnreadNode,
)
from checks.facts.paths import Leg, PathProbe, PingSeries, Port, PrivateNetwork, Verdict

__all__ = [
    "FACT_GROUPS",
    "ActiveVersion",
    "Activity",
    "ActivityGap",
    "Address",
    "BlockTransfer",
    "ClientTraffic",
    "Cluster",
    "ClusterMember",
    "Clusterware",
    "ConfiguredInterface",
    "CounterChange",
    "CounterChanges",
    "Database",
    "DeviceHistory",
    "Fact",
    "GridHome",
    "Haip",
    "History",
    "HistoryPeriod",
    "IPAddress",
    "IPNetwork",
    "Instance",
    "InstanceActivity",
    "InstanceHistory",
    "InstancePing",
    "InterconnectInUse",
    "Interface",
    "InterfaceConfiguration",
    "KernelCounters",
    "Leg",
    "ListedInterface",
    "LossHistory",
    "Neighbour",
    "Node",
    "NotAsked",
    "Parameter",
    "PathProbe",
    "PingSeries",
    "Port",
    "PrivateNetwork",
    "Route",
    "StaleHome",
    "Thresholds",
    "ToolMessage",
    "UnaskedInstance",
    "Unknown",
    "UnreadNode",
    "UnreadView",
    "Verdict",
    "WaitBucket",
    "WaitEvent",
]
