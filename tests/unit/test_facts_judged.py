"""Each fact that is gathered is read by what judges, or a list says why not; so is each sysctl and each counter."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from checks.diagnosis.diagnose import diagnose
from checks.model.facts import Cluster, NotAsked, Unknown
from checks.rules.own_footprint import without_footprint
from checks.rules.udp_against_pings import outweigh
from checks.run.check_discovery import discover
from checks.sources.kernel_files import INTERFACE_SYSCTLS, NODE_SYSCTLS
from checks.sources.nodes import system_difference
from tests.cases.loading import DIRECTORY, cases, fact_cases, load
from tests.unit.fact_extras import extras
from tests.unit.fact_reads import names, note_names, unread
from tests.unit.facts_not_judged import COUNTERS_NOT_JUDGED, NOT_JUDGED, SYSCTLS_NOT_JUDGED

CHECKS = discover().every
CASES = (
    "blocks-lost-by-a-slow-cpu",
    "blocks-lost-by-two-in-the-past",
    "blocks-lost-in-receive-buffers-beside-a-route-of-the-sender",
    "blocks-lost-in-the-past",
    "bond-aggregators-differ",
    "bond-arp-target-silent",
    "bond-lacp-idle",
    "bond-one-port-without-lacp",
    "bond-round-robin",
    "boot-another-address",
    "driver-without-frame-sizes",
    "drops-by-a-filter",
    "drops-somewhere",
    "filter-private-nics-in-the-zone-public",
    "healthy-further-addresses-of-private-nics",
    "healthy-logs-of-ordinary-days",
    "healthy-vlan-below-its-parent",
    "interface-no-private-network",
    "loopback-with-a-small-reserve",
    "optics-for-root-alone",
    "optics-less-light-than-the-others",
    "optics-of-copper",
    "optics-too-little-light",
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


def read_of(clusters: Iterable[Cluster]) -> tuple[list[str], set[str]]:
    """Return the fields of facts that nothing reads which judges these clusters, and the names read of mappings."""
    asked: set[str] = set()
    with unread() as left:
        for cluster in clusters:
            note_names(cluster, asked)
            judge(cluster)
        return sorted(left), {_NIC.sub(r"\1*\2", name) for name in asked}


_NIC = re.compile(r"^(sysctl net\.ipv4\.conf\.)\S+(\.\w+)$")


@pytest.fixture(scope="module")
def few() -> tuple[list[str], set[str]]:
    return read_of([*extras(), *(load(DIRECTORY / f"{name}.toml").make.cluster() for name in CASES)])


def gathered_names() -> dict[str, set[str]]:
    """Return the sysctls, and the counters of NICs, CPUs, pressure and memory, that racwire asks the kernels for."""
    cpus = {*system_difference._CPU_COLUMNS, *system_difference._SOFTNET_COLUMNS}
    counters = {
        "nics": {*system_difference._NIC_COUNTERS, "qdisc_drops"}, "cpus": cpus,
        "stalls": {"some", "full"}, "memory": {*system_difference._MEMORY},
    }  # fmt: skip
    return {
        "sysctls": {*NODE_SYSCTLS, *(f"net.ipv4.conf.*.{name}" for name in INTERFACE_SYSCTLS)},
        "counters": {f"{kind} {name}" for kind, of in counters.items() for name in of},
    }


def test_each_fact_is_read_by_what_judges_or_is_listed(few):
    assert [name for name in few[0] if name not in NOT_JUDGED] == []


def test_each_sysctl_is_read_by_what_judges_or_is_listed(few):
    read = {name.removeprefix("sysctl ") for name in few[1] if name.startswith("sysctl ")}
    assert gathered_names()["sysctls"] - read == set(SYSCTLS_NOT_JUDGED)


def test_each_counter_is_read_by_what_judges_or_is_listed(few):
    assert gathered_names()["counters"] - few[1] == set(COUNTERS_NOT_JUDGED)


@pytest.mark.beyond_sample
def test_no_fact_is_listed_that_something_judges():
    left, _ = read_of([*extras(), *(case.make.cluster() for case in fact_cases())])
    assert sorted(set(NOT_JUDGED) - set(left)) == []


def test_the_lists_are_sorted_and_have_what_is_gathered_alone():
    for listed in (NOT_JUDGED, SYSCTLS_NOT_JUDGED, COUNTERS_NOT_JUDGED):
        assert list(listed) == sorted(listed)
        assert all(listed.values())
    assert set(NOT_JUDGED) <= set(names())
    assert {case.name for case in cases()} >= set(CASES)
