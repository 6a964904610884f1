"""What a recording that begins now is of."""

from __future__ import annotations

import os

import msgspec

from checks.model.facts import Cluster, Unknown
from checks.model.journal import now
from checks.model.settings import Settings
from checks.run.engine import racwire_version
from checks.traffic.recording import Header

_NOT_YET = Unknown("The recording ended before this was found out.")


def header_now(cluster: Cluster, settings: Settings, *, interval_s: float, label: str = "") -> Header:
    """The header of a recording that begins now, with `interval_s` seconds between two samples."""
    return Header(
        racwire_version=racwire_version(),
        started_at=now(),
        label=label,
        interval_s=interval_s,
        cluster=cluster,
        settings=msgspec.to_builtins(settings),
    )


def still_unknown(settings: Settings) -> Cluster:
    """What is known of the cluster while it is still being looked for: this node."""
    return Cluster(
        local_node=os.uname().nodename.split(".")[0],
        taken_at=now(),
        clusterware=_NOT_YET,
        nodes=_NOT_YET,
        networks=_NOT_YET,
        database=_NOT_YET,
        named_networks=settings.cluster.networks,
    )
