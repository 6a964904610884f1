"""The header of a new recording."""

from __future__ import annotations

import os

import msgspec

from checks.model.facts import Cluster, Unknown
from checks.model.journal import now
from checks.model.settings import Settings
from checks.run.engine import racwire_version
from checks.traffic.recording import Header

_NOT_YET = Unknown("The recording ended before racwire had gathered this.")


def header_now(cluster: Cluster, settings: Settings, *, interval_s: float, label: str = "") -> Header:
    """Return the header of a recording that starts now, with `interval_s` seconds between two samples."""
    return Header(
        racwire_version=racwire_version(),
        started_at=now(),
        label=label,
        interval_s=interval_s,
        cluster=cluster,
        settings=msgspec.to_builtins(settings),
    )


def still_unknown(settings: Settings) -> Cluster:
    """Return the cluster as known before it is gathered: only the name of this node."""
    return Cluster(
        local_node=os.uname().nodename.split(".")[0],
        taken_at=now(),
        clusterware=_NOT_YET,
        nodes=_NOT_YET,
        networks=_NOT_YET,
        database=_NOT_YET,
        named_networks=settings.cluster.networks,
    )
