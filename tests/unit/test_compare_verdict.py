"""Verdicts: significant differences, noise, and cases in which the change may not be blamed."""

import random

import msgspec
import pytest

from checks.traffic.compare.comparison import Compared, Comparison, ComparisonVerdict, Pair, to_json
from checks.traffic.compare.comparison_text import change_of, number
from checks.traffic.compare.comparison_verdict import Runs, compare
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.compare.run import Better, ComparedRun, Measured
from tests.unit.compare_support import FakeRecording, recording


def compared(*recordings: FakeRecording) -> Comparison:
    """Before, after, and optionally a second recording before."""
    runs, stretch_s = runs_of(list(zip(("before", "after", "same"), recordings, strict=False)))
    return compare([Runs(runs[0], runs[1], runs[2] if len(runs) > 2 else None, stretch_s)])


def series(centre: float, spread: float = 0.01, count: int = 20, seed: int = 0) -> tuple[float, ...]:
    chance = random.Random(f"{centre} {seed}")
    return tuple(centre * (1 + chance.gauss(0, spread)) for _ in range(count))


def run(
    kind: str = "recording", environment: dict[str, str] | None = None, **measured: tuple[float, ...]
) -> ComparedRun:
    """Metrics by name: `c_...` a control, `n_...` no better direction, `h_...` higher is better, others lower."""
    better = {"c": Better.LOWER, "n": Better.NEITHER, "h": Better.HIGHER}
    return ComparedRun(
        kind=kind,
        name=kind,
        environment=environment or {},
        measured=tuple(
            Measured(name, "", values, better.get(name.partition("_")[0], Better.LOWER), name.startswith("c_"))
            for name, values in measured.items()
        ),
    )


def verdicts(comparison: Comparison) -> dict[str, ComparisonVerdict]:
    return {metric.name: metric.verdict for metric in comparison.metrics}


def metric(comparison: Comparison, name: str) -> Compared:
    return next(m for m in comparison.metrics if m.name == name)


# --- the five verdicts, and the sixth word ----------------------------------------------------------------------------


def test_each_metric_is_judged_by_the_direction_in_which_it_improves():
    before = run(time=series(10), h_rate=series(10), n_packets=series(6), c_ping=series(5), still=(3.0,) * 20)
    after = run(time=series(5), h_rate=series(5), n_packets=series(1), c_ping=series(5, seed=1), still=(3.0,) * 20)
    assert verdicts(compare([Runs(before, after)])) == {
        "time": ComparisonVerdict.BETTER,
        "h_rate": ComparisonVerdict.WORSE,
        "n_packets": ComparisonVerdict.DIFFERS,
        "c_ping": ComparisonVerdict.NO_DIFFERENCE,
        "still": ComparisonVerdict.NO_DIFFERENCE,
    }


@pytest.mark.parametrize("count", [1, 3, 5])
def test_fewer_than_six_values_get_no_verdict_however_different(count):
    comparison = compare([Runs(run(time=series(10, count=count)), run(time=series(1, count=count)))])
    assert verdicts(comparison) == {"time": ComparisonVerdict.TOO_FEW_SAMPLES}
    assert metric(comparison, "time").p is None
    assert not comparison.is_telling
    assert metric(comparison, "time").change == pytest.approx(-9, abs=0.5)


def test_single_values_of_another_tool_are_shown_and_not_judged():
    comparison = compare([Runs(run("HammerDB", h_nopm=(53.0,)), run("HammerDB", h_nopm=(80.0,)))])
    (shown,) = comparison.metrics
    assert (shown.before.centre, shown.after.centre, shown.verdict) == (53, 80, ComparisonVerdict.TOO_FEW_SAMPLES)
    assert comparison.summary == ("These runs allow no verdict: they have too few samples.",)


def test_a_small_p_alone_is_not_enough():
    close = compare([Runs(run(time=series(100, 0.001)), run(time=series(103, 0.001)), run(time=series(100, 0.001)))])
    assert metric(close, "time").p < 0.001
    assert verdicts(close) == {"time": ComparisonVerdict.NO_DIFFERENCE}


def test_the_difference_of_two_runs_before_the_change_is_the_noise():
    before, after = run(time=series(100)), run(time=series(80))
    calm, loud = run(time=series(101)), run(time=series(75))
    assert verdicts(compare([Runs(before, after, calm)])) == {"time": ComparisonVerdict.BETTER}
    assert verdicts(compare([Runs(before, after, loud)])) == {"time": ComparisonVerdict.NO_DIFFERENCE}


def test_without_a_second_run_before_the_change_less_than_25_percent_is_doubted_and_noted():
    comparison = compare([Runs(run(time=series(100)), run(time=series(80)))])
    assert verdicts(comparison) == {"time": ComparisonVerdict.NO_DIFFERENCE}
    assert any("--same" in warning for warning in comparison.pairs[0].warnings)
    assert verdicts(compare([Runs(run(time=series(100)), run(time=series(70)))])) == {"time": ComparisonVerdict.BETTER}


def test_losses_in_a_few_intervals_are_compared_by_their_mean():
    chance = random.Random(1)
    lost = tuple(float(chance.random() < 0.4) for _ in range(60))
    comparison = compare([Runs(run(lost=(0.0,) * 60), run(lost=lost), run(lost=(0.0,) * 60))])
    assert verdicts(comparison) == {"lost": ComparisonVerdict.WORSE}
    assert metric(comparison, "lost").is_mean
    assert metric(comparison, "lost").change_percent is None


@pytest.mark.parametrize("hit", [1, 2, 4])
def test_blocks_lost_in_one_burst_are_neither_equal_nor_blamed_on_the_change(hit):
    quiet, burst = (0.0,) * 6, (0.0,) * (6 - hit) + (0.44,) * hit
    others = {f"m{n}": series(10, seed=n, count=6) for n in range(10)}
    comparison = compare([Runs(run(lost=quiet, **others), run(lost=burst, **others), run(lost=quiet, **others))])
    assert verdicts(comparison)["lost"] is ComparisonVerdict.TOO_FEW_SAMPLES
    assert verdicts(comparison)["m1"] is ComparisonVerdict.NO_DIFFERENCE
    summary = " ".join(comparison.summary)
    assert (
        f"Too rare to know whether the change is the cause: lost in 0 of 6 stretches before, {hit} of 6 after."
        in summary
    )
    assert "Nothing else got worse" in summary
    assert "Nothing got worse" not in summary


def test_losses_as_rare_as_before_are_no_difference():
    rare, as_rare = (0.0,) * 19 + (0.1,), (0.1,) + (0.0,) * 19
    assert verdicts(compare([Runs(run(lost=rare), run(lost=as_rare))])) == {"lost": ComparisonVerdict.NO_DIFFERENCE}


def test_nearly_equal_runs_are_compared_by_their_medians():
    one = compare([Runs(run(time=series(10)), run(time=series(10)))]).metrics[0]
    assert (one.is_mean, one.verdict) == (False, ComparisonVerdict.NO_DIFFERENCE)


def test_losses_before_the_change_too_are_noise():
    before, after, same = ((0.0,) * 10 + (lost,) * 2 for lost in (0.0, 0.3, 0.4))
    comparison = compare([Runs(run(lost=before), run(lost=after), run(lost=same))])
    assert verdicts(comparison) == {"lost": ComparisonVerdict.NO_DIFFERENCE}


def test_runs_without_overlap_are_never_called_equal():
    others = {f"m{n}": series(10, spread=0.3, seed=n, count=6) for n in range(60)}
    moved = {f"m{n}": series(10, spread=0.3, seed=100 + n, count=6) for n in range(60)}
    comparison = compare([Runs(run(time=series(10, count=6), **others), run(time=series(20, count=6), **moved))])
    assert metric(comparison, "time").p_adjusted > 0.05
    assert verdicts(comparison)["time"] is ComparisonVerdict.TOO_FEW_SAMPLES
    assert any("Too few samples for" in sentence and "time" in sentence for sentence in comparison.summary)


def test_a_difference_is_found_among_many_nodes_as_among_few():
    parts = [
        Measured(f"rac{n} m{m}", "", series(10, 0.3, 6, seed=n * 10 + m), part_of=f"m{m}")
        for n in range(16)
        for m in range(10)
    ]
    wholes = (Measured("lost", "", (0.0,) * 6, Better.LOWER), *run(m1=series(10, count=6)).measured)
    lossy = (Measured("lost", "", (1.0, 2.0, 1.5, 0.5, 1.0, 2.0), Better.LOWER), *wholes[1:])
    before, after = (ComparedRun("recording", "r", measured=(*some, *parts)) for some in (wholes, lossy))
    assert verdicts(compare([Runs(before, after)]))["lost"] is ComparisonVerdict.WORSE


def test_two_very_different_runs_before_the_change_are_a_caution():
    comparison = compare(
        [Runs(run(c_load=series(10), n=series(1)), run(c_load=series(10), n=series(1)), run(c_load=series(20)))]
    )
    assert any("BEFORE and SAME differ in c_load" in warning for warning in comparison.pairs[0].warnings)


def test_one_small_p_among_many_metrics_is_chance():
    chance = random.Random(2)
    before = {f"m{n}": tuple(chance.gauss(100, 30) for _ in range(12)) for n in range(60)}
    after = {f"m{n}": tuple(chance.gauss(100, 30) for _ in range(12)) for n in range(60)}
    comparison = compare([Runs(run(**before), run(**after))])
    assert any(m.p < 0.05 for m in comparison.metrics)
    assert {m.verdict for m in comparison.metrics} == {ComparisonVerdict.NO_DIFFERENCE}


# --- the environment --------------------------------------------------------------------------------------------------


def test_a_control_that_changed_removes_every_verdict_and_keeps_the_numbers():
    before, after = run(time=series(10), c_ping=series(1)), run(time=series(5), c_ping=series(2))
    comparison = compare([Runs(before, after)])
    assert set(verdicts(comparison).values()) == {ComparisonVerdict.ENVIRONMENT_SHIFTED}
    assert metric(comparison, "time").change_percent == pytest.approx(-50, abs=2)
    assert comparison.shifted[0].startswith("c_ping went from ")
    assert "record again" in " ".join(comparison.summary)
    assert not comparison.is_telling


def test_new_losses_are_reported_even_if_the_environment_changed():
    before, after = run(c_ping=series(5), lost=(0.0,) * 20), run(c_ping=series(15), lost=series(3))
    comparison = compare([Runs(before, after)])
    assert verdicts(comparison)["lost"] is ComparisonVerdict.ENVIRONMENT_SHIFTED
    assert any("since they were 0 before: lost from 0 to 3.0" in sentence for sentence in comparison.summary)


def test_a_changed_control_of_one_tool_applies_to_the_other_tools_at_that_time():
    swing = Runs(run("Swingbench", h_tps=series(100)), run("Swingbench", h_tps=series(200)))
    shifted = Runs(run(c_ping=series(1)), run(c_ping=series(2)))
    assert verdicts(compare([shifted, swing]))["h_tps"] is ComparisonVerdict.ENVIRONMENT_SHIFTED
    assert verdicts(compare([swing]))["h_tps"] is ComparisonVerdict.BETTER


@pytest.mark.parametrize("fact", ["users", "virtual users", "think time between transactions", "streams"])
def test_another_number_of_users_is_another_load(fact):
    before = run("Swingbench", {fact: "100"}, h_tps=series(100))
    after = run("Swingbench", {fact: "200"}, h_tps=series(200))
    comparison = compare([Runs(before, after)])
    assert verdicts(comparison) == {"h_tps": ComparisonVerdict.ENVIRONMENT_SHIFTED}
    assert comparison.shifted == (f"{fact}: 100 before, 200 after: the load was not the same.",)


def test_another_kernel_is_reported_and_the_mtu_is_the_change_itself():
    comparison = compared(recording(1, mtu=1500), recording(2, mtu=9000, kernel="5.15.0-2"))
    (first, second, *others) = comparison.pairs[0].differences
    assert (first.name, first.before, first.after, first.is_change) == ("rac1 eth1 MTU", "1500", "9000", True)
    assert second.is_change
    assert {difference.name for difference in others} == {"rac1 kernel", "rac2 kernel"}


def test_a_second_run_under_other_conditions_does_not_measure_the_noise():
    comparison = compared(recording(1), recording(2, mtu=9000), recording(3, mtu=9000))
    assert any(
        warning.startswith("SAME and BEFORE had different conditions") for warning in comparison.pairs[0].warnings
    )
    assert {m.same for m in comparison.metrics} == {None}
    assert "ping 8 KB" in {m.name for m in comparison.having(ComparisonVerdict.BETTER)}


def test_runs_of_unequal_length_and_metrics_of_one_run_are_reported():
    comparison = compared(recording(1, seconds=300), recording(2, seconds=100, with_database=False))
    warnings = " ".join(comparison.pairs[0].warnings)
    assert "The runs are of unequal length: BEFORE 300 s, AFTER 100 s." in warnings
    assert "Measured only before the change, so not compared: packets per block received" in warnings


# --- whole recordings -------------------------------------------------------------------------------------------------


def test_jumbo_frames_under_the_same_load_are_reported_in_plain_words():
    comparison = compared(recording(1, mtu=1500), recording(2, mtu=9000), recording(3, mtu=1500))
    assert comparison.shifted == ()
    packets = metric(comparison, "packets per block received")
    assert (packets.before.centre, packets.after.centre, packets.verdict) == (6, 1, ComparisonVerdict.DIFFERS)
    assert {m.name for m in comparison.having(ComparisonVerdict.BETTER)} >= {
        "softirq per MB",
        "ping 8 KB",
        "block-sized ping longest",
    }
    assert comparison.having(ComparisonVerdict.WORSE) == ()
    assert comparison.summary[:2] == (
        "At MTU 1500 a block took 6.0 packets, at 9000 1.0 (messages not counted).",
        "Nothing got worse by more than noise.",
    )


def test_an_unchanged_mtu_is_reported_as_unchanged():
    assert "was not changed: 1500 before and after" in compared(recording(1), recording(2)).summary[0]


NOT_ALL = "not all interfaces are known in both."


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ({"rac1 eth1": "1500"}, {"dbn1 ens5": "9000"}, f"was 1500 before and 9000 after; {NOT_ALL}"),
        ({"rac1 eth1": "1500"}, {"dbn1 ens5": "1500"}, f"was 1500 before and after; {NOT_ALL}"),
        ({"a e1": "1500"}, {"a e1": "1500", "b e1": "9000"}, f"was 1500 before and 1500 and 9000 after; {NOT_ALL}"),
        ({"rac1 eth1": "1500"}, {}, "was changed is not known: no MTU was recorded after."),
        ({}, {"rac1 eth1": "9000"}, "was changed is not known: no MTU was recorded before."),
        ({}, {}, "was changed is not known: no MTU was recorded before and after."),
    ],
    ids=["other names", "other names, one MTU", "one more node", "unknown after", "unknown before", "unknown"],
)
def test_interfaces_with_other_or_unknown_names_are_never_called_unchanged(before, after, sentence):
    runs = [
        run(environment={f"{name} MTU": mtu for name, mtu in mtus.items()}, time=series(5, seed=seed))
        for seed, mtus in enumerate((before, after))
    ]
    summary = compare([Runs(*runs)]).summary[0]
    assert summary.endswith(sentence)
    assert "not changed:" not in summary


@pytest.mark.parametrize(
    ("other", "control"), [({"small_ping_us": 400.0}, "ping 500 B"), ({"blocks": 1500.0}, "blocks received")]
)
def test_a_slower_small_ping_or_another_load_is_a_changed_environment(other, control):
    comparison = compared(recording(1), recording(2, mtu=9000, **other), recording(3))
    assert metric(comparison, control).verdict is ComparisonVerdict.ENVIRONMENT_SHIFTED
    assert any(sentence.startswith(f"{control} went ") for sentence in comparison.shifted)
    assert comparison.having(ComparisonVerdict.BETTER) == comparison.having(ComparisonVerdict.DIFFERS) == ()


def test_losses_after_the_change_are_found():
    comparison = compared(recording(1), recording(2, lost_per_s=0.3), recording(3))
    assert "blocks lost" in {m.name for m in comparison.having(ComparisonVerdict.WORSE)}


@pytest.mark.no_cover  # a long computation, of lines that others run
def test_a_change_without_effect_is_almost_never_reported():
    # With these rules 3 of 100 come out as shifted (the load wanders), and under 1 as better or worse.
    reported, judged, of = 0, 0, 20
    for seed in range(of):
        runs, stretch_s = runs_of([(name, recording(100 + 3 * seed + n, seconds=100)) for n, name in enumerate("bas")])
        for same in (None, runs[2]):
            comparison = compare([Runs(runs[0], runs[1], same, stretch_s)])
            reported += bool(comparison.shifted)
            judged += any(
                comparison.having(v)
                for v in (ComparisonVerdict.BETTER, ComparisonVerdict.WORSE, ComparisonVerdict.DIFFERS)
            )
    assert reported <= 0.05 * 2 * of
    assert judged <= 0.02 * 2 * of


@pytest.mark.no_cover  # a long computation, of lines that others run
def test_a_change_of_a_third_is_found_in_five_minutes():
    for seed in range(4):
        runs = [recording(1000 + 3 * seed + n, receive_cs_per_block=cs) for n, cs in enumerate((0.06, 0.04, 0.06))]
        assert "CR receive time" in {m.name for m in compared(*runs).having(ComparisonVerdict.BETTER)}, seed


# --- as data and as text ----------------------------------------------------------------------------------------------


def test_json_keeps_every_value_and_can_be_read_back():
    comparison = compared(recording(1, mtu=1500), recording(2, mtu=9000))
    data = to_json(comparison)
    read = msgspec.json.decode(data)
    assert list(read) == ["schema", "pairs", "shifted", "summary"]
    assert read["schema"] == "racwire-comparison/1"
    assert msgspec.convert(read["pairs"], tuple[Pair, ...]) == comparison.pairs
    assert (tuple(read["shifted"]), tuple(read["summary"])) == (comparison.shifted, comparison.summary)
    assert len(metric(comparison, "private in").before.values) == 30


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (6, "6.00"), (0.2, "0.200"), (812.4, "812"), (99.96, "100"), (10412.3, "10,412"), (-83.4, "-83.4"),
     (0.0123, "0.0123"), (2e-5, "2.0e-05"), (3.2e9, "3.20e+09")],
)  # fmt: skip
def test_numbers_have_three_significant_digits(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (10, 5, "-50 %"),
        (10, 10.2, "+2.0 %"),
        (10, 60, "x 6.00"),
        (0, 0.5, "+0.500"),
        (0, 2657, "+2,657"),
        (0, 0, "0 %"),
        (10, 10, "0 %"),
    ],
)
def test_a_change_is_shown_in_percent_or_as_a_factor(before, after, text):
    comparison = compare([Runs(run(m=(before,) * 6), run(m=(after,) * 6))])
    assert change_of(comparison.metrics[0]) == text
