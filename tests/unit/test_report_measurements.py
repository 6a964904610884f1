"""The results of measurements in reports: what each format says of them, and what it leaves out."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree.ElementTree import fromstring

import msgspec
import pytest
from msgspec.structs import replace

from checks.model.facts import UnreadNode
from checks.model.measurement import MeasuredMix, MeasuredSizes, Measurement
from checks.model.report import Report
from checks.model.sound_measurement import is_sound
from checks.report.diff import diff
from checks.report.json_report import from_json
from checks.report.measured.drawings import drawings_of, picture_file
from checks.report.measurement_headline import brief, headline
from checks.report.report_evidence import Evidence
from checks.rules.measured_moment import chosen, moment_of
from checks.saved import open_saved, save
from checks.whole_files import OutputFile
from tests.fixtures.clusters import cluster, node, with_interface
from tests.fixtures.reports import report_of
from tests.unit import measurement_support as made
from tui.cli.report_formats import FORMATS
from tui.cli.text_report import text_report

PLAIN = report_of(cluster([node(1, mtu=1500), node(2, mtu=1500)]))  # as they were when it was measured
REPORT = replace(PLAIN, measurements=made.EVERY)


def written(report: Report, name: str) -> str:
    return FORMATS[name].write(Evidence(report)).decode()


@pytest.mark.parametrize("name", ["text", "markdown", "html"])
def test_each_format_has_every_result(name: str) -> None:
    text = written(REPORT, name).replace("\\", "")
    assert [one.kind for one in made.EVERY if headline(one) not in text and name != "text"] == []
    for said in ("2026-11-24 05:03:11 +01:00", "sizes", "drill"):
        assert said in text


def test_the_short_text_has_a_line_for_each_result() -> None:
    measured = " ".join(text_report(REPORT, io.StringIO()).partition("\nMeasured ")[2].split())
    assert [one.kind for one in made.EVERY if f"{one.kind}, 2026-11-24 05:03:11 +01:00: " not in measured] == []
    assert [one.kind for one in made.EVERY if headline(one) not in measured] == []
    assert "Measured" not in text_report(PLAIN, io.StringIO())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mtu": 9000}, "rac1 to rac2 on 192.168.10.0/24 had MTU 1500, and 9000 now"),
        ({"speed_mbps": 1000}, "rac1 to rac2 on 192.168.10.0/24 had 10,000 Mbit/s, and 1,000 now"),
        ({"addresses": ()}, "rac2 had 192.168.10.2, and not now"),
    ],
    ids=["MTU", "speed", "address"],
)
def test_a_result_that_is_older_than_a_change_has_no_figures_and_says_how_to_measure_anew(
    changes: dict[str, object], said: str
) -> None:
    nodes = [node(1, changes.get("mtu", 1500)), with_interface(node(2, mtu=1500), "eth1", **changes)]  # type: ignore[arg-type]
    report = replace(REPORT, cluster=cluster(nodes), measurements=(made.rate(),))
    for text in (text_report(report, io.StringIO()), *(written(report, name) for name in ("text", "markdown", "html"))):
        plain = " ".join(text.replace("\\", "").replace("`", "").split()).replace("&#96;", "")
        assert (
            f"is left out: {said}. racwire measure rate --on 192.168.10.0/24 --to rac2 --go practice on rac1 measures"
            in plain
        )
        assert "940" not in plain
    assert "racwire_measured" not in written(report, "openmetrics")


def test_a_node_that_was_not_read_shows_no_change() -> None:
    report = replace(REPORT, cluster=cluster([node(1), UnreadNode("rac2", "rac2 does not answer.")]))
    assert "left out" not in text_report(report, io.StringIO())


def test_a_doubtful_result_says_so_in_a_ticket() -> None:
    stopped = made.sizes(stopped="A lost block on rac2.", is_harm=True)
    text = written(replace(PLAIN, measurements=(stopped,)), "markdown")
    assert "(stopped by a sign of harm). It ended early. A lost block on rac2." in text


def test_times_by_size_and_by_class_and_silence_are_drawn() -> None:
    assert {one.kind: len(list(drawings_of(one))) for one in made.EVERY} == {
        "sizes": 2, "rate": 0, "mix": 1, "hashes": 0, "storage": 0, "drill": 1,
    }  # fmt: skip
    page = written(REPORT, "html")
    assert page.count('class="drawing"') == 4
    for one in made.EVERY:
        drawn = picture_file(one)
        assert drawn is None or fromstring(drawn).tag.endswith("svg")
    (silence,) = drawings_of(made.drill())
    assert "rac1 to rac2 (icmp): 1.02 s, 3.4 % of the misscount" in silence.description


def test_a_size_lies_right_of_a_smaller_one_and_above_a_faster_one() -> None:
    (drawing, _) = drawings_of(made.sizes(sizes=(64, 2048, 65_536)))
    dots = [fromstring(mark) for mark in drawing.marks if mark.startswith("<circle") and 'class="after"' in mark][1:]
    across, down = ([float(dot.get(axis) or 0) for dot in dots] for axis in ("cx", "cy"))
    assert across[1] - across[0] == pytest.approx(across[2] - across[1], abs=0.2)  # each is 32 times the one before
    assert down == sorted(down, reverse=True)


def test_a_result_that_nobody_measured_is_in_no_format() -> None:
    def wrong(**changes: object) -> Measurement:
        one = made.sizes()
        assert isinstance(one.result, MeasuredSizes)
        summary = replace(one.result.summaries[0], **changes)
        return replace(one, result=replace(one.result, summaries=(summary,)))

    for one in (wrong(path=7), wrong(size=-1), wrong(p50_us=1e300), replace(made.mix(), paths=())):
        assert not is_sound(one)
        report = replace(PLAIN, measurements=(one,))
        for name in FORMATS:
            written(report, name)
        assert "racwire_measured" not in written(report, "openmetrics")
    assert all(map(is_sound, made.EVERY))
    assert is_sound(made.measurement(MeasuredMix()))


def test_a_saved_file_has_the_results(tmp_path: Path) -> None:
    save(OutputFile(tmp_path / "night.racwire"), REPORT, None)
    with open_saved(tmp_path / "night.racwire") as saved:
        assert saved.report.measurements == made.EVERY


def test_two_reports_differ_where_their_results_do_by_the_tests_of_compare() -> None:
    def changes(before: Measurement, after: Measurement) -> list[tuple[str, str]]:
        one, other = (replace(PLAIN, measurements=(each,)) for each in (before, after))
        return [(c.name, c.after) for c in diff(one, other).facts if c.group == "Measurements"]

    ((kind, after),) = changes(made.sizes(), made.sizes(base_us=20.0, seed=2))
    assert kind == "sizes"
    assert "the environment shifted)" in after
    assert changes(made.sizes(), made.sizes(9000, seed=2)) == []  # the cluster of both has MTU 1500
    assert changes(made.sizes(), made.sizes(seed=2)) == []
    assert changes(made.sizes(), made.mix()) == []


def test_the_json_has_the_whole_results() -> None:
    held = msgspec.json.decode(written(REPORT, "json"))["measurements"]
    assert msgspec.convert(held, tuple[Measurement, ...]) == made.EVERY


def test_the_json_sets_apart_what_does_not_belong_and_reads_it_back() -> None:
    report = replace(PLAIN, measurements=(made.rate(mtu=9000), made.mix()))
    written_json = written(report, "json").encode()
    document = msgspec.json.decode(written_json)
    kinds = [[one["result"]["fact"] for one in document[name]] for name in ("measurements", "measurements_left_out")]
    assert kinds == [["mix"], ["rate"]]
    assert {one.kind for one in from_json(written_json).measurements} == {"mix", "rate"}


def test_of_a_kind_the_newest_that_belongs_is_chosen_else_the_newest() -> None:
    def at(hour: int, one: Measurement) -> Measurement:
        return replace(one, started_at=f"2026-11-24T{hour:02}:00:00+01:00")

    now = moment_of(PLAIN.cluster)  # at MTU 1500
    older, newer = at(3, made.sizes(1500)), at(4, made.sizes(9000))
    assert chosen((older, newer, made.mix()), now) == (older, made.mix())
    assert chosen((at(3, made.rate(mtu=9000)), at(2, made.rate(mtu=4000))), now) == (at(3, made.rate(mtu=9000)),)


def test_a_result_has_its_age_at_the_run() -> None:
    started = "2026-11-24T05:23:11+01:00"
    assert "2026-11-24 05:03:11 +01:00, 20 min before: " in brief(made.mix(), started)
    assert "before" not in brief(made.mix(), "2026-11-24T05:03:20+01:00")
    assert "before" not in brief(made.mix(), "yesterday")
