"""The checks of an Oracle RAC interconnect, and the public names that the author of a check imports.

A check needs only `from checks import Cluster, NextStep, PassKind, WarnKind, check`; CONTRIBUTING.md has a complete
example.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from checks.model.check import Check, FailKind, InfoKind, Kind, PassKind, SkippedKind, UnknownKind, WarnKind, check
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
    from checks.model.finding import Finding, NextStep, Status, Table
    from checks.model.shell_command import shell

__all__ = [
    "Check",
    "Cluster",
    "FailKind",
    "Finding",
    "InfoKind",
    "Interface",
    "Kind",
    "NextStep",
    "Node",
    "PassKind",
    "PathProbe",
    "Port",
    "PrivateNetwork",
    "SkippedKind",
    "Status",
    "Table",
    "Unknown",
    "UnknownKind",
    "UnreadNode",
    "Verdict",
    "WarnKind",
    "check",
    "shell",
]

_MODULES = ("checks.model.check", "checks.model.finding", "checks.model.facts", "checks.model.shell_command")


def __getattr__(name: str) -> Any:
    """Load the model at the first use of one of its names: `racwire --help` imports this package without the model.

    Raises AttributeError for an unknown name.
    """
    if name in __all__:
        for module in map(import_module, _MODULES):
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
