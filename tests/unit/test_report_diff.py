"""Improvements and deteriorations between two reports: equal findings, and the change of each."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.finding import Finding, Magnitude, Status, Waived
from checks.report import diff_findings
from checks.report.diff import verdict
from checks.report.diff_findings import finding_changes
from checks.report.diff_kind import DiffKind

WAIVED = Waived("?", "Ann Lee", "2027-01-31")
FAIL, WARN, UNKNOWN, PASS, INFO, SKIPPED = (
    Status.FAIL,
    Status.WARN,
    Status.UNKNOWN,
    Status.PASS,
    Status.INFO,
    Status.SKIPPED,
)


def finding(status: Status = FAIL, **more: object) -> Finding:
    return msgspec.convert({"code": "T-1", "check": "t", "status": status, "title": "?", **more}, Finding)


def extent(value: float, unit: str = "% lost") -> Magnitude:
    return Magnitude(value, unit)


def change(before: list[Finding], after: list[Finding]) -> DiffKind:
    """Return the only change."""
    (result,) = [c for c in finding_changes(before, after) if c.change not in (DiffKind.SAME, DiffKind.NO_PROBLEM)]
    return result


CALM = finding(PASS, code="T-2")


@pytest.mark.parametrize(
    ("before", "after", "expected", "worse"),
    [
        ([CALM], [finding()], DiffKind.NEW, FAIL),
        ([finding()], [CALM], DiffKind.GONE, None),
        ([finding(WARN)], [finding(FAIL)], DiffKind.MORE_SEVERE, FAIL),
        ([finding(INFO)], [finding(WARN)], DiffKind.MORE_SEVERE, WARN),
        ([finding(FAIL)], [finding(WARN)], DiffKind.LESS_SEVERE, None),
        ([finding(extent=extent(1))], [finding(extent=extent(2))], DiffKind.HIGHER, FAIL),
        ([finding(extent=extent(2))], [finding(extent=extent(1))], DiffKind.LOWER, None),
        ([finding(nodes=["rac1"])], [finding(nodes=["rac1", "rac2"])], DiffKind.MORE_NODES, FAIL),
        ([finding(nodes=["rac1", "rac2"])], [finding(nodes=["rac1"])], DiffKind.FEWER_NODES, None),
        ([finding(nodes=["rac1", "rac2"])], [finding(nodes=["rac1", "rac3"])], DiffKind.OTHER_NODES, FAIL),
        ([finding()], [finding(waived=WAIVED)], DiffKind.WAIVED, None),
        ([finding(waived=WAIVED)], [finding()], DiffKind.WAIVER_ENDED, FAIL),
        ([finding()], [finding(UNKNOWN)], DiffKind.BECAME_UNKNOWN, UNKNOWN),
        ([CALM], [finding(UNKNOWN)], DiffKind.BECAME_UNKNOWN, UNKNOWN),
        ([finding(UNKNOWN)], [finding(WARN)], DiffKind.BECAME_KNOWN, WARN),
        ([finding(UNKNOWN)], [CALM], DiffKind.BECAME_KNOWN, None),
        ([finding()], [], DiffKind.NOT_RERUN, None),
        ([finding()], [finding(SKIPPED, code="RW-ENGINE-005")], DiffKind.NOT_RERUN, None),
        ([], [finding()], DiffKind.FIRST_RUN, None),
    ],
)
def test_each_finding_is_classified_as_new_gone_or_changed(before, after, expected, worse):
    assert (change(before, after).change, change(before, after).worse) == (expected, worse)


def test_a_finding_waived_in_the_later_report_is_reported_and_not_worse():
    found = change([CALM], [finding(waived=WAIVED)])
    assert (found.change, found.worse) == (DiffKind.NEW, None)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (extent(14.98), extent(20.71), DiffKind.SAME),
        (extent(14.98), extent(23), DiffKind.HIGHER),
        (extent(23), extent(14.98), DiffKind.LOWER),
        (extent(10, "paths"), extent(11, "paths"), DiffKind.HIGHER),
        (extent(1, "paths"), extent(3, "% lost"), DiffKind.SAME),
        (None, extent(1), DiffKind.SAME),
    ],
)
def test_a_measurement_is_worse_from_50_percent_more_and_a_count_from_one_more(before, after, expected):
    (found,) = finding_changes([finding(extent=before)], [finding(extent=after)])
    assert found.change is expected


@pytest.mark.parametrize(
    ("before", "after", "covers", "expected", "worse"),
    [
        (874, 451, (("prod1", "prod2"), ("prod1",)), DiffKind.BECAME_UNKNOWN, UNKNOWN),
        (451, 874, (("prod1",), ("prod1", "prod2")), DiffKind.BECAME_KNOWN, FAIL),
        (874, 451, (("prod1",), ("prod1", "prod2")), DiffKind.LOWER, None),
        (451, 874, (("prod1", "prod2"), ("prod1",)), DiffKind.HIGHER, FAIL),
        (874, 451, ((), ("prod1",)), DiffKind.LOWER, None),
        (874, 451, (("prod1", "prod2"), ("prod2", "prod1")), DiffKind.LOWER, None),
    ],
)
def test_an_extent_is_lower_only_where_all_was_read_that_was_read_before(before, after, covers, expected, worse):
    one, other = (
        finding(extent=extent(value, "blocks"), covers=read)
        for value, read in zip((before, after), covers, strict=True)
    )
    result = change([one], [other])
    assert (result.change, result.worse) == (expected, worse)


def test_a_warning_after_a_failure_of_the_same_check_is_an_improvement_with_any_code():
    failing = finding(nodes=["rac2", "rac1"])
    left = finding(WARN, code="T-9", nodes=["rac2"])
    assert change([failing], [left]).change is DiffKind.LESS_SEVERE
    assert change([left], [failing]).worse is FAIL


@pytest.mark.parametrize(
    "other",
    [
        {"nodes": ["rac2", "rac3"]},
        {"network": "eth2"},
        {"check": "u"},
        {"status": FAIL},
        {"waived": WAIVED},
        {"nodes": []},
    ],
)
def test_a_warning_about_another_subject_does_not_continue_a_failure(other):
    left = finding(**{"status": WARN, "code": "T-9", "nodes": ["rac2"], **other})
    calm = [CALM, finding(PASS, code="T-8", check="u")]
    changes = finding_changes([finding(nodes=["rac2", "rac1"]), *calm], [left, *calm])
    assert {c.change for c in changes if c.is_problem} == {DiffKind.GONE, DiffKind.NEW}


def test_the_same_finding_is_matched_before_another_finding_of_its_check():
    failing, warning = finding(nodes=["rac1"]), finding(WARN, code="T-9", nodes=["rac1"])
    changes = finding_changes([failing, warning], [finding(nodes=["rac1", "rac2"]), warning])
    assert {(c.finding.code, c.change) for c in changes} == {("T-1", DiffKind.MORE_NODES), ("T-9", DiffKind.SAME)}


def test_with_too_many_changed_findings_each_is_reported_separately(monkeypatch):
    before = [finding(nodes=["rac1", str(n)]) for n in range(8)]
    after = [finding(nodes=["rac1", str(n), "rac9"]) for n in range(8)]
    assert {c.change for c in finding_changes(before, after)} == {DiffKind.MORE_NODES}
    monkeypatch.setattr(diff_findings, "_MOST_PAIRS", 63)
    assert {c.change for c in finding_changes(before, after)} == {DiffKind.NEW, DiffKind.GONE}


def test_a_fault_that_could_not_be_checked_again_is_not_gone():
    unseen = finding(UNKNOWN, code="T-3", nodes=["rac1"])
    lost = finding(nodes=["rac1"])
    assert {c.change for c in finding_changes([lost, CALM], [unseen, CALM]) if c.is_problem} == {
        DiffKind.BECAME_UNKNOWN
    }
    elsewhere = finding(UNKNOWN, code="T-3", nodes=["rac9"])
    changes = {c.finding.code: c.change for c in finding_changes([lost, CALM], [elsewhere, CALM])}
    assert changes["T-1"] is DiffKind.GONE


def test_two_findings_of_one_kind_about_different_networks_are_two():
    one, other = finding(network="eth1"), finding(network="eth2")
    assert {c.change for c in finding_changes([one, CALM], [other, CALM])} == {
        DiffKind.SAME,
        DiffKind.NEW,
        DiffKind.GONE,
    }


def test_findings_that_got_worse_come_first():
    before = [finding(WARN, code="T-4"), finding(FAIL, code="T-5"), CALM]
    after = [finding(FAIL, code="T-4"), finding(WARN, code="T-6", nodes=["rac1"]), CALM]
    assert [(c.finding.code, c.worse) for c in finding_changes(before, after)][:2] == [("T-4", FAIL), ("T-6", WARN)]


# --- the verdict ------------------------------------------------------------------------------------------------------


HELD = finding(waived=WAIVED)
LESS_OF_IT = {"before": [finding(WARN, extent=extent(9))], "after": [finding(WARN, extent=extent(1))]}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [], "Nothing is worse or better."),
        ([finding()], [finding()], "Nothing is worse or better; 1 failure is unchanged."),
        ([HELD], [HELD], "Nothing is worse or better."),
        ([finding(), finding(code="T-3")], [CALM], "Better: 2 failures are gone, no problem is left."),
        (
            [finding(nodes=["rac1"]), finding(code="T-3")],
            [finding(WARN, code="T-9", nodes=["rac1"])],
            "Better: 2 failures are gone, 1 warning is left.",
        ),
        (LESS_OF_IT["before"], LESS_OF_IT["after"], "Better: 1 warning is milder, 1 warning is left."),
        ([finding()], [HELD], "Better: 1 failure is waived now, no problem is left."),
        ([HELD], [finding()], "Worse: 1 failure is no longer waived."),
        (
            [finding(WARN), finding(code="T-3")],
            [finding(WARN, nodes=["rac1"]), finding(WARN, nodes=["rac2"])],
            "Worse: 2 warnings are new; 1 failure is gone, 1 warning is gone.",
        ),
        ([finding(WARN)], [finding()], "Worse: 1 failure got worse."),
        ([finding()], [finding(UNKNOWN)], "Worse: 1 finding is no longer known."),
        ([finding(UNKNOWN)], [CALM], "Better: 1 unknown result is gone, no problem is left."),
        ([finding(UNKNOWN)], [finding(WARN)], "Worse: 1 warning was not known before."),
        ([finding(check="u")], [], "Nothing is worse or better. 1 problem was not checked again."),
        (
            [],
            [finding(check="u"), finding(WARN, check="u")],
            "Nothing is worse or better. 2 problems were not checked before.",
        ),
    ],
)
def test_the_verdict_summarizes_the_changes(before, after, expected):
    calm = finding(PASS, code="T-7")
    assert verdict(finding_changes([calm, *before], [calm, *after])) == expected


# --- whatever there is ------------------------------------------------------------------------------------------------

findings = st.lists(
    st.builds(
        finding,
        st.sampled_from(list(Status)),
        code=st.sampled_from(["T-1", "T-2"]),
        check=st.sampled_from(["t", "u"]),
        network=st.sampled_from(["", "eth1"]),
        nodes=st.lists(st.sampled_from(["rac1", "rac2", "rac3"]), unique=True, max_size=3),
        extent=st.none() | st.builds(extent, st.floats(0, 9), st.sampled_from(["paths", "% lost"])),
        waived=st.none() | st.just(WAIVED),
    ),
    max_size=8,
)
MIRRORED = {
    DiffKind.MORE_SEVERE: DiffKind.LESS_SEVERE,
    DiffKind.HIGHER: DiffKind.LOWER,
    DiffKind.MORE_NODES: DiffKind.FEWER_NODES,
    DiffKind.WAIVER_ENDED: DiffKind.WAIVED,
    DiffKind.NEW: DiffKind.GONE,
    DiffKind.BECAME_UNKNOWN: DiffKind.BECAME_KNOWN,
    DiffKind.FIRST_RUN: DiffKind.NOT_RERUN,
}
MIRRORED |= {other: one for one, other in MIRRORED.items()}


@given(findings)
def test_a_report_has_no_difference_to_itself(found):
    assert {c.change for c in finding_changes(found, found)} <= {DiffKind.SAME}


@given(findings, findings, st.booleans())
def test_every_finding_of_both_reports_is_listed_once(before, after, by_name):
    changes = finding_changes(before, after, by_name=by_name)

    def each(those):
        return sorted(msgspec.json.encode(f) for f in those)

    assert each(c.before for c in changes if c.before) == each(before)
    assert each(c.after for c in changes if c.after) == each(after)


@given(findings, findings, st.booleans())
def test_the_reverse_comparison_has_the_opposite_changes(before, after, by_name):
    def changes_of(changes, mirror=False):
        one, other = ("after", "before") if mirror else ("before", "after")
        kind = {c: c for c in DiffKind} | (MIRRORED if mirror else {})
        return sorted(
            (kind[c.change], msgspec.json.encode(getattr(c, one)), msgspec.json.encode(getattr(c, other)))
            for c in changes
        )

    there = finding_changes(before, after, by_name=by_name)
    assert verdict(there).startswith("Worse: ") is any(c.worse for c in there)
    back = finding_changes(after, before, by_name=by_name)
    assert changes_of(there) == changes_of(back, mirror=True)
