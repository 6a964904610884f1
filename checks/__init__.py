"""What racwire knows of an Oracle RAC interconnect; the face that an author of a check imports.

`from checks import Cluster, Kind, Remedy, Status, check` is all that a check needs; CONTRIBUTING.md shows a whole one.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checks.model.check import Check, Kind, check
    from checks.model.facts import (
        Cluster,
        Interface,
        Node,
        PathProbe,
        Port,
        PrivateNetwork,
        Unknown,
        UnreadNode,
        Verdict,
    )
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

_MODULES = ("checks.model.check", "checks.model.finding", "checks.model.facts")


def __getattr__(name: str) -> Any:
    """Load the model when one of its names is asked for: `racwire --help` imports modules of this package, and needs
    none of them."""
    if name in __all__:
        for module in map(import_module, _MODULES):
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
