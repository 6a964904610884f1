"""The entries at the start of every report: one for each cause, then one for each problem without a cause."""

import io

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given

from checks.model.facts import Unknown
from checks.model.finding import PROBLEMS, Finding, Key, NextStep, Status, Waived, check_again, keyed
from checks.model.hypothesis import Certainty, Diagnosis, Hypothesis, LossAccount, Place, Together
from checks.model.report import Report, make_report
from checks.report.causes import cause_entries, causes_of, further_entries, passed_checks
from checks.report.json_report import from_json, to_json
from checks.report.markdown import to_markdown
from checks.report.other_causes import other_causes
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import report_of
from tui.cli.text_report import text_report

FIRST, NET = "192.168.10.0/24", "192.168.11.0/24"
LOOK = NextStep("Read the counters.", ("nstat -az UdpRcvbufErrors",), "root on rac2")
ASK = NextStep("Ask the network team for the drops of the port.")
CHANGE = NextStep("Raise the buffers.", ("sysctl -w net.core.rmem_default=262144",), "root on rac2", is_change=True)
WAIVED = Waived("known", "Ann Lee", "2027-01-31")


def finding(code: str, status: Status = Status.FAIL, *, title: str = "", **more) -> Finding:
    known = {"check": f"check-{code}", "title": title or f"{code} is wrong.", "nodes": ("rac2",)}
    return Finding(code=code, status=status, **(known | more))


def key(of: Finding, number: int = 0) -> Key:
    return (of.check, of.code, of.network, of.nodes, number)


def keys(*findings: Finding) -> tuple[Key, ...]:
    return tuple(map(key, findings))


def cause(code: str = "CAUSE-02", standing: Certainty = Certainty.PROVED, **more) -> Hypothesis:
    return Hypothesis(cause=code, name=f"Name of {code}", standing=standing, **more)


def of(findings, *hypotheses: Hypothesis, **more) -> Report:
    return make_report(
        version="1.2.3", started_at="2026-11-20T14:02:31.000+01:00", duration_s=1.2, cluster=cluster(2),
        findings=findings, journal=(), diagnosis=Diagnosis(hypotheses=hypotheses, **more),
    )  # fmt: skip


def brief(report: Report, monkeypatch: pytest.MonkeyPatch | None = None) -> list[str]:
    if monkeypatch:
        monkeypatch.setenv("COLUMNS", "80")
    return text_report(report, io.StringIO()).splitlines()


BUFFERS = finding("IC-UDP-002", seen=("RcvbufErrors grew by 22", "398 delivered"), next=(LOOK, ASK, CHANGE))
LOST = finding("IC-LOST-002", title="prac2 lost 22 of 53 blocks in 4 s, all of them from prac1.")
SHOWN = cause(entry=1, shown_by=keys(BUFFERS), explains=keys(LOST))


def test_the_entry_has_the_headline_the_effects_and_the_steps_of_the_strongest_finding():
    said = "The receive buffers of rac2 overflow: 22 datagrams lost in 4 s."
    shown = msgspec.structs.replace(SHOWN, headline=said, because=("The counter grew there.",))
    (entry,) = cause_entries(of([LOST, BUFFERS], shown))
    assert (entry.headline, entry.status) == (said, Status.FAIL)
    assert entry.findings == (BUFFERS,)
    assert entry.effects == (LOST,)
    assert entry.next == BUFFERS.next
    assert entry.because == ("The counter grew there.", *BUFFERS.seen)
    assert further_entries(of([LOST, BUFFERS], shown), (entry,)) == ()


def test_without_a_headline_the_strongest_finding_says_it():
    weak = finding("IC-UDP-003", Status.WARN, title="Weak.")
    (entry,) = cause_entries(of([weak, BUFFERS], cause(shown_by=keys(BUFFERS, weak))))
    assert entry.headline == BUFFERS.title
    assert [part.findings for part in entry.explained] == [(weak,)]


def test_findings_of_one_kind_and_place_are_told_apart_by_their_numbers():
    first, second = (finding("IC-UDP-002", title=title) for title in ("A.", "B."))
    report = of([second, first], cause(shown_by=(key(second, 1),)))
    (entry,) = cause_entries(report)
    assert entry.findings == (second,)
    assert [e.headline for e in further_entries(report, (entry,))] == ["A."]


def test_one_cause_at_two_places_is_two_entries_and_a_finding_of_both_is_in_both():
    mtu = finding("IC-MTU-002", network=NET, nodes=("rac1", "rac2"), title="Two nodes have MTU 1500.")
    places = [
        cause(
            "CAUSE-05", entry=n, shown_by=keys(mtu), headline=f"rac{n} has MTU 1500.", place=Place(nodes=(f"rac{n}",))
        )
        for n in (1, 2)
    ]
    report = of([mtu], *places)
    entries = cause_entries(report)
    assert [e.headline for e in entries] == ["rac1 has MTU 1500.", "rac2 has MTU 1500."]
    assert [e.findings for e in entries] == [(mtu,), (mtu,)]
    assert further_entries(report, entries) == ()
    assert causes_of(mtu, report) == ["CAUSE-05 Name of CAUSE-05: proved"]


def test_causes_that_the_evidence_cannot_tell_apart_are_one_entry_that_says_what_would():
    path = finding("IC-PATH-005", network=NET)
    apart = "The counters of the switch port tell them apart."
    alike = [cause(code, Certainty.SUPPORTED, entry=1, shown_by=keys(path)) for code in ("CAUSE-01", "CAUSE-20")]
    alike[0] = msgspec.structs.replace(alike[0], tells_apart=apart)
    other = cause("CAUSE-21", Certainty.SUPPORTED, entry=2, shown_by=keys(path))
    first, second = cause_entries(of([path], *alike, other))
    assert first.standing == "one of CAUSE-01 Name of CAUSE-01; CAUSE-20 Name of CAUSE-20: supported"
    assert first.tells_apart.startswith(f"{apart} `racwire investigate` ")
    assert not second.tells_apart
    assert second.standing == "CAUSE-21 Name of CAUSE-21: supported"
    assert apart in " ".join(" ".join(brief(of([path], *alike))).split())


def test_what_ends_in_part_or_with_several_causes_is_said_so(monkeypatch):
    late = finding("IC-TIME-002", title="Blocks arrive late at prac2.")
    both = Together(finding=key(late), causes=("CAUSE-73",))
    shown = cause(entry=1, shown_by=keys(BUFFERS), in_part=keys(LOST), together=(both,))
    report = of([late, LOST, BUFFERS], shown)
    (entry,) = cause_entries(report)
    assert [(part.label, part.findings) for part in entry.explained] == [
        ("Explains in part", (LOST,)),
        ("Ends when both are fixed (this and CAUSE-73)", (late,)),
    ]
    assert further_entries(report, (entry,)) == ()
    assert causes_of(late, report) == ["CAUSE-02 Name of CAUSE-02: proved, together with CAUSE-73"]
    assert causes_of(LOST, report) == ["CAUSE-02 Name of CAUSE-02: proved, in part"]
    lines = brief(report, monkeypatch)
    at = lines.index("  Ends when both are fixed (this and CAUSE-73):")
    assert lines[at + 1].strip() == f"F {late.title}"


def test_a_cause_that_loses_nothing_and_one_that_hides_others_say_so():
    shown = cause(entry=1, shown_by=keys(BUFFERS), costs_nothing=True, hides=("CAUSE-73", "CAUSE-12"))
    report = of([BUFFERS], shown)
    (entry,) = cause_entries(report)
    assert entry.standing == "CAUSE-02 Name of CAUSE-02: proved, costs nothing now"
    text = "\n".join(brief(report))
    assert "Not examined behind it: CAUSE-12 and 73." in text
    assert "Not examined behind it:" in to_markdown(report).decode()


def test_a_cause_whose_findings_are_all_waived_is_not_in_front():
    accepted = msgspec.structs.replace(BUFFERS, waived=WAIVED)
    assert cause_entries(of([accepted], SHOWN)) == ()
    assert dict(other_causes(of([accepted], SHOWN))) == {"Also proved": "CAUSE-02."}
    (entry,) = cause_entries(of([accepted, LOST], SHOWN))
    assert entry.status is LOST.status
    assert cause_entries(of([accepted, LOST], msgspec.structs.replace(SHOWN, is_waived=True))) == ()


def test_a_cause_without_a_finding_of_its_own_has_the_effects_as_findings_and_none_is_hidden():
    shown = cause("CAUSE-99", Certainty.SUPPORTED, headline="A LAG member loses packets.", explains=keys(LOST))
    (entry,) = cause_entries(of([LOST], shown))
    assert (entry.headline, entry.findings) == ("A LAG member loses packets.", (LOST,))
    alone = cause("CAUSE-98", headline="It is so.")
    assert cause_entries(of([LOST], alone)) == ()
    assert ("Also proved", "CAUSE-98.") in other_causes(of([LOST], alone))


@given(st.data())
def test_every_open_problem_is_in_an_entry(data):
    titles = [f"Title {n}." for n in range(6)]
    findings = [
        finding(
            data.draw(st.sampled_from(["IC-UDP-002", "IC-MTU-002", "IC-PATH-003", "T-1"])),
            data.draw(st.sampled_from(list(Status))),
            title=title,
            nodes=data.draw(st.sampled_from([(), ("rac1",), ("rac2",)])),
            network=data.draw(st.sampled_from(["", NET])),
            waived=data.draw(st.sampled_from([None, WAIVED])),
        )
        for title in titles
    ]
    known = [one for one, _ in keyed(findings)]
    some = st.lists(st.sampled_from([*known, ("gone", "X-1", "", (), 0)]), max_size=3).map(tuple)
    causes = [
        cause(
            code,
            data.draw(st.sampled_from(list(Certainty))),
            entry=data.draw(st.integers(0, 2)),
            shown_by=data.draw(some),
            explains=data.draw(some),
            in_part=data.draw(some),
            together=tuple(Together(finding=one, causes=("CAUSE-01",)) for one in data.draw(some)),
        )
        for code in ("CAUSE-02", "CAUSE-05", "CAUSE-12", "CAUSE-99")
    ]
    report = of(findings, *causes)
    entries = cause_entries(report)
    further = further_entries(report, entries)
    listed = [id(f) for entry in further for f in entry.all_findings]
    of_causes = {id(f) for entry in entries for f in entry.all_findings}
    assert len(listed) == len(set(listed))
    assert of_causes.isdisjoint(listed)
    assert {id(f) for f in findings if f.status in PROBLEMS and not f.waived} <= {*listed, *of_causes}
    assert brief(report)
    assert to_markdown(report)
    read = from_json(to_json(report))
    assert [e.all_findings for e in cause_entries(read)] == [e.all_findings for e in entries]


def test_the_account_of_lost_blocks_is_a_reason_at_the_nodes_of_the_cause():
    said = "22 lost at prac2 = 20 in its receive buffers or on the way + 2 not explained."
    shares = {"CAUSE-02 or CAUSE-73": 20}
    account = LossAccount(instance="prac2", node="rac2", lost=22, explained=shares, unexplained=2, text=said)
    elsewhere = LossAccount(instance="prac1", node="rac1", lost=1, explained={"CAUSE-02": 1}, text="1 lost at prac1.")
    shown = msgspec.structs.replace(SHOWN, place=Place(nodes=("rac2",)))
    (entry,) = cause_entries(of([BUFFERS], shown, accounts=(elsewhere, account)))
    assert entry.because[0] == said
    assert elsewhere.text not in entry.because
    other = msgspec.structs.replace(SHOWN, cause="CAUSE-05")
    (entry,) = cause_entries(of([BUFFERS], other, accounts=(account,)))
    assert said not in entry.because


def test_the_account_that_no_cause_explains_is_with_the_loss():
    account = LossAccount(instance="prac2", node="rac2", lost=22, unexplained=22, text="22 lost at prac2.")
    (entry,) = further_entries(of([LOST], unexplained=keys(LOST), accounts=(account,)), ())
    assert entry.because == ("22 lost at prac2.",)


def test_a_node_that_could_not_be_read_is_one_entry_without_the_step_that_runs_checks_again():
    reason = Unknown("ssh asked for a password.")
    titles = {code: f"rac2 could not be read ({code})." for code in ("T-1", "T-2", "T-3")}
    unread = [
        finding(code, Status.UNKNOWN, title=title, lacks=(reason,), next=(LOOK, check_again(f"check-{code}")))
        for code, title in titles.items()
    ]
    (entry,) = further_entries(of(unread), ())
    assert len(entry.likewise) == 2
    assert entry.next == (LOOK,)
    text = "\n".join(brief(of(unread)))
    assert text.count("could not be read") == 1
    assert "3 checks could not look" in text


def test_the_brief_text_has_the_cause_because_what_it_explains_and_next_in_this_order(monkeypatch):
    shown = msgspec.structs.replace(SHOWN, against=("rac1 lost none.",))
    lines = brief(of([LOST, BUFFERS], shown), monkeypatch)
    text = "\n".join(lines)
    order = ["FAIL    IC-UDP-002 is wrong.", "Cause ", "Because ", "Against ", "Explains ", "Next ", "1. ", "3. CHANGE"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert f"F {LOST.title}\n" in text
    assert "Why " not in text
    assert "the same command with --full" in lines[-1]
    assert max(map(len, lines)) <= 80


def test_the_brief_text_is_at_most_30_lines_up_to_the_end_of_next_whatever_the_finding_has(monkeypatch):
    words = "a long reason with many words in it, " * 6
    commands = tuple(f"ethtool -S eth{n}" for n in range(12))
    steps = [NextStep(f"Look at {n}: {words}", commands, "root on rac2") for n in range(6)]
    long = finding("IC-UDP-002", seen=(words,) * 8, next=(*steps, CHANGE))
    effects = [finding("IC-LOST-002", title=f"Effect {n}: {words}") for n in range(9)]
    shown = cause(shown_by=keys(long), explains=tuple(key(e, n) for n, e in enumerate(effects)))
    lines = brief(of([long, *effects], shown), monkeypatch)
    end = next(n for n, line in enumerate(lines) if "sysctl -w" in line) + 1
    assert any("and 6 more findings" in line for line in lines)
    assert any("# 8 more commands in the full report" in line for line in lines)
    assert any("steps 2, 3, 4, 5, 6: in the full report" in line for line in lines)
    assert end <= 32


def test_the_first_entry_keeps_to_30_lines_with_everything_that_a_cause_can_have(monkeypatch):
    others = [finding(f"IC-LOST-00{n}", title=f"Effect {n} of the cause.") for n in range(2, 8)]
    shown = cause(
        entry=1, shown_by=keys(BUFFERS), explains=keys(*others[:2]), in_part=keys(*others[2:4]),
        together=tuple(Together(finding=one, causes=("CAUSE-73",)) for one in keys(*others[4:])),
        hides=("CAUSE-12", "CAUSE-20"), against=("rac1 lost none.",), tells_apart="The counters of the port.",
    )  # fmt: skip
    also = cause("CAUSE-04", entry=1, shown_by=keys(BUFFERS))
    lines = brief(of([BUFFERS, *others], shown, also), monkeypatch)
    end = next(n for n, line in enumerate(lines) if "sysctl -w" in line) + 1
    assert end <= 30


def test_the_same_steps_are_printed_once():
    both = [finding("IC-PATH-007", Status.WARN, title=f"Pings on eth{n}.", next=(LOOK,)) for n in (1, 2)]
    text = "\n".join(brief(of(both)))
    assert text.count("nstat") == 1
    assert "the same steps as above" in text


def test_a_healthy_report_is_short_and_says_what_was_examined(monkeypatch):
    report = report_of(cluster(2))
    unexamined = [cause(f"CAUSE-{n:02}", Certainty.NOT_EXAMINED) for n in range(1, 9)]
    excluded = [cause(f"CAUSE-{n:02}", Certainty.EXCLUDED) for n in range(20, 29)]
    report = msgspec.structs.replace(report, diagnosis=Diagnosis(hypotheses=(*unexamined, *excluded)))
    lines = brief(report, monkeypatch)
    text = " ".join(" ".join(lines).split())
    assert len(lines) <= 20
    assert "No problem was found: 2 nodes, 4 paths, 11 checks" in text
    assert "Passed 11 checks: " in text
    assert "Not examined" in text
    assert not [word for word in ("clean", "healthy", "Excluded", "possible") if word in text]


def test_checks_with_another_result_did_not_pass():
    findings = [
        finding("A-1", Status.PASS, check="a"), finding("A-2", Status.WARN, check="a"),
        finding("B-1", Status.PASS, check="b"), finding("C-1", Status.UNKNOWN, check="c"),
    ]  # fmt: skip
    assert passed_checks(of(findings)) == ("b",)


def test_the_other_causes_take_a_line_each():
    others = [cause(f"CAUSE-{n:02}", Certainty.EXCLUDED) for n in (3, 4)]
    others += [cause(f"CAUSE-{n:02}", Certainty.POSSIBLE) for n in (7, 8, 9, 10, 11)]
    others += [cause("CAUSE-01", Certainty.NOT_EXAMINED)]
    assert dict(other_causes(of([BUFFERS], SHOWN, *others))) == {
        "Also possible": "CAUSE-07 Name of CAUSE-07, CAUSE-08 Name of CAUSE-08, CAUSE-09 Name of CAUSE-09 and 2 more.",
        "Excluded": "CAUSE-03 and 04.",
        "Not examined": "1 of 9 causes: `racwire explain causes`.",
    }
    assert [label for label, _ in other_causes(of([], *others))] == ["Not examined"]


def test_a_cause_that_is_excluded_on_one_network_says_what_is_open_on_the_other():
    skipped = [
        cause(code, Certainty.NOT_EXAMINED, excluded_on=(FIRST,), because=("UDP was skipped.",))
        for code in ("CAUSE-70", "CAUSE-71")
    ]
    doubtful = cause("CAUSE-12", Certainty.POSSIBLE, excluded_on=(FIRST,))
    whole = cause("CAUSE-03", Certainty.EXCLUDED)
    assert dict(other_causes(of([BUFFERS], SHOWN, doubtful, *skipped, whole))) == {
        "Excluded": f"CAUSE-03; CAUSE-12 (on {FIRST}; possible on {NET}); "
        f"CAUSE-70 and 71 (on {FIRST}; not examined on {NET}: UDP was skipped)."
    }


def test_findings_of_a_saved_file_without_observations_are_named():
    said = dict(other_causes(of([LOST], not_compared=("check-a", "check-b"))))
    assert said["Not compared"] == (
        "the findings of check-a and check-b are from a saved file without observations: they have no part in the "
        "diagnosis."
    )
