"""A change whose cluster is looked at again and again, for tests of reopened steps."""

import msgspec

from checks.change.progress.standing_alarms import standing_alarms
from checks.change.progress.state import Change
from checks.model.facts import Changing, Cluster
from tests.unit.change_support import after, cluster, verification_events


def alone(now: Cluster) -> Cluster:
    """Return the cluster without journals on other nodes."""
    return msgspec.structs.replace(now, changing=Changing())


UP = alone(cluster(9000, boot_mtu=9000))


def looked(of: Change, now: Cluster) -> Change:
    return after(of, *verification_events(of, alone(now)))


def dangers(of: Change) -> list[str]:
    return [alarm.sentence for alarm in standing_alarms(of) if alarm.dangerous]
