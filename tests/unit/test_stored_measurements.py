"""The results of `racwire measure` as files: kept, listed, shown again, and refused with a sentence."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.model.measurement import Measurement
from checks.report.measurement_headline import headline
from checks.run import stored_measurements as kept
from tests.unit import measurement_support as made
from tui.cli.main import main
from tui.cli.measure.measure_command import keep_and_say


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state/racwire/measurements"


def at(hour: int, one: Measurement | None = None) -> Measurement:
    return replace(one or made.sizes(), started_at=f"2026-11-24T{hour:02}:00:00+00:00")


def test_every_kind_is_kept_and_read_again() -> None:
    for one in made.EVERY:
        path = kept.store_result(one).path
        assert path is not None
        assert kept.read_measurement(path) == one
        assert path.stat().st_mode & 0o077 == 0
    assert [one.kind for one in kept.newest_measurements("practice")] == list(kept.KINDS)


def test_where_the_newest_does_not_belong_the_next_that_does_is_read_too() -> None:
    results = [at(hour, made.sizes(mtu)) for hour, mtu in ((1, 1500), (2, 1500), (3, 9000), (4, 9000))]
    for one in results:
        kept.store_result(one)
    assert kept.newest_measurements("practice", lambda one: one.paths[0].mtu == 1500) == (results[3], results[1])
    assert kept.newest_measurements("practice", lambda one: one.paths[0].mtu == 4000) == (results[3],)


def test_the_newest_results_of_a_kind_stay_and_files_of_people_too(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST_KEPT", 2)
    (state / "practice").mkdir(parents=True)
    own = state / "practice" / "sizes-before-the-change.json"
    own.write_bytes(kept.to_json(at(1)))
    for hour in (3, 4, 5):
        kept.store_result(at(hour))
    kept.store_result(at(1, made.mix()))
    assert sorted(path.name for path in (state / "practice").iterdir()) == [
        "mix-20261124-010000.json",
        "sizes-20261124-040000.json",
        "sizes-20261124-050000.json",
        own.name,
    ]


@pytest.mark.skipif(os.geteuid() != 0, reason="makes a file where the directory must be")
def test_a_result_that_cannot_be_kept_is_a_sentence_and_no_error(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state.parent.mkdir(parents=True)
    state.write_text("in the way")
    keep_and_say(made.sizes(), is_quiet=True)
    said = capsys.readouterr().err
    assert said.startswith("racwire: The result was not kept: ")
    assert said.count("\n") == 1


def test_the_list_has_each_result_and_says_which_cannot_be_read(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measure", "list"]) == 0
    assert f"Noresultiskeptin{state}." in "".join(capsys.readouterr().out.split())  # a long path is wrapped
    for one in (at(3), at(4, replace(made.rate(), stopped="The operator stopped it."))):
        kept.store_result(one)
    (state / "practice/mix-20261124-050000.json").write_text('{"fact": "Measurement", "format": 1')
    assert main(["measure", "list"]) == 0
    listed = capsys.readouterr().out
    assert "rate-20261124-040000" in listed
    assert "(stopped early)" in listed
    assert headline(at(3)) in listed
    assert "is damaged" in listed
    assert main(["measure", "list", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["kind"] for row in rows] == ["rate", "sizes", None]
    assert rows[1]["headline"] == headline(at(3))


def test_a_result_is_shown_by_its_kind_its_name_and_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept.store_result(at(3))
    kept.store_result(at(4, made.sizes(mtu=9000)))
    (tmp_path / "own.json").write_bytes(kept.to_json(at(2, made.mix())))
    for named, expected in (("sizes", "MTU 9000"), ("sizes-20261124-030000", "MTU 1500"), ("own.json", "mix on")):
        assert main(["measure", "show", str(tmp_path / named) if "." in named else named]) == 0
        assert expected in capsys.readouterr().out
    assert main(["compare", "sizes-20261124-030000", "sizes"]) == 0
    assert "8,192 B round trip" in capsys.readouterr().out


def test_a_result_is_drawn_and_handed_on_without_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept.store_result(at(3))
    kept.store_result(at(3, made.rate()))
    drawn, shared = tmp_path / "sizes.svg", tmp_path / "shared.json"
    assert main(["measure", "show", "sizes", "--svg", str(drawn)]) == 0
    assert drawn.read_text().startswith("<?xml")
    assert main(["measure", "show", "rate", "--svg", str(tmp_path / "rate.svg")]) == 64
    assert "its tables have all figures" in capsys.readouterr().err
    assert main(["measure", "show", "sizes", "--redact", "--format", "json", "-o", str(shared)]) == 0
    text = shared.read_text()
    assert [name for name in ("rac1", "rac2", "practice", "192.168.10.1") if f'"{name}"' in text] == []
    assert kept.read_measurement(shared).result == made.sizes().result


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (None, "is neither a file nor a kept result"),
        (b"", "is damaged"),
        (b'{"fact": "Measurement", "format": 2, "result": {"fact": "sizes"}}', "use the racwire that wrote it"),
        (b'{"fact": "Measurement", "format": 1, "result": {"fact": "magic"}}', "does not know"),
        (b'{"fact": "Report"}', "is no result of"),
        (b'{"result": ' + b"[" * 5000, "damaged|nested"),
    ],
    ids=["missing", "empty", "newer", "strange", "report", "nested"],
)
def test_a_file_that_is_no_result_is_refused_in_one_sentence(
    data: bytes | None, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "one.json"
    if data is not None:
        path.write_bytes(data)
    assert main(["measure", "show", str(path)]) == 64
    said = capsys.readouterr().err
    assert any(part in said for part in sentence.split("|")), said
    assert said.count("\n") == 1


def test_headlines() -> None:
    assert {one.kind: headline(one) for one in made.EVERY} == {
        "sizes": "8 KB 113 us p50",
        "rate": "TCP 945.0 Mb/s, 8 KB 945.0 Mb/s, 120 of 480,000 datagrams lost",
        "mix": "small 4.5 ms alone, 45 ms together",
        "hashes": "33 of 64 source ports",
        "storage": "write 200 MB/s, read 200 MB/s",
        "drill": "longest silence 1.02 s",
    }
