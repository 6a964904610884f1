"""Two results of one measurement compared: rounds as samples, 64 B as control, and the size from which jumbo wins."""

import json
from pathlib import Path

import msgspec
import pytest

from checks.model.measurement import Measurement
from checks.run.stored_measurements import to_json
from checks.traffic.compare.comparison import Comparison, ComparisonVerdict
from checks.traffic.compare.comparison_text import winning_point
from checks.traffic.compare.comparison_verdict import Runs, compare
from checks.traffic.compare.run import ImportProblem
from checks.traffic.imports.load import parse_result
from checks.traffic.imports.measurement_result import ONE_AT_A_TIME
from tests.unit.measurement_support import EVERY, USUAL, drill, hashes, measurement, mix, rate, sizes, storage
from tui.cli.main import main


def run_of(one):
    return parse_result(to_json(one).decode(), "a.json")


def compared(before, after, same=None) -> Comparison:
    return compare([Runs(run_of(before), run_of(after), run_of(same) if same else None)])


def verdicts(comparison: Comparison) -> dict[str, ComparisonVerdict]:
    return {metric.name: metric.verdict for metric in comparison.metrics}


def written(directory: Path, name: str, one) -> str:
    (directory / name).write_bytes(to_json(one))
    return str(directory / name)


JUMBO = compared(sizes(1500), sizes(9000, seed=2), sizes(1500, seed=3))


def test_messages_of_one_packet_do_not_differ_and_larger_ones_are_faster_at_9000():
    found = verdicts(JUMBO)
    assert found["64 B round trip"] is ComparisonVerdict.NO_DIFFERENCE
    assert found["1,472 B round trip"] is ComparisonVerdict.NO_DIFFERENCE
    assert found["2,048 B round trip"] is ComparisonVerdict.BETTER
    assert found["32,768 B round trip at a fixed rate"] is ComparisonVerdict.BETTER
    assert found["8,192 B CPU of this node"] is ComparisonVerdict.BETTER
    assert [d.is_change for d in JUMBO.pairs[0].differences] == [True]


def test_only_the_times_of_64_bytes_are_controls():
    assert {m.name for m in JUMBO.metrics if m.is_control} == {"64 B round trip", "64 B round trip at a fixed rate"}


def test_rounds_are_samples():
    (metric,) = [m for m in JUMBO.metrics if m.name == "8,192 B round trip"]
    assert metric.before.values == tuple(r.p50_us for r in sizes(1500).result.rounds if r.size == 8192 and not r.rate)


def test_rounds_of_few_flows_have_no_percentile_to_compare():
    few, enough = compared(mix(), mix(50.0)), compared(mix(flows=100), mix(50.0, flows=100))
    percentiles = [
        {name.rsplit(", ", 1)[1] for name in verdicts(one) if ", " in name} & {"p95", "p99"} for one in (few, enough)
    ]
    assert percentiles == [set(), {"p95", "p99"}]
    of_another = msgspec.json.encode(mix()).replace(b'"p99_ms":null', b'"p99_ms":99.5')
    assert {one.p99_ms for one in msgspec.json.decode(of_another, type=Measurement).result.rounds} == {None}


def test_the_winning_size_is_the_first_from_which_on_each_is_better():
    points = [m for m in JUMBO.metrics if m.curve == ONE_AT_A_TIME]
    assert sorted(p.size for p in points) == sorted(USUAL)
    assert winning_point(points).size == 2048
    assert any("messages of 2,048 B and more are faster" in sentence for sentence in JUMBO.summary)


def test_a_larger_size_that_is_not_faster_moves_the_winning_size_up():
    slow = sizes(9000, seed=2)
    rounds = tuple(
        r
        if r.size != 8192
        else type(r)(**{f: getattr(r, f) for f in r.__struct_fields__} | {"p50_us": 500.0 + r.round})
        for r in slow.result.rounds
    )
    found = compared(sizes(1500), measurement(type(slow.result)(rounds), mtu=9000), sizes(1500, seed=3))
    assert winning_point([m for m in found.metrics if m.curve == ONE_AT_A_TIME]).size == 32_768


def test_without_a_faster_size_there_is_no_winner():
    found = compared(sizes(9000), sizes(1500), sizes(9000, seed=3))
    assert winning_point([m for m in found.metrics if m.curve == ONE_AT_A_TIME]) is None
    assert any("there is no message size" in sentence for sentence in found.summary)


def test_twice_the_difference_of_64_bytes_is_noise_for_larger_messages():
    """On a busy machine all times rise together, and a test that sees only one size takes that for a change."""
    busy = sizes(1500, base_us=48.0, frame_us=16.0, seed=2)
    found = verdicts(compared(sizes(1500), busy))
    assert found["64 B round trip"] is ComparisonVerdict.NO_DIFFERENCE
    assert found["32,768 B round trip"] is ComparisonVerdict.NO_DIFFERENCE
    slower = verdicts(compared(sizes(1500), sizes(1500, frame_us=16.0, seed=2)))
    assert slower["32,768 B round trip"] is ComparisonVerdict.WORSE


def test_of_a_busy_node_neither_times_at_a_rate_nor_cpu_times_are_compared():
    found = compared(sizes(1500), sizes(9000, seed=2, disturbed="This node itself sent late."))
    assert not [name for name in verdicts(found) if "fixed rate" in name or "CPU" in name]
    assert verdicts(found)["8,192 B round trip"] is ComparisonVerdict.BETTER


def test_where_64_bytes_differ_something_else_than_the_mtu_has_changed():
    found = compared(sizes(1500), sizes(9000, base_us=90.0), sizes(1500, seed=3))
    assert any(sentence.startswith("64 B round trip went from") for sentence in found.shifted)
    assert not found.having(ComparisonVerdict.BETTER)
    assert not any("are faster" in sentence for sentence in found.summary)


def test_without_64_bytes_the_comparison_says_that_it_has_no_control():
    found = compared(sizes(1500, sizes=(200, 8192)), sizes(9000, sizes=(200, 8192)))
    assert any("64 B, the control, were not measured" in warning for warning in found.pairs[0].warnings)


@pytest.mark.parametrize(
    ("before", "after", "metric", "verdict"),
    [
        (rate(940), rate(400), "tcp from here at 1000 Mb/s received", ComparisonVerdict.WORSE),
        (mix(45), mix(20), "small together, 2 at a time, mean", ComparisonVerdict.BETTER),
        (mix(45), mix(20), "large together, 2 at a time, mean", ComparisonVerdict.NO_DIFFERENCE),
        (hashes(31), hashes(0), "answered", ComparisonVerdict.BETTER),
        (hashes(0), hashes(0), "answered", ComparisonVerdict.NO_DIFFERENCE),
        (storage(200), storage(100), "write rate", ComparisonVerdict.WORSE),
        (drill(1.02), drill(0.1), "longest silence (icmp)", ComparisonVerdict.TOO_FEW_SAMPLES),
    ],
)
def test_each_kind_has_its_table(before, after, metric, verdict):
    assert verdicts(compared(before, after))[metric] is verdict


def test_a_result_is_known_by_its_content_also_with_other_blanks():
    one = run_of(sizes())
    packed = json.dumps(json.loads(to_json(sizes())), sort_keys=True, separators=(",", ":"))
    assert parse_result(packed, "a.json") == one
    assert {run_of(each).kind for each in EVERY} == {
        "measure sizes",
        "measure rate",
        "measure mix",
        "measure hashes",
        "measure storage",
        "drill",
    }


def test_several_paths_have_their_names_in_the_metrics():
    two = measurement(rate().result, paths=2)
    assert any(m.name.startswith("rac1 -> rac2 on 192.168.10.0/24 tcp") for m in run_of(two).measured)


def test_what_makes_a_result_doubtful_is_a_warning():
    doubtful = sizes(
        stopped="A node dropped packets.", disturbed="It was late.", although_loaded="a test", blocks_lost=3
    )
    assert len(run_of(doubtful).warnings) == 4


def test_a_newer_result_is_refused_with_a_sentence():
    newer = to_json(sizes()).replace(b'"format": 1', b'"format": 2')
    with pytest.raises(ImportProblem, match="has the format 2 of a result, and this racwire reads 1"):
        parse_result(newer.decode(), "a.json")


def test_the_command_compares_two_results_and_draws_them(tmp_path, capsys):
    files = [written(tmp_path, "b.json", sizes(1500)), written(tmp_path, "a.json", sizes(9000, seed=2))]
    picture = tmp_path / "sizes.svg"
    assert main(["compare", *files, "--svg", str(picture)]) == 0
    out = capsys.readouterr().out
    assert "64 B round trip, us" in out
    assert "MTU: 1500 → 9000" in out
    drawn = picture.read_text()
    assert "round trip by message size, us" in drawn
    assert "bytes of a message, logarithmic" in drawn
    assert drawn.count('class="before"') >= len(USUAL)
    assert drawn.count('class="after"') >= len(USUAL)


def test_two_kinds_are_not_compared(tmp_path, capsys):
    files = [written(tmp_path, "b.json", sizes()), written(tmp_path, "a.json", rate())]
    assert main(["compare", *files]) == 64
    assert "name two files of one kind" in capsys.readouterr().err
