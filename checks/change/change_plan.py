"""The plan of a change: what is to be, and the steps that lead there. Data only: the first line of the journal."""

from __future__ import annotations

from enum import StrEnum

import msgspec

SCHEMA = "racwire-change/1"


class ChangeKind(StrEnum):
    """Which way a plan goes."""

    RAISE = "raise"
    LOWER = "lower"
    ROLLBACK = "rollback"
    """Back to what was recorded when the change was opened, from wherever it stands."""


class Gate(msgspec.Struct, frozen=True, omit_defaults=True):
    """One read-only check that must pass before the next step."""

    check: str
    """Its id: one of `checks.change.gates`, or a built-in check such as `df-ping`."""
    nodes: tuple[str, ...] = ()
    """The nodes that it is about; all of them where empty."""
    until: str = ""
    """The id of the step until which what was proved must stay so; it is looked at again with each later gate before
    that step. Empty: it is proved once."""


class Commands(msgspec.Struct, frozen=True, omit_defaults=True):
    """Commands for a person to copy. racwire never runs them."""

    where: str
    """Who, and where: `As root on rac3:`, `On each switch port named above:`."""
    lines: tuple[str, ...]
    node: str = ""
    """The node whose shell they are for; empty for a switch, or for any place."""
    note: str = ""
    """What to know before pasting them, in one sentence."""


class Step(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One step: what people do, and what racwire then looks at."""

    id: str
    """Stable, kebab-case: `agree`, `baseline`, `backups`, `console-access`, `switch`, `stack-down`, `set-mtu`,
    `survives-boot`, `prove-paths`, `first-node`, `other-nodes`, `interconnect`, `compare`, `sign-off`."""
    title: str
    """A few words for lists: `stack down`."""
    what: str
    why: str
    commands: tuple[Commands, ...] = ()
    expected: str = ""
    """What is so when the step is done."""
    gates: tuple[Gate, ...] = ()
    attest: str = ""
    """What a person must attest by name, since racwire cannot see it; empty where nothing is."""
    if_rolled_back: str = ""
    """What going back from here means: one or two sentences."""


class Layer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An interface of a node that carries a private network, or that one of those stands on."""

    node: str
    interface: str
    role: str
    """`port` (has the private address), `member` (of a bond), `parent` (of a VLAN), `bond`, `bridge port`."""
    level: int
    """How far above the hardware: members 0, their bond 1, a VLAN on it 2. MTUs are raised from the bottom to the top,
    and lowered from the top to the bottom."""
    networks: tuple[str, ...]
    """The private networks that it carries, by name."""
    mtu_before: int
    mtu_after: int
    kind: str = ""
    """The kernel's word for what it is: `ethernet`, `bond`, `vlan`, `bridge`, `infiniband`, ..."""
    keeper: str = ""
    """What brings it up at boot: a `checks.model.facts.Keeper`."""
    file: str = ""
    connection: str = ""
    kept_before: int | None = None
    """The MTU that its files set when the plan was made; None where they set none."""


class PlannedNetwork(msgspec.Struct, frozen=True, kw_only=True):
    """A private network, and what it carries before and after."""

    name: str
    subnet: str
    mtu_before: int
    mtu_after: int
    addresses: dict[str, str]
    """Each node's address on it."""


class PlannedDatabase(msgspec.Struct, frozen=True, kw_only=True):
    """A database that must be stopped, and its instances by node."""

    name: str
    instances: dict[str, str]
    block_bytes: int | None = None
    """None where no connection tells it."""


class Accepted(msgspec.Struct, frozen=True):
    """A finding in spite of which the change was opened, with the reason that somebody typed."""

    code: str
    title: str
    reason: str


class KnownWarning(msgspec.Struct, frozen=True):
    """A warning that stood before the change was begun: it is not of the change's making."""

    code: str
    subject: str
    """The few words of its finding: only what is the same to the letter is the same warning."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A whole plan."""

    schema: str = SCHEMA
    id: str
    """`2026-11-20-a`: the day and a letter; unique for a cluster."""
    cluster: str
    kind: ChangeKind
    made_at: str
    made_by: str
    """`oracle@rac1`."""
    nodes: tuple[str, ...]
    networks: tuple[PlannedNetwork, ...]
    layers: tuple[Layer, ...]
    grid_homes: dict[str, str]
    databases: tuple[PlannedDatabase, ...] = ()
    interconnects: tuple[str, ...] = ()
    """The lines of `oifcfg getif` when it was made, sorted: they must be the same afterwards."""
    boot_ids: dict[str, str] = msgspec.field(default_factory=dict)
    """Each node's boot when it was made."""
    switches: tuple[str, ...] = ()
    """Which kinds of switch carry the private networks, as far as LLDP or the operator told: `nexus-9000`."""
    remarks: tuple[str, ...] = ()
    """What the target means on this cluster: fragments of a block before and after, HAIP, limits found; a sentence
    each."""
    accepted: tuple[Accepted, ...] = ()
    known: tuple[KnownWarning, ...] = ()
    """The warnings of the checks that the plan was made from."""
    record_s: int = 600
    """How long each of the two recordings must be, in seconds."""
    baseline_file: str = ""
    """Where the recording before the change is; `after_file` where that after it is to be."""
    after_file: str = ""
    steps: tuple[Step, ...]

    @property
    def mtu_before(self) -> int:
        """The smallest MTU of the private networks before."""
        return min(network.mtu_before for network in self.networks)

    @property
    def mtu_after(self) -> int:
        """The smallest MTU of the private networks after."""
        return min(network.mtu_after for network in self.networks)

    def step(self, id: str) -> Step:  # noqa: A002
        """The step of that id. Raises KeyError."""
        for step in self.steps:
            if step.id == id:
                return step
        raise KeyError(id)

    def position(self, id: str) -> int:  # noqa: A002
        """Where the step stands, from 0; beyond the last one for an id that is none of them (`end`)."""
        return next((n for n, step in enumerate(self.steps) if step.id == id), len(self.steps))
