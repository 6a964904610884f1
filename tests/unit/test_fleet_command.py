"""`racwire fleet PATH…`: what it reads, what it leaves alone, its index, and its formats."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.fleet import fleet_files
from checks.fleet.fleet_index import usual_place
from checks.model.facts import Clusterware
from checks.model.report import Report, exit_code
from checks.report.causes import cause_entries, further_entries
from checks.report.json_report import to_json
from checks.report.summary import counts, headline_stands
from checks.saved import open_saved, save
from checks.saved.stored_report import stored_report
from checks.whole_files import OutputFile
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import black_hole, report_of
from tests.unit.saved_support import recording
from tui.cli.main import main

OF_0_2_0 = Path(__file__).parents[1] / "fixtures" / "saved" / "first.racwire"


@cache
def report(kind: str) -> Report:
    return report_of(black_hole(3) if kind == "hole" else cluster(3))


def put(directory: Path, name: str, kind: str = "hole", day: int = 20, cluster_name: str = "", **more: object) -> Path:
    """Save a report of a day of November 2026, with another name of its cluster."""
    made = replace(report(kind), started_at=f"2026-11-{day:02}T14:00:00+01:00", **more)
    if cluster_name:
        clusterware = made.cluster.clusterware
        assert isinstance(clusterware, Clusterware)
        own = replace(clusterware, cluster_name=cluster_name)
        made = replace(made, cluster=replace(made.cluster, clusterware=own))
    directory.mkdir(exist_ok=True)
    save(OutputFile(directory / name), made, None)
    return directory / name


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """Where the index goes."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two days of a cluster: well, then a black hole."""
    directory = tmp_path / "files"
    put(directory, "a.racwire", "well", 20)
    put(directory, "b.racwire", "hole", 21)
    return directory


def run(capsys, *args: object) -> tuple[int, str, str]:
    code = main(["fleet", *map(str, args), "--old", "never"])
    out, err = capsys.readouterr()
    return code, " ".join(out.split()), err


@pytest.mark.parametrize("kind", ["hole", "well"])
def test_what_a_file_says_is_what_opening_it_says(tmp_path, kind):
    path = put(tmp_path, "a", kind)
    stored = stored_report(path)
    with open_saved(path) as opened:
        whole = opened.report
    for view in (counts, cause_entries, headline_stands, exit_code, lambda r: further_entries(r, cause_entries(r))):
        assert repr(view(stored.report)) == repr(view(replace(whole, findings=stored.report.findings)))
    assert [(f.code, f.title, f.nodes) for f in stored.report.findings] == [
        (f.code, f.title, f.nodes) for f in whole.findings
    ]
    assert stored.report.diagnosis == whole.diagnosis
    assert stored.report.saved_at == whole.saved_at


def test_the_table_names_the_cause_and_what_changed(files, capsys):
    code, out, err = run(capsys, files)
    assert (code, err) == (2, "")
    assert out.startswith("2 files of 1 cluster, of 2026-11-20 to 2026-11-21 1 FAIL STATUS CLUSTER")
    assert "FAIL prodrac" in out
    assert "Jumbo frames vanish on 192.168.11.0/24 between rac1 and rac2, both ways" in out
    assert "Worse: 1 failure is new." in out
    assert "judged by racwire 1.2.3 then" in out


def test_one_cluster_has_its_history_and_the_command_that_opens_its_newest_file(files, capsys):
    code, out, _ = run(capsys, files, "--cluster", "prodrac")
    assert code == 2
    one, other = files / "a.racwire", files / "b.racwire"
    assert f"racwire open {other} racwire diff {one} {other}" in out.replace(" \\ ", " ")
    assert main(["fleet", str(files), "--cluster", "prodrak"]) == 64
    assert "did you mean prodrac?" in capsys.readouterr().err


def test_each_odd_file_is_one_sentence_and_the_rest_goes_on(files, tmp_path, capsys):
    whole = (files / "b.racwire").read_bytes()
    (files / "cut.racwire").write_bytes(whole[: len(whole) // 2])
    (files / "text.racwire").write_text("text")
    (files / "note.txt").write_text("text")
    (files / "other.json").write_text("{}")
    (files / ".racwire-new").write_text("half")
    (files / "copy.racwire").write_bytes(whole)
    (files / "link.racwire").symlink_to(files / "a.racwire")
    (files / "nothing.racwire").symlink_to(files / "is-not-there")
    (files / "loop").symlink_to(files)
    os.mkfifo(files / "pipe.racwire")
    recording(files / "a.rec")
    (files / "report.json").write_bytes(to_json(replace(report("well"), started_at="2026-11-19T14:00:00+01:00")))
    before = sorted(os.listdir(files))
    code, out, err = run(capsys, files)
    assert code == 2
    assert err == ""
    assert out.startswith("4 files of 1 cluster")
    assert "1 FAIL 2 not read" in out
    assert "1 file is a copy of another one." in out
    assert "1 recording has no report" in out
    assert "5 other files there are none of racwire." in out
    assert f"{files}/cut.racwire could not be read: it is damaged, or was not copied whole." in out
    assert f"{files}/text.racwire is no saved file of racwire" in out
    assert sorted(os.listdir(files)) == before


def test_a_pipe_that_is_named_is_refused_and_never_waited_for(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    code, out, _ = run(capsys, tmp_path / "pipe")
    assert code == 3
    assert "is no regular file" in out


def test_a_file_of_0_2_0_has_its_findings(capsys):
    code, out, _ = run(capsys, OF_0_2_0)
    assert code in (1, 2, 3)
    assert "file" in out


def test_nothing_there_is_said(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert run(capsys, tmp_path / "empty")[::2] == (
        3,
        f"racwire: There is no saved file in {tmp_path / 'empty'}; `racwire save FILE` writes one on a node of a "
        "cluster.\n",
    )
    assert run(capsys, tmp_path / "missing")[0] == 64


# --- the index --------------------------------------------------------------------------------------------------------


def test_a_second_run_reads_only_what_is_new(files, capsys, monkeypatch):
    first = run(capsys, files)
    read: list[str] = []
    monkeypatch.setattr(fleet_files, "stored_report", lambda path: read.append(path.name) or stored_report(path))
    assert run(capsys, files) == first
    assert read == []
    put(files, "c.racwire", "well", 22)
    os.utime(files / "a.racwire")
    run(capsys, files)
    assert sorted(read) == ["a.racwire", "c.racwire"]
    assert usual_place().stat().st_mode & 0o777 == 0o600
    read.clear()
    run(capsys, files, "--no-index")
    assert len(read) == 3


@pytest.mark.parametrize("damage", [b"text", b"SQLite format 3\0" + b"\xff" * 600, None])
def test_an_index_that_is_broken_or_of_another_version_is_made_again(files, capsys, damage):
    first = run(capsys, files)
    if damage is None:
        with closing(sqlite3.connect(usual_place())) as index:
            index.execute("UPDATE made_by SET version = '0.0.1'")
            index.execute("UPDATE files SET body = x'00'")
            index.commit()
    else:
        usual_place().write_bytes(damage)
    assert run(capsys, files) == first
    assert run(capsys, files) == first


def test_a_row_that_is_broken_is_read_again(files, capsys):
    first = run(capsys, files)
    with closing(sqlite3.connect(usual_place())) as index:
        index.execute("UPDATE files SET body = x'00'")
        index.commit()
    assert run(capsys, files) == first


def test_the_index_has_a_limit(files, capsys, monkeypatch):
    monkeypatch.setattr("checks.fleet.fleet_index.MOST_ROWS", 1)
    run(capsys, files)
    with closing(sqlite3.connect(usual_place())) as index:
        assert index.execute("SELECT count(*) FROM files").fetchone() == (1,)


def test_a_file_that_is_no_index_is_not_replaced(files, tmp_path, capsys):
    other = tmp_path / "own.txt"
    other.write_text("mine")
    code, _, err = run(capsys, files, "--index", other)
    assert code == 64
    assert "is no index of racwire" in err
    assert other.read_text() == "mine"
    assert run(capsys, files, "--index", tmp_path / "new.index")[0] == 2
    assert (tmp_path / "new.index").exists()


def test_without_a_place_for_an_index_every_file_is_read(files, tmp_path, capsys, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    code, _, err = run(capsys, files)
    assert code == 2
    assert "is not used: Not a directory. Every file is read." in err


# --- formats ----------------------------------------------------------------------------------------------------------


def test_json_and_page_have_all_and_escape_hostile_names(files, tmp_path, capsys):
    put(files, "evil.racwire", "well", 22, "<script>\x1b[31m\u202e")
    (files / os.fsdecode(b"\xff\x1b[2J.racwire")).write_text("not one")
    main(["fleet", str(files), "--format", "json"])
    out = capsys.readouterr().out
    made = json.loads(out)
    assert made["schema"] == "racwire-fleet/1"
    assert made["clusters"][0]["history"][0]["headline"].startswith("Jumbo frames vanish")
    assert "\x1b" not in out
    page = tmp_path / "fleet.html"
    assert main(["fleet", str(files), "-o", str(page), "--old", "never"]) in (0, 2)
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "src=" not in text
    main(["fleet", str(files), "--old", "never"])
    assert not {"\x1b", "\u202e"} & {*capsys.readouterr().out}
