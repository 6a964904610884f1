"""The practice cluster: a real network of namespaces that looks like a RAC cluster, to try racwire on and to break.

    lab = up(nodes=2)
    subprocess.run(lab.enter("rac1", ["ping", "-c1", "192.168.10.2"]))
    lab = lab.break_("switch-mtu", node="rac2", network=2)
    lab = lab.mend()
    down()

All processes run in namespaces of their own. One process holds these namespaces: when it ends, the whole cluster ends.
The nodes and their networks need the standard library only. The database also needs duckdb, sqlglot, cryptography and
msgspec.

Each name loads its module at first use: `racwire --lab` enters a node with few of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from racwire_lab.cluster.cluster import Lab
    from racwire_lab.cluster.database_kinds import DEFAULT_KIND, KINDS
    from racwire_lab.cluster.fault_kind import ActiveFault, Fault
    from racwire_lab.cluster.faults import FAULTS
    from racwire_lab.cluster.lifecycle import down, find, up
    from racwire_lab.cluster.profiles import DEFAULT_PROFILE, PROFILES
    from racwire_lab.cluster.topology import DATABASE, DATABASE_VERSIONS, LLDP, MIXED, NETWORK_SERVICES, SWITCH_MTU
    from racwire_lab.lab_errors import LabError, LabUsageError

__all__ = [
    "DATABASE",
    "DATABASE_VERSIONS",
    "DEFAULT_KIND",
    "DEFAULT_PROFILE",
    "FAULTS",
    "KINDS",
    "LLDP",
    "MIXED",
    "NETWORK_SERVICES",
    "PROFILES",
    "SWITCH_MTU",
    "ActiveFault",
    "Fault",
    "Lab",
    "LabError",
    "LabUsageError",
    "down",
    "find",
    "up",
]

_MODULES = {
    "racwire_lab.cluster.cluster": ("Lab",),
    "racwire_lab.cluster.database_kinds": (
        "DEFAULT_KIND",
        "KINDS",
    ),
    "racwire_lab.cluster.fault_kind": (
        "ActiveFault",
        "Fault",
    ),
    "racwire_lab.cluster.faults": ("FAULTS",),
    "racwire_lab.cluster.lifecycle": (
        "down",
        "find",
        "up",
    ),
    "racwire_lab.cluster.profiles": (
        "DEFAULT_PROFILE",
        "PROFILES",
    ),
    "racwire_lab.cluster.topology": (
        "DATABASE",
        "DATABASE_VERSIONS",
        "LLDP",
        "MIXED",
        "NETWORK_SERVICES",
        "SWITCH_MTU",
    ),
    "racwire_lab.lab_errors": (
        "LabError",
        "LabUsageError",
    ),
}


def __getattr__(name: str) -> object:
    """Return a public name. Raises AttributeError where there is no such name."""
    for module, names in _MODULES.items():
        if name in names:
            found: object = getattr(import_module(module), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
