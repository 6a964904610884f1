"""Results of other tools: identified by their content, and refused with one sentence when they are something else."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.traffic.compare.run import ComparedRun, ImportProblem
from checks.traffic.imports import load, load_result
from checks.traffic.imports.load import parse_result
from checks.traffic.imports.result_text import number, without_login

RESULTS = Path(__file__).parent.parent / "fixtures" / "results"
SAMPLES = {path.name: path.read_text() for path in sorted(RESULTS.iterdir())}
KINDS = {
    "hammerdb.log": "HammerDB",
    "hammerdb_profile.log": "HammerDB",
    "iperf3_tcp.json": "iperf3",
    "iperf3_udp_stream.json": "iperf3",
    "sadf.json": "sadf",
    "swingbench.xml": "Swingbench",
}


def values(run: ComparedRun) -> dict[str, tuple[float, ...]]:
    return {m.name: m.values for m in run.measured}


def test_every_sample_file_has_its_kind() -> None:
    assert {name: load_result(RESULTS / name).kind for name in SAMPLES} == KINDS


@pytest.mark.parametrize("name", KINDS)
def test_the_name_of_a_file_does_not_decide_its_kind(name: str, tmp_path: Path) -> None:
    copy = tmp_path / "result.dat"
    copy.write_text(SAMPLES[name])
    run = load_result(copy)
    assert (run.kind, run.name) == (KINDS[name], "result.dat")


@pytest.mark.parametrize("name", KINDS)
def test_names_of_metrics_are_unique_and_have_values(name: str) -> None:
    measured = load_result(RESULTS / name).measured
    assert len({m.name for m in measured}) == len(measured)
    assert all(m.values and m.group for m in measured)


@pytest.mark.parametrize("name", KINDS)
def test_files_written_by_powershell_are_read(name: str, tmp_path: Path) -> None:
    copy = tmp_path / name
    copy.write_bytes(SAMPLES[name].replace("\n", "\r\n").encode("utf-16"))
    assert load_result(copy) == load_result(RESULTS / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "result is empty."),
        ("  \n", "result is empty."),
        ("a,b\n1,2\n", "is of no kind that can be compared: racwire's own recordings, results of racwire measure"),
        ("[1, 2]", "is of no kind"),
        ('{"a": 1}', "is of no kind"),
        ('{"a": ', "is no whole JSON text"),
        ('{"start": {', "is no whole JSON text"),
        ("Connecting to host 10.0.0.2, port 5201\n", "run iperf3 with -J"),
        ("Linux 5.15.0 (rac1) \t11/20/26 \t_x86_64_\t(8 CPU)\n", "sadf -j"),
        ("<html></html>", "is of no kind"),
        ("<a><Results>", "is no whole XML file"),
    ],
)
def test_a_file_that_is_not_a_result_is_refused_in_one_sentence(text: str, message: str) -> None:
    with pytest.raises(ImportProblem) as problem:
        parse_result(text, "result")
    assert message in str(problem.value)
    assert "\n" not in str(problem.value)


def test_unreadable_files_are_reported_with_their_reason(tmp_path: Path) -> None:
    with pytest.raises(ImportProblem, match=r"missing could not be read: No such file"):
        load_result(tmp_path / "missing")
    with pytest.raises(ImportProblem, match="is no file"):
        load_result(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ImportProblem, match="is no file"):
        load_result(tmp_path / "pipe")


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "MOST_BYTES", 100)
    with pytest.raises(ImportProblem, match="cut it to the time of the test"):
        load_result(RESULTS / "sadf.json")


def test_a_text_with_endless_nesting_is_refused() -> None:
    for text in ('{"sysstat": ' + "[" * 200_000, '{"start": ' + '{"a":' * 200_000):
        with pytest.raises(ImportProblem):
            parse_result(text, "deep")


@pytest.mark.parametrize(
    ("connect", "without"),
    [
        ("//scan:1521/prod", "//scan:1521/prod"),
        ("soe/tiger@//scan/prod", "//scan/prod"),
        ('jdbc:oracle:thin:soe/"p@ss"@scan', "scan"),
        ("(DESCRIPTION=(ADDRESS=(HOST=scan))(PASSWORD=tiger))", "(DESCRIPTION=(ADDRESS=(HOST=scan))(PASSWORD=***))"),
        ('//scan/prod?wallet_password="a b"&x=1', "//scan/prod?wallet_password=***&x=1"),
    ],
)
def test_a_connect_string_contains_no_login(connect: str, without: str) -> None:
    assert without_login(connect) == without


@pytest.mark.parametrize(
    ("value", "expected"),
    [("1,234.5", 1234.5), (3, 3.0), (True, None), ("nan", None), (float("inf"), None), (10**400, None), ([], None)],
)
def test_only_finite_numbers_are_accepted(value: object, expected: float | None) -> None:
    assert number(value) == expected


def check_broken(text: str) -> None:
    """Broken or not, the result is a run with values, or one sentence."""
    try:
        run = parse_result(text, "file")
    except ImportProblem:
        return
    assert run.measured
    assert all(m.values for m in run.measured)
    assert all(isinstance(value, float) for m in run.measured for value in m.values)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(name=st.sampled_from(sorted(SAMPLES)), at=st.floats(0, 1), length=st.integers(0, 60), junk=st.text(max_size=20))
def test_a_damaged_result_raises_only_import_errors(name: str, at: float, length: int, junk: str) -> None:
    sample = SAMPLES[name]
    place = round(at * len(sample))
    check_broken(sample[:place] + junk + sample[place + length :])


@given(name=st.sampled_from([n for n in sorted(SAMPLES) if n.endswith("json")]), data=st.data())
def test_values_of_unexpected_types_raise_only_import_errors(name: str, data: st.DataObject) -> None:
    lines = [SAMPLES[name]] if "stream" not in name else SAMPLES[name].splitlines()
    documents = [json.loads(line) for line in lines]
    place = data.draw(st.sampled_from(documents))
    for _ in range(data.draw(st.integers(1, 6))):
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            place[key] = data.draw(JSON_VALUES)
            break
        place = place[key]
    check_broken("\n".join(json.dumps(document) for document in documents))


@given(st.sampled_from(["", "<Results>", '{"sysstat":', '{"start":', "1 Oracle tpm\n", ">>>>> PROC: A\n"]), st.text())
def test_any_text_is_a_run_or_one_sentence(begin: str, text: str) -> None:
    check_broken(begin + text)
