"""Installed checks: loadable ones are found, and each other one is named with its reason."""

import importlib.metadata
import sys
import types

import pytest

from checks import Cluster, Kind, Status, check
from checks.run.check_discovery import discover

MODULE = "acme_checks"


def made(id_: str, code: str):
    kind = Kind(code, "An example")

    @check(id_, question="Is it?", needs=("nodes",), kinds=(kind,))
    def judge(cluster: Cluster):
        """An example."""
        yield kind.finding("It is.", status=Status.PASS)

    return judge


@pytest.fixture
def installed(monkeypatch):
    module = types.ModuleType(MODULE)
    module.good = made("acme-good", "ACME-A-001")
    module.same_id = made("df-ping", "ACME-B-001")
    module.same_code = made("acme-code", "ACME-A-001")
    module.no_check = "a text"
    monkeypatch.setitem(sys.modules, MODULE, module)
    names = ("good", "same_id", "same_code", "no_check", "absent")
    points = [
        importlib.metadata.EntryPoint(f"{n}-{name}", f"{MODULE}:{name}", "racwire.checks")
        for n, name in enumerate(names)
    ]
    points.append(importlib.metadata.EntryPoint("9-gone", "no_such_module_of_acme:check", "racwire.checks"))
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: points)
    return discover()


def test_a_loadable_check_is_listed_with_the_others(installed):
    assert installed.get("acme-good") is not None
    assert installed.get("df-ping").judge.__module__.startswith("checks.plugins")
    assert "ACME-A-001" in installed.kinds()


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("1-same_id", "has the id df-ping"),
        ("2-same_code", "has the code ACME-A-001"),
        ("3-no_check", "is not a check made with @check"),
        ("4-absent", "could not be imported"),
        ("9-gone", "could not be imported: ModuleNotFoundError"),
    ],
)
def test_an_unusable_check_is_named_with_its_reason(installed, name, reason):
    (broken,) = [each for each in installed.broken if each.name == name]
    assert reason in broken.reason
