"""What racwire runs with and on, for the report: who reads it elsewhere may need to know."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("racwire", "oracledb", "pyroute2", "icmplib", "psutil", "msgspec", "textual")


def versions() -> dict[str, str]:
    """The versions of racwire, of what it is built on, and of the system of the node that it runs on."""
    found = {name: _version(name) for name in _PACKAGES}
    return {**found, "python": platform.python_version(), "kernel": platform.release(), "machine": platform.machine()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
