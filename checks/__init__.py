"""What racwire knows of an Oracle RAC interconnect; the face that an author of a check imports.

`from checks import Cluster, Kind, Remedy, Status, check` is all that a check needs; CONTRIBUTING.md shows a whole one.
"""

from checks.model.check import Check, Kind, check
from checks.model.facts import Cluster, Interface, Node, PathProbe, Port, PrivateNetwork, Unknown, UnreadNode, Verdict
from checks.model.finding import Finding, Remedy, Status, Table

__all__ = [
    "Check",
    "Cluster",
    "Finding",
    "Interface",
    "Kind",
    "Node",
    "PathProbe",
    "Port",
    "PrivateNetwork",
    "Remedy",
    "Status",
    "Table",
    "Unknown",
    "UnreadNode",
    "Verdict",
    "check",
]
