"""Files that racwire 0.2.0 wrote open with the same results: saved files, recordings, change journals,
settings, redaction maps, JSON reports. tests/golden/README.md explains the files and the recorded answers."""

import json
import math
import sqlite3
import tomllib
import zlib
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

import jsonschema
import msgspec
import pytest

from checks.run.settings_file import load_settings
from tests.golden.outcomes import CASES, JOURNALS, RECORDINGS, REPORTS, SAVED, comparable, copied, is_within, outcome
from tui.cli.main import main

FILES = Path(__file__).parents[1] / "golden" / "v0_2_0"
EXPECTED = {path.stem: json.loads(path.read_text()) for path in (FILES / "expected").iterdir()}
UNTIL = str(date.today() + timedelta(30))


@pytest.fixture
def racwire(tmp_path, monkeypatch, capsys):
    """Run the command in a copy of the files, without the user's settings or state; returns exit code and stdout."""
    here = tmp_path / "here"
    copied(FILES, here)
    monkeypatch.chdir(here)
    for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))
    monkeypatch.delenv("RACWIRE_SETTINGS", raising=False)

    def run(argv: list[str]) -> tuple[int, str]:
        code = main(argv)
        return int(code), capsys.readouterr().out

    return run


def document(racwire, *argv: str):
    """Run a command and return the JSON that it prints."""
    return json.loads(racwire([*argv, "--format", "json"])[1])


def report_in(file: str):
    """Return the report as 0.2.0 wrote it."""
    if file.endswith(".json"):
        return json.loads((FILES / file).read_text())
    with closing(sqlite3.connect(FILES / file)) as saved:
        parts = saved.execute("SELECT body FROM report ORDER BY rowid").fetchall()
    return json.loads(zlib.decompress(b"".join(part for (part,) in parts)))


# --- the same answers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_each_outcome_equals_that_of_the_version_that_wrote_the_files(name, racwire):
    then, now = comparable(EXPECTED[name]), comparable(outcome(CASES[name], racwire, UNTIL))
    for before, after in zip(then, now, strict=True):
        if not is_within(before, after):
            assert before == after  # pytest shows the difference


def test_each_golden_file_is_in_a_case_and_each_case_has_an_outcome():
    words = " ".join(word for case in CASES.values() for argv, _ in case for word in argv)
    files = {path.name for path in FILES.iterdir() if path.is_file()}
    assert {*REPORTS, *SAVED, *RECORDINGS, *JOURNALS} < files
    assert {name for name in files if name not in words} == {"schema.json"}
    assert EXPECTED.keys() == CASES.keys()


# --- reports as JSON --------------------------------------------------------------------------------------------------


def same_facts(then, now) -> list[str]:
    """Return the paths where `now` lacks or contradicts `then`."""
    if isinstance(then, dict) and isinstance(now, dict):
        missing = [key for key in then if key not in now]
        deeper = [f"{key}.{path}" for key in then if key in now for path in same_facts(then[key], now[key])]
        return missing + deeper
    if isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        return [f"{i}.{path}" for i, (a, b) in enumerate(zip(then, now, strict=True)) for path in same_facts(a, b)]
    # A sum of floats is more exact from Python 3.12 on.
    same = math.isclose(then, now, rel_tol=1e-12) if isinstance(then, float) and isinstance(now, float) else then == now
    return [] if same else [f"{then!r} is {now!r}"]


@pytest.mark.parametrize("file", [*REPORTS, *SAVED])
def test_a_report_keeps_its_fields_and_all_facts(file, racwire):
    then, now = report_in(file), document(racwire, "check", "-q", "--from", file)
    made_again = ("findings", "waivers", "saved_at", "schema", "diagnosis")
    assert same_facts({k: v for k, v in then.items() if k not in made_again}, now) == []
    assert set(then) <= set(now)
    assert {key for finding in then["findings"] for key in finding} <= {key for f in now["findings"] for key in f}


@pytest.mark.parametrize("file", [*REPORTS, *SAVED])
def test_a_report_is_valid_under_its_named_schema(file, racwire):
    published, then = json.loads(racwire(["schema"])[1]), report_in(file)
    assert then["schema"] == "racwire-report/1"
    if published["$id"] == then["schema"]:
        jsonschema.Draft202012Validator(published).validate(then)


# --- settings and pseudonyms ------------------------------------------------------------------------------------------


def test_every_setting_of_an_old_file_is_accepted(racwire):
    then = tomllib.loads((FILES / "settings.toml").read_text())
    template = tomllib.loads((FILES / "template.toml").read_text())
    assert {section: set(then[section]) for section in template} == {s: set(template[s]) for s in template}
    now = msgspec.to_builtins(load_settings("settings.toml"))
    assert same_facts(json.loads(json.dumps(then, default=str)), json.loads(json.dumps(now))) == []


def test_every_default_setting_keeps_its_value(racwire):
    then, (_, now) = tomllib.loads((FILES / "template.toml").read_text()), racwire(["settings"])
    assert is_within(then, tomllib.loads(now))


def test_an_old_template_is_still_read():
    assert load_settings(FILES / "template.toml").console.graphs == "auto"


@pytest.mark.parametrize("file", ["faults.racwire", "switch-mtu.json"])
def test_an_old_map_gives_the_same_pseudonyms(file, racwire):
    then = json.loads(Path("redaction.json").read_text())
    report = document(racwire, "check", "-q", "--from", file, "--redact", "--redaction-map", "redaction.json")
    hosts = then["names"]["host"]
    assert [node["name"] for node in report["cluster"]["nodes"]] == [
        hosts[node["name"]] for node in report_in(file)["cluster"]["nodes"]
    ]
    assert {then["networks"].get(network["name"]) for network in report_in(file)["cluster"]["networks"]} == {
        network["name"] for network in report["cluster"]["networks"]
    }
    del then["about"]  # a sentence for the reader
    assert is_within(then, json.loads(Path("redaction.json").read_text()))


# --- a change that is under way ---------------------------------------------------------------------------------------


def test_a_change_can_be_resumed_after_each_of_its_events(racwire):
    whole = (FILES / "outage.change").read_bytes().splitlines(keepends=True)
    steps = [step["id"] for step in document(racwire, "change", "status", "--file", "outage.change")["steps"]]
    reached = []
    for moment in range(1, len(whole) + 1):
        Path("then.change").write_bytes(b"".join(whole[:moment]))
        reached.append(steps.index(document(racwire, "change", "status", "--file", "then.change")["current"]))
    assert reached == sorted(reached)
    assert (reached[0], steps[reached[-1]]) == (0, "survives-boot")

    Path("then.change").write_bytes(whole[0])
    attested = racwire(["change", "attest", "--by", "Ann Lee", "--note", "Bob Ray", "--file", "then.change"])
    assert attested[0] == 0
    assert document(racwire, "change", "status", "--file", "then.change")["current"] == steps[1]
    assert Path("then.change").read_bytes().startswith(whole[0])
