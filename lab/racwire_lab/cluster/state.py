"""The saved state of the practice cluster: one JSON file, always complete."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from racwire_lab.cluster.processes import Process

if TYPE_CHECKING:
    from racwire_lab.cluster.fault_kind import ActiveFault
    from racwire_lab.cluster.hands import Hand
    from racwire_lab.cluster.profiles import ClusterProfile
    from racwire_lab.cluster.topology import PortId, Shape

RemoteShell = Literal["ssh", "direct"]
_FILE = "state.json"
_VERSION = 3


@dataclass(frozen=True)
class State:
    """A running cluster: its processes and its faults."""

    shape: Shape
    boot: str
    rootless: bool
    remote_shell: RemoteShell
    remote_shell_reason: str
    init: Process
    nodes: dict[str, Process]
    routers: dict[PortId, Process]
    faults: tuple[ActiveFault, ...]
    port_mtus: dict[PortId, int] = field(default_factory=dict)
    """The changed MTUs of switch ports, in bytes; the other ports have their initial MTU."""
    blocks_per_s: int | None = None
    """The wanted load of all instances together; None for their usual load."""
    prioritised_packets: int = 0
    """How many packets of each flow leave the private switch ports first."""
    no_users_reason: str = ""
    """Why the nodes lack the users of the profile; empty when they have them, or the profile has none."""
    hands: tuple[Hand, ...] = ()
    """What people did at the switch, oldest first."""
    hypervisors: dict[str, Process] = field(default_factory=dict)
    """The holders of the bridges before the nodes that are behind a hypervisor."""

    @property
    def profile(self) -> ClusterProfile:
        """The profile of the cluster, without the users that the nodes lack."""
        from racwire_lab.cluster.profiles import profile_named

        profile = profile_named(self.shape.like)
        return replace(profile, accounts=()) if self.no_users_reason else profile

    def alive(self) -> bool:
        """Whether the first process of the cluster still runs; it ends last."""
        return self.boot == boot_id() and self.init.alive()


def boot_id() -> str:
    """Return the id of this boot of the machine: pids and start times are valid in one boot only."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def save(directory: Path, state: State) -> None:
    """Replace the saved state in one step."""
    document = {"version": _VERSION, **asdict(state)}
    document["routers"] = [{"port": port, "process": asdict(process)} for port, process in state.routers.items()]
    document["port_mtus"] = [{"port": port, "mtu": mtu} for port, mtu in state.port_mtus.items()]
    new_path = directory / f"{_FILE}.new"
    new_path.write_text(json.dumps(document, indent=1), encoding="utf-8")
    os.replace(new_path, directory / _FILE)


def load(directory: Path) -> State | None:
    """Return the saved state; None when there is none, or when this version of racwire cannot read it."""
    try:
        document = _document(directory)
        return _decode(document) if document["version"] == _VERSION else None
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
        return None


def first_node(directory: Path) -> tuple[str, Process, RemoteShell] | None:
    """Return the first node of the running cluster, the process that holds it, and the remote shell of the nodes; None
    where no cluster runs. It loads none of the modules that the whole state needs."""
    try:
        document = _document(directory)
        init = Process(**document["init"])
        if document["version"] != _VERSION or document["boot"] != boot_id() or not init.alive():
            return None
        node, holder = next(iter(document["nodes"].items()))
        return node, Process(**holder), document["remote_shell"]
    except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError, StopIteration):
        return None


def _document(directory: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((directory / _FILE).read_text(encoding="utf-8"))
    return document


def _decode(document: dict[str, Any]) -> State:
    # The first node is entered without these modules, which take longer to load than all else that it needs.
    from racwire_lab.cluster.fault_kind import ActiveFault
    from racwire_lab.cluster.hands import Hand
    from racwire_lab.cluster.topology import PortId, Shape

    return State(
        shape=Shape(**{**document["shape"], "hypervisor": tuple(document["shape"].get("hypervisor", ()))}),
        boot=document["boot"],
        rootless=document["rootless"],
        remote_shell=document["remote_shell"],
        remote_shell_reason=document["remote_shell_reason"],
        init=Process(**document["init"]),
        nodes={name: Process(**process) for name, process in document["nodes"].items()},
        routers={PortId(*entry["port"]): Process(**entry["process"]) for entry in document["routers"]},
        faults=tuple(ActiveFault(**fault) for fault in document["faults"]),
        port_mtus={PortId(*entry["port"]): entry["mtu"] for entry in document["port_mtus"]},
        blocks_per_s=document.get("blocks_per_s"),
        prioritised_packets=document.get("prioritised_packets", 0),
        hands=tuple(Hand(**{**hand, "nodes": tuple(hand["nodes"])}) for hand in document.get("hands", ())),
        no_users_reason=document.get("no_users_reason", ""),
        hypervisors={name: Process(**process) for name, process in document.get("hypervisors", {}).items()},
    )
