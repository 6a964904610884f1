"""The account of `racwire doctor`: groups, the connection, and facts that are missing."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from checks.model.facts import (
    NotAsked,
    Unknown,
)
from checks.model.finding import Status
from checks.readiness import reading
from checks.readiness.refusals import Topic
from checks.sources.database.local_instances import LocalInstance
from checks.sources.nodes.user_rights import CONFIG_FILE, Account, OsdbaGroup, osdba_group, read_account
from tests.fixtures.clusters import cluster
from tests.unit.test_doctor import diagnosed, item, read
from tui.cli.main import build_parser


def test_the_osdba_group_is_the_one_of_the_home(tmp_path: Path) -> None:
    file = tmp_path / CONFIG_FILE
    file.parent.mkdir(parents=True)
    instance = LocalInstance("prod1", str(tmp_path), "oracle")
    file.write_text('/* SS_DBA_GRP: see the manual */\n#define SS_DBA_GRP "dba19"\n#define SS_OPER_GRP "oper"\n')
    assert osdba_group(instance) == OsdbaGroup("prod1", "dba19")
    file.write_text('#define SS_DBA_GRP ""\n')
    assert osdba_group(instance).reason == f"{file} names no OSDBA group"
    file.unlink()
    assert osdba_group(instance).reason == f"{file}: No such file or directory"
    os.mkfifo(file)
    assert osdba_group(instance).reason == f"{file} is not a regular file"
    assert osdba_group(LocalInstance("prod1")).reason == "the home of prod1 is not known"


def test_the_account_is_the_one_of_this_process() -> None:
    account = read_account([])
    assert account.is_root == (os.geteuid() == 0)
    assert account.user
    assert len(account.groups) == len(set(account.groups)) >= 1


def test_the_options_are_those_of_a_connection() -> None:
    args = build_parser(["doctor"]).parse_args(["doctor", "--lab", "--connect", "h/p", "--format", "json", "-v"])
    assert (args.format, args.verbose, args.connect) == ("json", True, "h/p")


@pytest.mark.parametrize(("group", "missing"), [("paths", "networks"), ("paths", "nodes"), ("counters", "nodes")])
async def test_a_missing_fact_is_the_reason_for_those_that_need_it(group: str, missing: str) -> None:
    reason = Unknown("rac2 did not answer.")
    gatherer = next(g for g in reading.READINESS_GATHERERS if g.group == group)
    found = await gatherer.gather(None, msgspec.structs.replace(cluster(2), **{missing: reason}))  # type: ignore[arg-type]
    assert found == reason


@pytest.mark.parametrize("group", ["activity", "history"])
async def test_without_a_database_its_figures_are_not_queried(group: str) -> None:
    reason = NotAsked("No database is named.")
    gatherer = next(g for g in reading.READINESS_GATHERERS if g.group == group)
    found = await gatherer.gather(None, msgspec.structs.replace(cluster(2), database=reason))  # type: ignore[arg-type]
    assert found == reason


async def test_a_user_who_cannot_be_read_is_unknown_with_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("the name service is broken")

    monkeypatch.setattr(reading, "read_account", fail)
    found = await reading.account()
    assert isinstance(found, Unknown)
    assert "the name service is broken" in found.reason


def test_the_user_with_sudo_and_without_osdba() -> None:
    other = Account("alice", False, ("users", "wheel"), (OsdbaGroup("prod1", "dba"), OsdbaGroup("prod2", reason="x")))
    fact = item(diagnosed(read(), account=other), Topic.USER).fact
    assert fact == (
        "alice on rac1: not root, in wheel, which sudo usually allows, not in dba, OSDBA of prod1, OSDBA of prod2 not "
        "known. Groups users and wheel."
    )
    root = item(diagnosed(read(), account=Account("root", True, ("root",))), Topic.USER).fact
    assert root == "root on rac1: root."
    silent = item(diagnosed(read(), account=Unknown("The name service hangs.")), Topic.USER)
    assert (silent.status, silent.fact) == (Status.INFO, "The name service hangs.")
