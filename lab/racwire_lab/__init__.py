"""The practice cluster: a real network of namespaces that looks like a RAC cluster, to try racwire on and to break.

    lab = up(nodes=2)
    subprocess.run(lab.enter("rac1", ["ping", "-c1", "192.168.10.2"]))
    lab = lab.break_("switch-mtu", node="rac2", network=2)
    lab = lab.mend()
    down()

All processes run in namespaces of their own. One process holds these namespaces: when it ends, the whole cluster ends.
The nodes and their networks need the standard library only. The database also needs duckdb, sqlglot, cryptography and
msgspec.
"""

from racwire_lab.cluster.cluster import Lab
from racwire_lab.cluster.database_kinds import DEFAULT_KIND, KINDS
from racwire_lab.cluster.fault_kind import ActiveFault, Fault
from racwire_lab.cluster.faults import FAULTS
from racwire_lab.cluster.lifecycle import down, find, up
from racwire_lab.cluster.load import checked_load
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
    "checked_load",
    "down",
    "find",
    "up",
]
