"""A saved file with a name that no kernel allows, an address that is none, or a strange command: that fact is Unknown,
with its place as the reason, and the rest of the file is as it was."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
import pytest

from checks.model import facts
from checks.model.facts import Cluster, Unknown, UnreadNode
from checks.model.finding import Status
from checks.model.impossible_values import judged_fields, without_impossible
from checks.model.report import Report
from checks.model.settings import Settings
from checks.redact import Identity, Pseudonyms, Redactor
from checks.redact.fields import Treatment, treatment_of
from checks.report.json_report import to_json
from checks.run.check_discovery import discover
from checks.run.replay import ReplayedFacts
from checks.saved.reader import report_in
from checks.saved.saved_replay import Replay
from tests.cases.loading import DIRECTORY, fact_cases, load
from tests.fixtures.reports import report_of
from tests.support.text_fields import TextField, text_fields

HOSTILE = "eth1; reboot"
WITHOUT_RULE = {
    "Node.sysctls": "its keys are settings",
}
NEEDS_A_RULE = ("interface", "ip", "mac", "gateway", "subnet", "addresses", "commands")


@cache
def document() -> dict[str, Any]:
    """The report of a cluster as a file has it, with LLDP neighbours, a bond, storage, routes and HAIP."""
    built = load(DIRECTORY / "bond-arp-target-silent.toml").make.cluster()
    read: dict[str, Any] = json.loads(to_json(report_of(msgspec.structs.replace(built, haip_paths=facts.HaipPaths()))))
    return read


def opened(changed: dict[str, Any]) -> Report:
    return report_in(json.dumps(changed).encode(), "x.racwire")


def at(place: Any, way: str) -> tuple[Any, Any]:
    """Return what holds the value of that way, `nodes.0.name`, and its key there."""
    *before, last = (int(step) if step.isdigit() else step for step in way.split("."))
    for step in before:
        place = place[step]
    return place, last


def with_value(way: str, value: object) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(document()))
    place, last = at(changed["cluster"], way)
    place[last] = value
    return changed


def unknowns(value: Any, way: str = "") -> Iterator[str]:
    """Yield the way to each fact that is Unknown, with the reason."""
    if isinstance(value, Unknown | UnreadNode):
        yield f"{way}: {value.reason}"
    elif isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            yield from unknowns(getattr(value, field), f"{way}.{field}".lstrip("."))
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from unknowns(each, f"{way}.{key}")
    elif isinstance(value, tuple):
        for number, each in enumerate(value):
            yield from unknowns(each, f"{way}.{number}")


@pytest.mark.parametrize(
    ("way", "value", "unknown", "what"),
    [
        ("nodes.0.interfaces.0.name", HOSTILE, "nodes.0", "`eth1; reboot` is no name of an interface"),
        ("nodes.1.interfaces.1.name", "", "nodes.1", "`` is no name of an interface"),
        ("nodes.0.interfaces.1.addresses.0.ip", "192.168.10.1;reboot", "nodes.0", "is no IP address"),
        ("nodes.0.routes.0.destination", "default; reboot", "nodes.0", "is no subnet"),
        ("networks.0.ports.0.interface", "a/b", "networks", "`a/b` is no name of an interface"),
        ("networks.0.subnet", "$(reboot)", "networks", "is no subnet"),
        ("paths.0.destination_ip", "fe80::1%x;y z", "paths", "is no IP address"),
        ("setups.0.host.bonds.0.name", "sixteen-letters-", "setups.0.host.bonds", "no name of an interface"),
        ("setups.0.host.bonds.0.arp_targets", ["10.0.0.1\nreboot"], "setups.0.host.bonds", "`10.0.0.1\\x0areboot` is"),
        ("setups.1.host.drivers_in_use", {"..": "ixgbe"}, "setups.1.host", "`..` is no name of an interface"),
        ("setups.0.kept", {"fact": "Unknown", "reason": "x", "right": {"needed": "y", "commands": ["reboot"]}},
         "setups.0.kept", "`reboot` is no command"),
        ("activity", {"fact": "NotAsked", "reason": "x", "commands": ["racwire check\nreboot"]}, "activity",
         "`racwire check\\x0areboot` is no command"),
    ],
)  # fmt: skip
def test_the_smallest_fact_around_an_impossible_value_is_unknown(way, value, unknown, what) -> None:
    before = opened(document())
    after = opened(with_value(way, value))
    (new,) = set(unknowns(after.cluster)) - set(unknowns(before.cluster))
    place, _, reason = new.partition(": ")
    assert place == unknown
    assert what in reason
    assert "\n" not in reason
    assert after.findings == before.findings


@pytest.mark.parametrize(
    ("way", "value"),
    [
        ("nodes.0.interfaces.0.name", "x;reboot;"),
        ("nodes.0.interfaces.0.name", "$(reboot)"),
        ("nodes.0.interfaces.0.name", "fifteen-letters"),
        ("nodes.0.interfaces.0.name", "...|&`'\"<"),
        ("nodes.0.interfaces.0.name", "\\udce4\\udcf6\\udcfc eth".replace(" ", "-")),
        ("nodes.0.interfaces.0.mac_address", "80:00:02:08:fe:80:00:00:00:00:00:00:f4:52:14:03:00:7b:cb:a1"),
        ("nodes.0.interfaces.0.addresses", [{"fact": "Address", "ip": "fe80::1%eth1", "prefix_length": 64}]),
        ("networks.0.interface", "eth*"),
    ],
)
def test_what_a_kernel_allows_stays(way: str, value: object) -> None:
    changed = with_value(way, value)
    place, last = at(json.loads(to_json(opened(changed)))["cluster"], way)
    assert place[last] == value


def test_no_cluster_of_the_case_book_has_an_impossible_value() -> None:
    for built in (case.make.cluster() for case in fact_cases()[::30]):
        # The probed paths of the cases have names instead of the addresses of HAIP.
        cluster = msgspec.structs.replace(built, haip_paths=facts.HaipPaths())
        assert without_impossible(cluster) is cluster


def test_a_check_of_an_impossible_fact_is_unknown_and_redaction_still_works() -> None:
    report = opened(with_value("networks.0.ports.0.ip", HOSTILE))
    engine = ReplayedFacts(report.cluster, discover().checks, Settings())
    judged = asyncio.run(engine.run())
    assert {f.status for f in judged.findings if f.check in ("df-ping", "interfaces")} >= {Status.UNKNOWN}
    assert [f.code for f in judged.findings if f.code == "RW-ENGINE-002"] == []
    redactor = Redactor(Pseudonyms(), Identity())
    redactor.learn(judged)
    again = opened(json.loads(to_json(redactor.report(judged))))
    assert set(unknowns(again.cluster)) == set(unknowns(redactor.report(judged).cluster))


def test_each_field_with_an_interface_or_an_address_has_a_rule() -> None:
    ruled = {f"{kind.__name__}.{name}" for kind in kinds() for name, _, rule, _ in judged_fields(kind) if rule}
    fields = [str(one) for one in text_fields(Cluster) if _is_about_an_interface_or_an_address(one)]
    assert len(fields) > 60
    assert [one for one in fields if one not in ruled and one not in WITHOUT_RULE] == []


def kinds() -> set[type[msgspec.Struct]]:
    return {one.kind for one in text_fields(Cluster)}


def _is_about_an_interface_or_an_address(field: TextField) -> bool:
    named = any(part in NEEDS_A_RULE for part in field.name.split("_"))
    return named or treatment_of(field.kind, field.name) is Treatment.INTERFACE


def test_a_replay_judges_no_finding_by_an_impossible_fact_that_the_run_had() -> None:
    report = opened(with_value("networks.0.ports.0.ip", HOSTILE))
    before = {f.status for f in report.findings if f.check == "df-ping"}
    replay = Replay(report, discover())
    after = [f for f in asyncio.run(replay.run()).findings if f.check == "df-ping"]
    assert Status.UNKNOWN not in before
    assert [(f.status, f.code) for f in after] == [(Status.UNKNOWN, "RW-ENGINE-001")]
    assert "`eth1; reboot` is no IP address (in the file at networks.ports.ip)" in after[0].title
