"""What to do about an instance that uses another interconnect than it should: look first, then change."""

from __future__ import annotations

from checks.model.finding import Remedy


def look() -> Remedy:
    """What comes first."""
    return Remedy(
        "See what is configured, and what the instance said when it started.",
        ("oifcfg getif", "grep -A3 'Cluster communication is configured' alert_*.log"),
        "the Grid owner",
    )


def unset() -> Remedy:
    """Where the parameter cluster_interconnects is set."""
    return Remedy(
        "Take the parameter away and restart the instances one after the other, in a window.",
        ("ALTER SYSTEM RESET cluster_interconnects SCOPE=SPFILE SID='*'",),
        "a DBA",
        is_change=True,
    )


def reconfigure() -> Remedy:
    """Where Clusterware has the wrong networks."""
    return Remedy(
        "Have oifcfg name the right networks; the instances take it up when Clusterware is restarted on all nodes, in "
        "a window.",
        where="the Grid owner",
        is_change=True,
    )
