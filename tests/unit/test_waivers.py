"""Waivers: the findings that they cover, when they end by themselves, and that they hide nothing."""

from __future__ import annotations

import asyncio
from datetime import date

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.check import Kind, check
from checks.model.exit_codes import ExitCode
from checks.model.finding import Finding, Magnitude, Status
from checks.model.report import Report, exit_code
from checks.model.run_record import RunRecord
from checks.model.settings import Settings
from checks.model.settings_waivers import Waiver, matches
from checks.report.json_report import from_json, to_json
from checks.rules.waivers import allowed, apply, lifted_for, waivers_in
from checks.run.check_discovery import known_codes
from checks.run.engine import Engine
from checks.run.rerun import judged_again
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import report_of

LAST_DAY = date(2027, 1, 31)
TODAY = date(2026, 11, 20)
MAKERS = {"IC-BOOT-002": "boot-mtu", "IC-PATH-005": "df-ping"}


def waiver(**more: object) -> Waiver:
    fields = {"code": "IC-BOOT-002", "subject": "eth2 rac1", "reason": "in January", "by": "Ann Lee"}
    return msgspec.convert({**fields, "expires": LAST_DAY, **more}, Waiver)


def finding(status: Status = Status.WARN, **more: object) -> Finding:
    facts = {"code": "IC-BOOT-002", "check": "boot-mtu", "status": status, "title": "?", "subject": "eth2 rac1"}
    return msgspec.convert({**facts, **more}, Finding)


def standing(waived: Waiver, *findings: Finding, on: date = TODAY) -> tuple[str, str]:
    """Return the status of the only waiver, and the reason."""
    (result,) = apply(findings, [waived], on, MAKERS, known_codes)[1]
    return result.standing, result.why


def holds(waived: Waiver, found: Finding, on: date = TODAY) -> bool:
    (marked,) = apply([found], [waived], on, MAKERS, known_codes)[0]
    return marked.waived is not None


def test_a_waiver_marks_the_finding_and_changes_nothing_else():
    (marked,) = apply([finding()], [waiver()], TODAY, MAKERS, known_codes)[0]
    assert marked.waived is not None
    assert (marked.waived.by, marked.waived.reason, marked.waived.expires) == ("Ann Lee", "in January", "2027-01-31")
    assert msgspec.structs.replace(marked, waived=None) == finding()
    assert standing(waiver(), finding()) == ("in force", "")


def test_a_waiver_applies_on_its_last_day_and_not_on_the_day_after():
    assert holds(waiver(), finding(), LAST_DAY)
    assert not holds(waiver(), finding(), date(2027, 2, 1))
    after = date(2027, 2, 1)
    assert standing(waiver(), finding(), on=after) == ("expired", "The finding counts again.")
    assert standing(waiver(), finding(Status.PASS), on=after) == ("expired", "")
    longer = waiver(subject="*", expires=date(2027, 6, 1))
    assert (
        apply([finding()], [waiver(), longer], after, MAKERS, known_codes)[1][0].why
        == "Another waiver covers the finding."
    )


@pytest.mark.parametrize(
    ("waived_as", "covered"),
    [("WARN", {Status.WARN}), ("FAIL", {Status.FAIL, Status.WARN}), ("UNKNOWN", {Status.UNKNOWN})],
)
def test_a_waiver_covers_no_worse_status_and_unknown_only_if_waived_as_unknown(waived_as, covered):
    problems = (Status.WARN, Status.FAIL, Status.UNKNOWN)
    assert {status for status in problems if holds(waiver(status=waived_as), finding(status))} == covered


def test_without_a_status_a_waiver_covers_a_warning_and_explains_why_not_a_failure():
    assert standing(waiver(), finding(Status.FAIL)) == ("lifted", "It was waived as WARN, and is FAIL now.")
    assert standing(waiver(), finding(Status.UNKNOWN))[1] == "It was waived as WARN, and is not known now."


def test_a_passed_finding_is_never_waived():
    assert not holds(waiver(subject="*"), finding(Status.PASS))
    assert not holds(waiver(subject="*"), finding(Status.INFO))


def test_a_waiver_is_lifted_when_the_number_rises_and_not_when_it_falls():
    half = waiver(extent=0.5)
    assert holds(half, finding(extent=Magnitude(0.5, "% of packets lost")))
    assert holds(half, finding(extent=Magnitude(0.1, "% of packets lost")))
    worse = finding(extent=Magnitude(0.6, "% of packets lost"))
    assert standing(half, worse) == ("lifted", "It was waived up to 0.5, and is 0.6 % of packets lost now.")
    assert standing(half, finding()) == ("lifted", "It was waived up to 0.5, and its extent is not known now.")
    assert holds(waiver(), worse)


@pytest.mark.parametrize(
    ("found", "up_to"),
    [
        (Magnitude(14.98, "datagrams a second"), 30),
        (Magnitude(14.98, "% lost of the blocks sent"), 30),
        (Magnitude(0.2084, "% of fragments in vain"), 0.42),
        (Magnitude(1_234, "datagrams a second"), 2_500),
        (Magnitude(59, "% of packets lost"), 80),
        (Magnitude(100, "% of packets lost"), 100),
        (Magnitude(119, "% of blocks lost"), 120),
        (Magnitude(0, "ms on average"), 0),
        (Magnitude(1.7e308, "ms on average"), 1.7e308),
        (Magnitude(3, "paths"), 3),
    ],
)
def test_measurements_are_waived_with_a_margin_and_counts_exactly(found, up_to):
    assert allowed(found) == up_to


def test_a_waiver_is_lifted_when_another_node_is_affected():
    of_rac1 = waiver(nodes=["rac1", "rac2"])
    assert holds(of_rac1, finding(nodes=["rac1"]))
    assert standing(of_rac1, finding(nodes=["rac1", "rac3"])) == (
        "lifted",
        "It was waived for rac1 and rac2, and also affects rac3 now.",
    )


def test_a_star_matches_any_text_and_no_other_character_does():
    assert holds(waiver(subject="* rac1"), finding())
    assert holds(waiver(subject="*"), finding())
    assert not holds(waiver(subject="* rac2"), finding())
    assert not holds(waiver(subject="eth? rac1"), finding())
    assert holds(waiver(subject="[a] ?"), finding(subject="[a] ?"))


@given(st.lists(st.text("ab[]?", max_size=3), min_size=1, max_size=4), st.text("ab[]?*", max_size=2))
def test_a_star_matches_the_text_that_it_replaced(parts, between):
    assert matches("*".join(parts), between.join(parts))


def test_of_several_subjects_the_worse_one_is_named():
    every = waiver(subject="*")
    both = (finding(), finding(Status.FAIL, subject="eth2 rac2"))
    marked, (result,) = apply(both, [every], TODAY, MAKERS, known_codes)
    assert [bool(f.waived) for f in marked] == [True, False]
    assert (result.standing, result.why) == ("lifted", "eth2 rac2: It was waived as WARN, and is FAIL now.")


def test_a_finding_that_another_waiver_covers_lifts_none():
    narrow, wide = waiver(status="FAIL"), waiver(subject="*")
    _, standings = apply(
        [finding(Status.FAIL), finding(subject="eth2 rac2")], [wide, narrow], TODAY, MAKERS, known_codes
    )
    assert [s.standing for s in standings] == ["in force", "in force"]


def test_a_waiver_is_not_needed_if_the_check_ran_without_such_a_finding():
    assert standing(waiver(), finding(Status.PASS, code="IC-BOOT-001", subject="")) == ("not needed", "")
    assert standing(waiver(), finding(subject="eth2 rac3")) == (
        "not needed",
        "IC-BOOT-002 was found with other subjects: eth2 rac3.",
    )


@pytest.mark.parametrize(
    ("waived", "found", "why"),
    [
        ({"code": "IC-UDP-002"}, (), "No check of this run can find this code."),
        ({"code": "IC-BOTO-002"}, (), "No installed check has the code IC-BOTO-002; did you mean IC-BOOT-002?"),
        ({"code": "XX-99999-999"}, (), "No installed check has the code XX-99999-999."),
        ({}, (), "boot-mtu reached no verdict."),
        ({}, (finding(Status.UNKNOWN, code="IC-BOOT-004", subject="rac3"),), "boot-mtu could not check everything."),
        ({}, (finding(Status.SKIPPED, code="RW-ENGINE-005"),), "boot-mtu could not check everything."),
    ],
)
def test_a_waiver_is_not_checked_if_its_check_could_not_run(waived, found, why):
    assert standing(waiver(**waived), *found) == ("not checked", why)


def test_waivers_of_a_report_are_parsed_separately_and_unknown_fields_ignored():
    saved = msgspec.to_builtins([waiver(), waiver(subject="eth2 rac2"), waiver(subject="eth2 rac3")])
    saved[0]["ticket"] = "CHG-7"
    saved[1]["status"] = "DREADFUL"
    assert waivers_in({"waivers": [*saved, 7]}) == (waiver(), waiver(subject="eth2 rac3"))
    assert waivers_in({"waivers": 7}) == waivers_in({}) == ()


# --- in a run ---------------------------------------------------------------------------------------------------------

LOSS = Kind("T-LOSS-001", "?")
FINE = Kind("T-FINE-001", "?")


def report_with(*waivers: Waiver, found: Status = Status.FAIL) -> Report:
    """The report of a run of two checks: one finds something, the other is well."""

    @check("lossy", question="?", needs=(), kinds=(LOSS,))
    def lossy(_cluster):
        yield LOSS.finding("Packets get lost.", status=found, subject="eth2", nodes=["rac1"], extent=(0.25, "% lost"))

    @check("fine", question="?", needs=(), kinds=(FINE,))
    def fine(_cluster):
        yield FINE.finding("All well.", status=Status.PASS)

    async def run():
        return await Engine([lossy, fine], Settings(waivers=waivers)).run()

    return asyncio.run(run())


def after_rerun(whole: Report, part: Report, check_id: str) -> Report:
    return judged_again(whole, RunRecord(report=part, ended=0.0, checks=(check_id,)), {})


def of_loss(**more: object) -> Waiver:
    return waiver(code="T-LOSS-001", subject="eth2", **{"expires": date(9999, 1, 1), "status": "FAIL", **more})


def test_a_waived_finding_is_in_the_report_and_not_in_the_exit_code():
    report = report_with(of_loss())
    assert exit_code(report) is ExitCode.PASS
    assert report.count(Status.FAIL) == 0
    assert [f.code for f in report.waived] == ["T-LOSS-001"]
    assert exit_code(report_with()) is ExitCode.FAILURES
    assert exit_code(report_with(of_loss(extent=0.1))) is ExitCode.FAILURES


def test_the_report_has_every_waiver_and_round_trips():
    report = report_with(of_loss(), waiver(), waiver(code="T-FINE-001"))
    assert [(s.code, s.standing, s.check) for s in report.waivers] == [
        ("T-LOSS-001", "in force", "lossy"),
        ("IC-BOOT-002", "not checked", ""),
        ("T-FINE-001", "not needed", "fine"),
    ]
    assert from_json(to_json(report)) == report
    assert waivers_in(report.settings) == (of_loss(), waiver(), waiver(code="T-FINE-001"))
    assert waivers_in({"waivers": [{"code": 3}]}) == ()


def test_a_waived_problem_is_sorted_after_those_that_count():
    fail = finding(Status.FAIL, subject="eth3")
    report = report_with(of_loss())
    statuses = [(f.status, bool(f.waived)) for f in report.findings]
    assert statuses == [(Status.FAIL, True), (Status.PASS, False)]
    whole = after_rerun(report, msgspec.structs.replace(report, findings=(fail,)), "boot-mtu")
    assert [f.subject for f in whole.findings] == ["eth3", "eth2", ""]


@pytest.mark.parametrize(("again", "result", "code"), [(Status.FAIL, "in force", 0), (Status.PASS, "not needed", 0)])
def test_a_rerun_check_has_its_waivers_checked_again(again, result, code):
    whole, part = report_with(of_loss(), waiver()), report_with(of_loss(), waiver(), found=again)
    of_one = msgspec.structs.replace(part, findings=tuple(f for f in part.findings if f.check == "lossy"))
    after = after_rerun(whole, of_one, "lossy")
    assert [s.standing for s in after.waivers] == [result, "not checked"]
    assert exit_code(after) == code


def test_a_waiver_for_all_checks_is_checked_in_all_of_them_after_a_rerun():
    lacking = finding(Status.UNKNOWN, code="RW-ENGINE-001", check="fine", subject="paths not known")
    any_check = waiver(code="RW-ENGINE-001", subject="paths not known", status="UNKNOWN", expires=date(9999, 1, 1))
    base = report_with(any_check)
    whole = msgspec.structs.replace(base, findings=(*base.findings, lacking))
    after = after_rerun(whole, base, "lossy")
    assert [s.standing for s in after.waivers] == ["in force"]


def test_the_waiver_that_a_finding_lost_is_found():
    report = report_with(of_loss(extent=0.1))
    failing = report.findings[0]
    ended = lifted_for(failing, report.waivers)
    assert ended is not None
    assert (ended.standing, ended.by) == ("lifted", "Ann Lee")
    assert lifted_for(report.findings[1], report.waivers) is None
    held = report_with(of_loss())
    assert lifted_for(held.findings[0], held.waivers) is None


def test_a_built_in_check_has_an_extent_wherever_it_has_a_number():
    from tests.fixtures.databases import asked, change, counters, losing
    from tests.fixtures.reports import black_hole

    report = report_of(
        asked(
            black_hole(3),
            activity=losing(2, 37, {1: 37}, 3),
            counters=counters(3, change("rac2", Ip_ReasmFails=9), change("rac3", Udp_RcvbufErrors=9)),
        )
    )
    extents = {f.check: f.extent for f in report.findings if f.status in (Status.FAIL, Status.WARN)}
    assert extents["df-ping"] == Magnitude(2, "paths")
    assert extents["gc-blocks-lost"] == Magnitude(0.2975, "% lost of the blocks sent")
    assert all(extents.values())
    assert all(f.extent is None for f in report_of(cluster(2)).findings if f.status is Status.PASS)
