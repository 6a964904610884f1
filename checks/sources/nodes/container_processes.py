"""Processes of this node, as against those of containers that run on it."""

from __future__ import annotations

from pathlib import Path


def is_contained(pid: int) -> bool:
    """Whether a process has a pid of its own in a namespace below this one: `NSpid` lists one for each level."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return any(len(line.split()) > 2 for line in status.splitlines() if line.startswith("NSpid:"))
