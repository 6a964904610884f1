"""The text report of waived findings, of a saved state and of pseudonyms: visible, and separate from the findings that
count."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import msgspec

from checks.model.finding import Finding, Status, Waived
from checks.model.report import Report, WaiverStanding
from tests.fixtures.reports import black_hole, report_of, waiver_standing
from tui.cli.text_report import text_report

WAIVED = Waived("fixed in the January window", "Ann Lee", "2027-01-31")


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def words(report: Report, now: datetime | None = None) -> str:
    return " ".join(text_report(report, io.StringIO(), now, full=True).split())


def with_waived(finding: Finding | None = None, *standings: WaiverStanding) -> Report:
    """A black hole that is waived, and another finding that is not."""
    base = report_of(black_hole())
    findings = [msgspec.structs.replace(f, waived=WAIVED) if f.status is Status.FAIL else f for f in base.findings]
    return msgspec.structs.replace(base, findings=(*([finding] if finding else []), *findings), waivers=standings)


WORSE = Finding(code="IC-BOOT-002", check="boot-mtu", status=Status.WARN, title="Worse.", subject="eth2 rac1")


def test_a_waived_finding_keeps_its_status_and_shows_who_until_when_and_why():
    text = words(with_waived())
    assert "FAIL IC-PATH-003 df-ping WAIVED Jumbo frames vanish on 192.168.11.0/24" in text
    assert "Waived until 2027-01-31 by Ann Lee: fixed in the January window" in text


def test_a_waived_finding_is_counted_separately_and_listed_briefly_at_the_end():
    text = words(with_waived(WORSE))
    counts = text.partition("WARN IC-BOOT")[0]
    assert "1 WARN" in counts
    assert "1 waived" in counts
    assert "FAIL" not in counts
    assert text.index("Worse.") < text.index("IC-PATH-003") < text.index("PASS IC-")
    assert "CHANGE" not in text, "its next steps are in the other formats"


def test_waivers_that_do_not_apply_take_a_line_each_and_applied_ones_none():
    text = words(
        with_waived(
            None,
            waiver_standing("expired", "The finding counts again."),
            waiver_standing("lifted", "It was waived as WARN, and is FAIL now."),
            waiver_standing("not needed"),
            waiver_standing("in force"),
        )
    )
    waiver = "Waiver IC-BOOT-002 (eth2 rac1) by Ann Lee"
    assert f"{waiver}: expired on 2026-10-31. The finding counts again." in text
    assert f"{waiver}: lifted. It was waived as WARN, and is FAIL now." in text
    assert f"{waiver}: not needed. No such finding was made; remove the waiver from the settings." in text
    assert text.count("IC-BOOT-002 (eth2 rac1)") == 3


def test_waivers_that_could_not_be_checked_share_a_line():
    text = words(with_waived(None, waiver_standing("not checked", "boot-mtu could not check everything.")))
    assert "Waivers not checked in this run, or not on all nodes: IC-BOOT-002 (eth2 rac1)" in text


def test_a_finding_with_a_lifted_waiver_says_so():
    text = words(with_waived(WORSE, waiver_standing("lifted", "It was waived up to 0.5, and is 0.6 % now.")))
    assert "Worse. Waiver by Ann Lee, lifted. It was waived up to 0.5, and is 0.6 % now." in text


def test_a_saved_state_has_its_time_and_age():
    """On a terminal the age; in a file or a pipe the time, which stays true."""
    report = msgspec.structs.replace(report_of(black_hole()), saved_at="2026-11-20T14:03:00.000+01:00")
    now = datetime(2026, 11, 23, 14, 2, 31, tzinfo=UTC)
    seen = " ".join(text_report(report, Terminal(), now).split())
    assert "of 2026-11-20 14:02:31 +01:00, 3 d 1 h ago, saved" in seen
    text = words(report, now)
    assert (
        "SAVED STATE of 2026-11-20 14:02:31 +01:00, saved 2026-11-20 14:03:00 +01:00; this output was written 2026"
        in text
    )
    assert "3 d 1 h after the check. racwire did not query the cluster." in text
    assert " ago" not in text


def test_pseudonyms_are_marked_and_a_live_report_has_no_mark():
    report = report_of(black_hole())
    assert "Names and addresses are pseudonyms." in words(msgspec.structs.replace(report, is_redacted=True))
    assert "SAVED" not in words(report)
    assert "pseudonyms" not in words(report)


def test_hostile_text_of_a_waiver_is_escaped():
    evil = Waived("\x1b[2J[bold red]\u202e", "Ann\x07", "2027\r\n")
    report = report_of(black_hole())
    findings = tuple(msgspec.structs.replace(f, waived=evil) for f in report.findings)
    shown = text_report(msgspec.structs.replace(report, findings=findings), io.StringIO())
    assert not any(sign in shown for sign in "\x1b\x07\u202e\r")
    assert "[bold red]" in shown
