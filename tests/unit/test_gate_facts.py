"""The evidence that the gates of a change need: recordings, backups and journals on the nodes, name resolution."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from checks.change.gates.backup_gates import backup_paths
from checks.change.record.change_journal import ChangeJournal
from checks.change.session.gate_facts import gate_facts_gatherer
from checks.model.facts import Changing, Cluster, NoRecording, Unknown
from checks.model.journal import Journal
from checks.model.settings import Settings
from checks.sources.nodes.shell import Shell, ShellError
from tests.fixtures.clusters import cluster
from tests.unit.change_journals import OBSERVED, WHO
from tests.unit.change_support import plan


class Nodes:
    """A session on three nodes that are all this one; rac3 refuses ssh."""

    local_node = "rac1"
    settings = Settings()

    def __init__(self) -> None:
        self.journal = Journal()
        self.progress_reports: list[tuple[str, int, int]] = []
        self._shells: list[Shell] = []

    async def shell(self, node: str) -> Shell:
        if node == "rac3":
            raise ShellError("ssh was refused.")
        self._shells.append(await Shell.open_local(node))
        return self._shells[-1]

    def progress(self, group: str, text: str, done: int, total: int) -> None:
        self.progress_reports.append((text, done, total))

    async def close(self) -> None:
        for shell in self._shells:
            await shell.close()


def gathered(tmp_path: Path, *checks: str) -> tuple[Changing, Nodes]:
    """Return the results of a verification of these gates, with the recordings in the directory."""

    async def gather() -> tuple[Changing, Nodes]:
        nodes = Nodes()
        of = msgspec.structs.replace(
            plan(), baseline_file=str(tmp_path / "before.rec"), after_file=str(tmp_path / "after.rec")
        )
        built: Cluster = cluster(3)
        try:
            return await gate_facts_gatherer(of, checks, tmp_path).gather(nodes, built), nodes  # type: ignore[arg-type]
        finally:
            await nodes.close()

    return asyncio.run(gather())


def test_every_verification_requests_journals_of_peers_and_reports_refusals(tmp_path: Path) -> None:
    ChangeJournal.open_new(tmp_path, plan(), OBSERVED, who=WHO, version="1.2.3")
    found, nodes = gathered(tmp_path)
    assert list(found.copies) == ["rac2"]
    assert [(copy.node, Path(copy.path).parent) for copy in found.copies["rac2"]] == [("rac2", tmp_path)]
    assert list(found.unasked) == ["rac3"]
    assert "ssh was refused" in found.unasked["rac3"].reason
    assert sorted(done for _, done, _ in nodes.progress_reports) == [1, 2]
    assert {total for _, _, total in nodes.progress_reports} == {2}
    assert (found.backups, found.registries, found.addresses) == ({}, {}, {})
    assert all(isinstance(part, Unknown) for part in (found.before, found.after, found.compared))


def test_backups_are_searched_on_every_node(tmp_path: Path) -> None:
    found, nodes = gathered(tmp_path, "backups-made")
    assert sorted(found.backups) == sorted(found.registries) == ["rac1", "rac2"]
    for files in found.backups.values():
        assert list(files) == list(backup_paths("2026-11-20-a"))
        assert all(isinstance(seen, Unknown) for seen in files.values())
    assert {total for _, _, total in nodes.progress_reports} == {3}


def test_missing_recordings_are_reported(tmp_path: Path) -> None:
    found, _ = gathered(tmp_path, "baseline-recording", "after-recording", "comparison")
    assert isinstance(found.before, NoRecording)
    assert found.before.path == str(tmp_path / "before.rec")
    assert isinstance(found.after, NoRecording)
    assert isinstance(found.compared, NoRecording)


def test_names_are_resolved_and_unknown_names_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def resolve(name: str, port: None) -> list[tuple[object, ...]]:
        if name == "rac3":
            raise OSError("Name or service not known")
        return [(2, 1, 6, "", (f"10.20.0.{name[-1]}", 0)), (2, 2, 17, "", (f"10.20.0.{name[-1]}", 0))]

    monkeypatch.setattr("checks.change.session.gate_facts.socket", SimpleNamespace(getaddrinfo=resolve))
    found, _ = gathered(tmp_path, "ssh-apart")
    assert found.addresses == {"rac1": ("10.20.0.1",), "rac2": ("10.20.0.2",)}
