"""Facts about a cluster.

Facts are frozen, typed and serialisable. A live cluster, the practice cluster and a saved file produce the same
objects, so that a check cannot distinguish them. Names contain units (`speed_mbps`, `rtt_ms`); an MTU is always in
bytes of the IP packet, as in `ip link`. A value that could not be read is `Unknown` with a reason, never None and never
zero; None means "read, and there is none".
"""

from checks.model.facts.base import Fact, MissingRight, NotAsked, NotGathered, Unknown, Unread, part_of
from checks.model.facts.change_facts import (
    BeforeAfter,
    Changing,
    JournalCopy,
    JournalSeen,
    NoRecording,
    PredictedFigure,
    RecordingsCompared,
    RecoveryArea,
    RestorePoint,
    SeenRecording,
    StoredHash,
)
from checks.model.facts.cluster import FACT_GROUPS, Cluster
from checks.model.facts.database_facts import (
    Activity,
    ActivityGap,
    BlockTransfer,
    ClientTraffic,
    Database,
    DeviceHistory,
    History,
    HistoryPeriod,
    Instance,
    InstanceActivity,
    InstanceHistory,
    InstancePing,
    InterconnectInUse,
    LossHistory,
    OpenPluggable,
    Parameter,
    ServiceActivity,
    UnaskedInstance,
    UnreadView,
    WaitBucket,
    WaitEvent,
    release,
)
from checks.model.facts.dropped_packets import DroppedPackets, FollowedPackets, KernelDrops
from checks.model.facts.flow_probe import (
    AddressProbe,
    AddressProbes,
    FlowArrivals,
    FlowPort,
    FlowProbe,
    Flows,
    HaipPath,
    HaipPaths,
    Held,
    OtherSender,
    PortTurn,
    SmallDatagrams,
)
from checks.model.facts.grid import (
    ActiveVersion,
    ArchiveSeen,
    AsmListener,
    ClusterMember,
    Clusterware,
    ConfiguredInterface,
    FileSeen,
    GridHome,
    Haip,
    InterfaceConfiguration,
    ListedInterface,
    Managed,
    ManagedDatabase,
    OcrBackup,
    StaleHome,
    ToolMessage,
    VotingFile,
)
from checks.model.facts.host_setup import (
    Bond,
    BondMember,
    FirewalldZone,
    HostSetup,
    JoinedGroup,
    NicDriver,
    NodeMemory,
    PacketFilters,
    PrivateUse,
    RightsOfOradism,
    ScheduledProcess,
)
from checks.model.facts.log_lines import AlertLog, LogKind, LogLine, NodeLogs
from checks.model.facts.node import (
    Address,
    CounterChange,
    CounterChanges,
    FragileMtu,
    Interface,
    IPAddress,
    IPNetwork,
    KeptMtu,
    KernelCounters,
    LldpNeighbour,
    MtuByDhcp,
    Neighbour,
    NetworkService,
    NicAddresses,
    Node,
    NodeSetup,
    Route,
    UnreadNode,
)
from checks.model.facts.own_load import QuietLosses, RecentLoad
from checks.model.facts.path_probe import Leg, PathProbe, PingSeries, Port, PrivateNetwork, Verdict
from checks.model.facts.route_in_use import NodeRoutes, RouteInUse
from checks.model.facts.storage_facts import AsmClient, DnfsServer, StorageConnection, StorageMount, StorageUse
from checks.model.facts.sysctl_facts import SysctlFiles, SysctlLine, TunedProfile, UdpSocket
from checks.model.facts.system_counters import (
    CounterGroup,
    DriverCounters,
    NicState,
    SystemCounters,
    TrackedConnections,
)
from checks.model.facts.tcp_facts import PrivateTcp, TcpFlow
from checks.model.facts.thresholds import Thresholds
from checks.model.facts.transceivers import NodeOptics, OpticalLane, OpticalLimits, OpticalModule, UnreadModule
