"""Distinguish processes of this node from processes of containers on this node."""

from __future__ import annotations

from pathlib import Path


def is_contained(pid: int) -> bool:
    """Whether a process is in a lower PID namespace: its `NSpid` lists one PID for each level."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return any(len(line.split()) > 2 for line in status.splitlines() if line.startswith("NSpid:"))
