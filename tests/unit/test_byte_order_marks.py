"""Files that a shell or an editor of Windows has saved again: with a byte order mark, or as UTF-16."""

import codecs
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from checks.change.session.vendors_file import VendorsFileError, load_kinds
from checks.model import vendors
from checks.redact import open_mapping
from checks.run.settings_file import SettingsError, load_settings
from checks.run.stored_measurements import read_measurement, to_json
from checks.saved.reader import kind_of
from checks.traffic.imports import load_result
from tests.unit.measurement_support import EVERY
from tests.unit.saved_support import report_in
from tui.cli.main import main

GOLDEN = Path(__file__).parents[1] / "golden/v0_2_0"
RESULTS = Path(__file__).parents[1] / "fixtures/results"
FORMS: dict[str, Callable[[bytes], bytes]] = {
    "mark": lambda data: codecs.BOM_UTF8 + data,
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "utf-16-be": lambda data: codecs.BOM_UTF16_BE + data.decode().encode("utf-16-be"),
}


@pytest.fixture(params=FORMS)
def again(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[bytes, str], Path]:
    """Return a function that writes a copy as such a program saves it."""

    def save(data: bytes, name: str) -> Path:
        copy = tmp_path / name
        copy.write_bytes(FORMS[request.param](data))
        return copy

    return save


def test_a_report_is_opened_and_compared(again: Callable[[bytes, str], Path], capsys: pytest.CaptureFixture) -> None:
    original = GOLDEN / "switch-mtu.json"
    copy = again(original.read_bytes(), "report.json")
    assert kind_of(copy) == "report"
    assert report_in(copy) == report_in(original)
    assert main(["diff", str(original), str(copy)]) == 0, capsys.readouterr()


def test_a_measurement_is_read(again: Callable[[bytes, str], Path]) -> None:
    assert read_measurement(again(to_json(EVERY[0]), "one.json")) == EVERY[0]


def test_a_result_of_another_tool_is_read(again: Callable[[bytes, str], Path]) -> None:
    original = RESULTS / "iperf3_tcp.json"
    copy = again(original.read_bytes(), original.name)
    assert load_result(copy) == load_result(original)


def test_a_mapping_gives_the_same_pseudonyms(again: Callable[[bytes, str], Path]) -> None:
    original = GOLDEN / "redaction.json"
    with open_mapping(again(original.read_bytes(), "map.json")) as pseudonyms:
        assert pseudonyms.mapping().names == json.loads(original.read_bytes())["names"]


SETTINGS = b'[cluster]\npeers = ["rac2"]\n'
KINDS = (Path(vendors.__file__).with_suffix(".toml")).read_bytes()


def test_settings_with_a_mark_are_read_and_others_get_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_bytes(FORMS["mark"](SETTINGS))
    assert load_settings(str(file)).cluster.peers == ("rac2",)
    file.write_bytes(FORMS["mark"](KINDS))
    assert load_kinds(str(file)) == load_kinds()
    for form in ("utf-16", "utf-16-be"):
        file.write_bytes(FORMS[form](SETTINGS))
        with pytest.raises(SettingsError, match="could not be read: it is not UTF-8 text"):
            load_settings(str(file))
        with pytest.raises(VendorsFileError, match="could not be read: it is not UTF-8 text"):
            load_kinds(str(file))
