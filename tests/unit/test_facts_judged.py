"""Each fact that is gathered is read by what judges, or a list says why not; so is each sysctl and each counter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from checks.diagnosis.diagnose import diagnose
from checks.model.facts import Cluster, NotAsked, Unknown
from checks.rules.own_footprint import without_footprint
from checks.rules.udp_against_pings import outweigh
from checks.run.check_discovery import discover
from tests.cases.loading import DIRECTORY, cases, fact_cases, load
from tests.unit.fact_extras import extras
from tests.unit.fact_reads import names, unread
from tests.unit.facts_not_judged import NOT_JUDGED

CHECKS = tuple(discover().checks)
CASES = (
    "blocks-lost-by-a-slow-cpu",
    "blocks-lost-by-two-in-the-past",
    "blocks-lost-in-receive-buffers-beside-a-route-of-the-sender",
    "blocks-lost-in-the-past",
    "bond-aggregators-differ",
    "bond-round-robin",
    "driver-without-frame-sizes",
    "filter-private-nics-in-the-zone-public",
    "healthy-further-addresses-of-private-nics",
    "healthy-logs-of-ordinary-days",
    "healthy-vlan-below-its-parent",
    "interface-no-private-network",
    "loopback-with-a-small-reserve",
    "path-one-way-and-router",
    "path-router-lets-all-pass",
    "priority-of-lms-lost",
    "shared-with-nfs",
    "storage-nfs-over-udp",
    "topology-direct-cable",
    "virtual-e1000",
)
"""Cases that together have a fact for each rule."""


def judge(cluster: Cluster) -> None:
    """Do all that decides what a run says of these facts."""
    able = [
        check for check in CHECKS if not any(isinstance(getattr(cluster, g), Unknown | NotAsked) for g in check.needs)
    ]
    found = [finding for check in able for finding in check.run(cluster)]
    diagnose(cluster, [*without_footprint(cluster, [*outweigh(cluster, found)])])


def left_unread(clusters: Iterable[Cluster]) -> list[str]:
    """Return the fields of facts that nothing reads which judges these clusters."""
    with unread() as left:
        for cluster in clusters:
            judge(cluster)
        return sorted(left)


def few() -> Iterator[Cluster]:
    yield from extras()
    yield from (load(DIRECTORY / f"{name}.toml").make.cluster() for name in CASES)


def test_each_fact_is_read_by_what_judges_or_is_listed():
    assert [name for name in left_unread(few()) if name not in NOT_JUDGED] == []


@pytest.mark.beyond_sample
def test_no_fact_is_listed_that_something_judges():
    left = left_unread([*extras(), *(case.make.cluster() for case in fact_cases())])
    assert sorted(set(NOT_JUDGED) - set(left)) == []


def test_the_list_is_sorted_and_has_facts_alone():
    assert list(NOT_JUDGED) == sorted(NOT_JUDGED)
    assert set(NOT_JUDGED) <= set(names())
    assert {case.name for case in cases()} >= set(CASES)
