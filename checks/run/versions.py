"""The versions of the packages and of the system that racwire runs with, for the report."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("racwire", "oracledb", "pyroute2", "icmplib", "psutil", "msgspec", "textual")


def versions() -> dict[str, str]:
    """Return the versions of racwire, of its packages, of Python and of the kernel of this node."""
    found = {name: _version(name) for name in _PACKAGES}
    return {**found, "python": platform.python_version(), "kernel": platform.release(), "machine": platform.machine()}


@cache  # reading the metadata of seven packages takes 6 ms, and each report names them
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
