"""The plan of a change: its target state and its steps. Data only: it is the first line of the journal."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from checks.change.plan.command_block import Commands
from checks.model.own_command import CHANGE, EXPERIMENT, Text

SCHEMA = "racwire-change/2"


class ChangeKind(StrEnum):
    """The purpose of a plan."""

    RAISE = "raise"
    """A larger MTU on the private networks."""
    LOWER = "lower"
    """A smaller MTU on the private networks."""
    NODE_MTU = "node-mtu"
    """The MTU of the other nodes on one node that has another."""
    RECEIVE_BUFFERS = "receive-buffers"
    RP_FILTER = "rp-filter"
    ADD_NETWORK = "add-network"
    MOVE_NETWORK = "move-network"
    EXPERIMENT = "experiment"
    """The same load on a test database, before and after a change of the MTU that has a plan of its own."""
    ROLLBACK = "rollback"
    """From any step of a change back to the state recorded when the change was opened."""


OF_NETWORKS = (ChangeKind.ADD_NETWORK, ChangeKind.MOVE_NETWORK)
"""The kinds of change that change the private networks in the registry."""


class Gate(msgspec.Struct, frozen=True, omit_defaults=True):
    """One read-only check that must pass before the next step."""

    check: str
    """The id of the check: one of `checks.change.gates`, or a built-in check such as `df-ping`."""
    nodes: tuple[str, ...] = ()
    """The nodes that the gate is about; all nodes if empty."""
    until: str = ""
    """The id of the step until which the gate must hold: each later step before that one verifies it again. If empty,
    the gate is verified once."""


class Minutes(msgspec.Struct, frozen=True):
    """The expected minutes of a step: an estimate of racwire, not a measurement."""

    least: int
    most: int
    depends_on: str
    """What they depend on: `the number of nodes`."""


class Registrations(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the cluster's registry has of the networks."""

    interconnects: tuple[str, ...]
    """The sorted lines of `oifcfg getif`."""
    asm_listeners: tuple[str, ...] | None = None
    """The listeners of Flex ASM with their subnets, sorted: `ASMNET1LSNR_ASM 192.168.10.0`; None where they are not
    known, or the plan leaves them alone."""


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step: the actions of people, and the gates that racwire then verifies."""

    id: str
    """Stable, kebab-case: `agree`, `baseline`, `backups`, `console-access`, `switch`, `hypervisor`, `stack-down`,
    `set-mtu`, `survives-boot`, `prove-paths`, `first-node`, `other-nodes`, `databases`, `interconnect`, `compare`,
    `sign-off`; of the networks also `network-ready`, `register`, `old-network-down`, `networks-back`, `deregister`;
    of one node also `services-elsewhere`, `node-up`, `instances`."""
    title: str
    """A short title for lists: `stack down`."""
    what: Text
    """The instructions."""
    why: str
    """The reason for the step."""
    commands: tuple[Commands, ...] = ()
    expected: str = ""
    """The expected result of the step."""
    gates: tuple[Gate, ...] = ()
    attest: str = ""
    """The statement that a person must attest, since racwire cannot verify it; empty if there is none."""
    attest_for: tuple[str, ...] = ()
    """The hosts for each of which the statement must be attested; empty if it is attested once."""
    attest_asks: str = ""
    """What the note of the attestation must name: `who confirmed it, and when`; empty if the note is free."""
    if_rolled_back: Text = ""
    """The effect of a rollback from this step: one or two sentences."""
    minutes: Minutes | None = None
    """The expected minutes; None if there is no estimate."""
    no_return: str = ""
    """The action of this step after which going back costs more than before: the point of no return, or that there is
    none; empty in a rollback."""
    registered: Registrations | None = None
    """What the registry has after this step; None if the step leaves it as it is."""

    @property
    def to_attest(self) -> str:
        """The statement, with what its note must name: `The ports are at 9216. Note who confirmed it, and when.`"""
        return f"{self.attest} Note {self.attest_asks}." if self.attest_asks else self.attest


class Layer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An interface of a node that carries a private network, or is below such an interface."""

    node: str
    interface: str
    role: str
    """`port` (has the private address), `member` (of a bond), `parent` (of a VLAN), `bond`, `bridge port`."""
    level: int
    """The height above the hardware: members 0, their bond 1, a VLAN on the bond 2. MTUs are raised from the bottom to
    the top, and lowered from the top to the bottom."""
    networks: tuple[str, ...]
    """The names of the private networks that the layer carries."""
    mtu_before: int
    mtu_after: int
    kind: str = ""
    """The kernel's name of the kind: `ethernet`, `bond`, `vlan`, `bridge`, `infiniband`, ..."""
    network_service: str = msgspec.field(default="", name="keeper")
    """The network service that configures it at boot: a `checks.model.facts.NetworkService`."""
    file: str = ""
    connection: str = ""
    kept_before: int | None = None
    """The MTU in its boot configuration when the plan was made; None if it set none."""


class NetworkPart(StrEnum):
    """The part of a private network in a plan."""

    STAYS = ""
    """It was one before the plan, and is one afterwards."""
    NEW = "new"
    OLD = "old"
    """The plan replaces it by a new one."""


class PlannedNetwork(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A private network, with its MTU before and after."""

    name: str
    subnet: str
    mtu_before: int
    mtu_after: int
    addresses: dict[str, str]
    """The address of each node on the network."""
    part: NetworkPart = NetworkPart.STAYS
    since: str = ""
    """The id of the step that brings the network up on the nodes; empty if it is up from the start."""
    until: str = ""
    """The id of the step that takes the network down on the nodes; empty if none does."""


class PlannedPluggable(msgspec.Struct, frozen=True):
    """A pluggable database (PDB) that was open on an instance when the plan was made."""

    name: str
    instance: str
    mode: str
    """`READ WRITE`; with its restriction `READ WRITE, restricted`."""


class PlannedDatabase(msgspec.Struct, frozen=True, kw_only=True):
    """A database that must be stopped, and its instances by node."""

    name: str
    instances: dict[str, str]
    block_bytes: int | None = None
    """The block size in bytes; None if the database was not connected."""
    services: tuple[tuple[str, str], ...] | None = None
    """The services that ran when the plan was made, each with a node that offered it; None if they were not read."""
    pluggables: tuple[PlannedPluggable, ...] | None = None
    """The PDBs that were open when the plan was made; None if they were not read."""


class PlannedUse(msgspec.Struct, frozen=True):
    """A use of a changed interface by storage or copying when the plan was made."""

    node: str
    interface: str
    service: str
    """`NFS`, `iSCSI`, `rsync` ..."""
    remote: str
    """The address of the other end."""
    mount: str = ""
    """The directory, for a file system."""

    @property
    def stays(self) -> bool:
        """Whether it is there all the time: a mount or an iSCSI target."""
        return bool(self.mount) or self.service == "iSCSI"


class PlannedValue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A kernel setting of a node, with its value before and after."""

    node: str
    key: str
    """With dots between its parts, as `sysctl` prints it: `net.core.rmem_max`."""
    before: str
    after: str
    kept_before: str | None = None
    """The value in the node's sysctl files when the plan was made; None if they set none."""
    file_before: str = ""
    """The file that sets `kept_before`."""
    conf_before: str = ""
    """The value in /etc/sysctl.conf, which `sysctl --system` applies after all other files; empty if it sets none."""


class Accepted(msgspec.Struct, frozen=True):
    """An obstacle that was accepted when the change was opened, with the typed reason."""

    code: str
    title: str
    reason: str


class KnownWarning(msgspec.Struct, frozen=True):
    """A warning from before the change: the change did not cause it."""

    code: str
    subject: str
    """The subject of its finding: a later warning is the same only if its subject is identical."""


class PlannedExperiment(msgspec.Struct, frozen=True, kw_only=True):
    """What an experiment has in addition: its load, its database, and a third recording."""

    load: str
    """The load tool: a key of `checks.change.steps.load_tools.LOADS`."""
    users: int
    think_time: str
    """The think time of each user as the operator states it: `0 ms`."""
    database: str
    """DB_UNIQUE_NAME of the test database."""
    restore_point: str
    """The name of the guaranteed restore point."""
    reads_restore_points: bool
    """Whether racwire could read V$RESTORE_POINT and V$RECOVERY_FILE_DEST; otherwise people attest what they show."""
    again_file: str
    """The path of the recording of the second run before the change."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a change, or of its rollback."""

    schema: str = SCHEMA
    id: str
    """The day and a letter, unique for a cluster: `2026-11-20-a`."""
    cluster: str
    kind: ChangeKind
    goal: str = ""
    """The goal for a heading: `rp_filter 2`; empty for an MTU, whose heading is made from the networks."""
    made_at: str
    made_by: str
    """The login and node: `oracle@rac1`."""
    nodes: tuple[str, ...]
    node: str = ""
    """The one node that the plan stops and changes, while the others run; empty where it stops and changes all."""
    networks: tuple[PlannedNetwork, ...]
    layers: tuple[Layer, ...]
    grid_homes: dict[str, str]
    values: tuple[PlannedValue, ...] = ()
    """The kernel settings that the plan changes."""
    databases: tuple[PlannedDatabase, ...] = ()
    interconnects: tuple[str, ...] = ()
    """The sorted lines of `oifcfg getif` when the plan was made: they must be the same after the change, unless a step
    has others."""
    asm_listeners: tuple[str, ...] | None = None
    """The listeners of Flex ASM when the plan was made, as in `Registrations`."""
    boot_ids: dict[str, str] = msgspec.field(default_factory=dict)
    """The boot id of each node when the plan was made."""
    switches: tuple[str, ...] = ()
    """The kinds of switch of the private networks, from LLDP or the operator: `nexus-9000`."""
    switch_pair: str = ""
    """Whether bonds end in a pair of switches that compares MTUs, as stated: `yes`, `no`; empty if not stated."""
    guests: dict[str, str] = msgspec.field(default_factory=dict)
    """The nodes that are guests, with their kind of hypervisor: `vmware`; empty where the kind is not known."""
    reason: str = ""
    """The typed reason for the change, such as the number of its ticket: `CHG42`; empty if none was typed."""
    uses: tuple[PlannedUse, ...] = ()
    """Storage and copying on the changed interfaces when the plan was made."""
    remarks: tuple[Text, ...] = ()
    """Sentences about the target on this cluster: fragments of a block before and after, HAIP, limits."""
    accepted: tuple[Accepted, ...] = ()
    known: tuple[KnownWarning, ...] = ()
    """The warnings of the checks when the plan was made."""
    record_s: int = 600
    """The required length of each of the two recordings, in seconds."""
    baseline_file: str = ""
    """The path of the recording before the change; `after_file` is the path of the recording after it."""
    after_file: str = ""
    experiment: PlannedExperiment | None = None
    steps: tuple[Step, ...]

    @property
    def noun(self) -> str:
        """The word for what is planned: `change` or `experiment`."""
        return CHANGE if self.experiment is None else EXPERIMENT

    @property
    def mtu_before(self) -> int:
        """The smallest MTU of the private networks before the plan."""
        return min(network.mtu_before for network in self.networks)

    @property
    def mtu_after(self) -> int:
        """The smallest MTU of the private networks after the plan."""
        return min(network.mtu_after for network in self.networks)

    def step(self, id: str) -> Step:  # noqa: A002
        """Return the step with this id. Raises KeyError if there is none."""
        for step in self.steps:
            if step.id == id:
                return step
        raise KeyError(id)

    def position(self, id: str) -> int:  # noqa: A002
        """Return the index of the step with this id; the number of steps if there is none (`end`)."""
        return next((n for n, step in enumerate(self.steps) if step.id == id), len(self.steps))
