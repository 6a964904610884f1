"""The entries at the start of every report: one for each cause, then one for each problem without a cause."""

import io

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given

from checks.diagnosis.diagnose import diagnose
from checks.model.facts import Unknown
from checks.model.finding import PROBLEMS, Finding, Remedy, Status, Waived
from checks.model.hypothesis import Diagnosis, Hypothesis, LossAccount, Standing
from checks.model.report import Report, make_report
from checks.report.causes import cause_entries, further_entries, other_causes, passed_checks, shortened
from checks.report.json_report import from_json, schema, to_json
from checks.report.markdown import to_markdown
from checks.report.summary import first_steps, headline, sentences
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import black_hole, report_of
from tui.cli.text_report import text_report

NET = "192.168.11.0/24"
LOOK = Remedy("Read the counters.", ("nstat -az UdpRcvbufErrors",), "root on rac2")
ASK = Remedy("Ask the network team for the drops of the port.")
CHANGE = Remedy("Raise the buffers.", ("sysctl -w net.core.rmem_default=262144",), "root on rac2", is_change=True)
WAIVED = Waived("known", "Ann Lee", "2027-01-31")


def finding(code: str, status: Status = Status.FAIL, *, title: str = "", **more) -> Finding:
    known = {"check": f"check-{code}", "title": title or f"{code} is wrong.", "nodes": ("rac2",)}
    return Finding(code=code, status=status, **(known | more))


def cause(code: str = "CAUSE-02", standing: Standing = Standing.PROVED, **more) -> Hypothesis:
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


def test_the_entry_has_the_headline_the_effects_and_the_steps_of_the_strongest_finding():
    said = "The receive buffers of rac2 overflow: 22 datagrams lost in 4 s."
    shown = cause(headline=said, because=(BUFFERS.title,), explains=(LOST.title,), nodes=("rac2",))
    (entry,) = cause_entries(of([LOST, BUFFERS], shown))
    assert (entry.headline, entry.status) == (said, Status.FAIL)
    assert entry.findings == (BUFFERS,)
    assert entry.effects == (LOST,)
    assert entry.next == BUFFERS.next
    assert entry.because == (BUFFERS.title, *BUFFERS.seen)
    assert further_entries(of([LOST, BUFFERS], shown), (entry,)) == ()


def test_without_a_headline_the_strongest_finding_says_it():
    weak = finding("IC-UDP-002", Status.WARN, title="Weak.")
    (entry,) = cause_entries(of([weak, BUFFERS], cause(because=(weak.title, BUFFERS.title))))
    assert entry.headline == BUFFERS.title
    assert BUFFERS.title not in entry.because


def test_where_the_reasons_are_no_titles_the_findings_follow_from_the_catalogue():
    elsewhere = finding("IC-UDP-002", title="Elsewhere.", nodes=("rac1",))
    shown = cause(headline="It overflows.", because=("The counter grew by 22.",), nodes=("rac2",))
    report = of([BUFFERS, elsewhere], shown)
    (entry,) = cause_entries(report)
    assert entry.findings == (BUFFERS,)
    assert entry.because[0] == "The counter grew by 22."
    assert [e.headline for e in further_entries(report, (entry,))] == ["Elsewhere."]


def test_two_independent_causes_are_two_entries_and_an_effect_belongs_to_the_first():
    mtu = finding("IC-MTU-002", network=NET)
    first = cause(because=(BUFFERS.title,), explains=(LOST.title,))
    second = cause("CAUSE-05", because=(mtu.title,), explains=(LOST.title,))
    entries = cause_entries(of([mtu, LOST, BUFFERS], first, second))
    assert [e.headline for e in entries] == [BUFFERS.title, mtu.title]
    assert [e.effects for e in entries] == [(LOST,), ()]


def test_causes_that_one_finding_supports_equally_are_one_entry():
    path = finding("IC-PATH-005", network=NET)
    diagnosis = diagnose(cluster(2), [path])
    (entry,) = cause_entries(msgspec.structs.replace(of([path]), diagnosis=diagnosis))
    assert {"CAUSE-01", "CAUSE-20", "CAUSE-21"} <= {c.cause for c in entry.causes}
    assert entry.standing.startswith("one of CAUSE-01")
    assert entry.standing.endswith(": supported")


def test_a_cause_whose_findings_are_all_waived_is_not_in_front():
    accepted = msgspec.structs.replace(BUFFERS, waived=WAIVED)
    shown = cause(because=(BUFFERS.title,), explains=(LOST.title,))
    assert cause_entries(of([accepted], shown)) == ()
    assert dict(other_causes(of([accepted], shown))) == {"Also proved": "CAUSE-02."}
    (entry,) = cause_entries(of([accepted, LOST], shown))
    assert entry.status is LOST.status
    assert cause_entries(of([accepted, LOST], msgspec.structs.replace(shown, is_waived=True))) == ()


def test_a_cause_without_a_finding_of_its_own_has_the_effects_as_findings_and_none_is_hidden():
    shown = cause("CAUSE-99", Standing.SUPPORTED, headline="A LAG member loses packets.", explains=(LOST.title,))
    (entry,) = cause_entries(of([LOST], shown))
    assert (entry.headline, entry.findings) == ("A LAG member loses packets.", (LOST,))
    alone = cause("CAUSE-98", headline="It is so.")
    assert cause_entries(of([LOST], alone)) == ()
    assert ("Also proved", "CAUSE-98.") in other_causes(of([LOST], alone))


@given(st.data())
def test_every_open_problem_is_in_exactly_one_entry(data):
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
    some = st.lists(st.sampled_from([*titles, "Another reason."]), max_size=3).map(tuple)
    causes = [
        cause(code, data.draw(st.sampled_from(list(Standing))), because=data.draw(some), explains=data.draw(some))
        for code in ("CAUSE-02", "CAUSE-05", "CAUSE-12", "CAUSE-99")
    ]
    report = of(findings, *causes)
    entries = cause_entries(report)
    listed = [f.title for entry in (*entries, *further_entries(report, entries)) for f in entry.all_findings]
    assert len(listed) == len(set(listed))
    assert {f.title for f in findings if f.status in PROBLEMS and not f.waived} <= set(listed)
    assert brief(report)
    assert to_markdown(report)


def test_the_account_of_lost_blocks_is_a_reason():
    said = "22 lost at prac2 = 20 in its receive buffers + 2 not explained."
    account = LossAccount(instance="prac2", node="rac2", lost=22, explained={"CAUSE-02": 20}, unexplained=2, text=said)
    (entry,) = cause_entries(of([BUFFERS], cause(because=(BUFFERS.title,)), accounts=(account,)))
    assert entry.because[0] == said


def test_a_node_that_could_not_be_read_is_one_entry_without_the_step_that_runs_checks_again():
    reason = Unknown("ssh asked for a password.")
    again = Remedy("Fix the cause named above, then run this check again.", ("racwire check a",))
    unread = [
        finding(code, Status.UNKNOWN, title=f"rac2 could not be read ({code}).", lacks=(reason,), next=(LOOK, again))
        for code in ("T-1", "T-2", "T-3")
    ]
    (entry,) = further_entries(of(unread), ())
    assert len(entry.likewise) == 2
    assert entry.next == (LOOK,)
    text = "\n".join(brief(of(unread)))
    assert text.count("could not be read") == 1
    assert "3 checks could not look" in text


def test_the_brief_text_has_the_cause_because_what_it_explains_and_next_in_this_order(monkeypatch):
    shown = cause(because=(BUFFERS.title,), explains=(LOST.title,), against=("rac1 lost none.",))
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
    steps = [Remedy(f"Look at {n}: {words}", commands, "root on rac2") for n in range(6)]
    long = finding("IC-UDP-002", seen=(words,) * 8, next=(*steps, CHANGE))
    effects = [finding("IC-LOST-002", title=f"Effect {n}: {words}") for n in range(9)]
    shown = cause(because=(long.title,), explains=tuple(e.title for e in effects))
    lines = brief(of([long, *effects], shown), monkeypatch)
    end = next(n for n, line in enumerate(lines) if "sysctl -w" in line) + 1
    assert any("and 6 more findings" in line for line in lines)
    assert any("# 8 more commands in the full report" in line for line in lines)
    assert any("steps 2, 3, 4, 5, 6: in the full report" in line for line in lines)
    assert end <= 32


def test_the_same_steps_are_printed_once():
    both = [finding("IC-PATH-007", Status.WARN, title=f"Pings on eth{n}.", next=(LOOK,)) for n in (1, 2)]
    text = "\n".join(brief(of(both)))
    assert text.count("nstat") == 1
    assert "the same steps as above" in text


def test_a_healthy_report_is_short_and_says_what_was_examined(monkeypatch):
    report = report_of(cluster(2))
    report = msgspec.structs.replace(report, diagnosis=diagnose(report.cluster, report.findings))
    lines = brief(report, monkeypatch)
    text = " ".join(" ".join(lines).split())
    assert len(lines) <= 20
    assert "No problem was found on the private interconnect of prodrac. racwire examined 2 nodes, 2 private" in text
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
    others = [cause(f"CAUSE-{n:02}", Standing.EXCLUDED) for n in (3, 4)]
    others += [cause("CAUSE-07", Standing.POSSIBLE), cause("CAUSE-01", Standing.NOT_EXAMINED)]
    assert dict(other_causes(of([BUFFERS], cause(because=(BUFFERS.title,)), *others))) == {
        "Also possible": "CAUSE-07.",
        "Excluded": "CAUSE-03 and 04.",
        "Not examined": "1 of 5 causes: `racwire explain causes`.",
    }
    assert [label for label, _ in other_causes(of([], *others))] == ["Not examined"]


@pytest.mark.parametrize(
    ("sentence", "most", "expected"),
    [
        ("short.", 20, "short."),
        ("prac1 and prac2 lost 41 of 1,645 blocks in 4.1 s, most of them prac2's.", 60,
         "prac1 and prac2 lost 41 of 1,645 blocks in 4.1 s"),
        ("one two three four five six seven eight nine", 20, "one two three four …"),
        ("rac2 dropped 6 packets (under 0.1 % of those that it received) on eth2.", 50, "rac2 dropped 6 packets …"),
        ("x" * 50, 20, "x" * 18 + " …"),
        ("a,b" * 20, 20, ("a,b" * 20)[:18] + " …"),
    ],
)  # fmt: skip
def test_a_sentence_is_shortened_between_clauses(sentence, most, expected):
    assert shortened(sentence, most) == expected


def test_the_summary_begins_with_the_cause_and_counts_what_it_does_not_explain():
    other = finding("IC-GRID-006", Status.WARN)
    report = of([LOST, BUFFERS, other], cause(because=(BUFFERS.title,), explains=(LOST.title,)))
    assert headline(report) == BUFFERS.title
    assert sentences(report)[0] == "There is also 1 warning that the cause does not explain."
    assert first_steps(report) == BUFFERS.next


def test_markdown_begins_with_the_cause_and_its_steps():
    report = report_of(black_hole())
    report = msgspec.structs.replace(report, diagnosis=diagnose(report.cluster, report.findings))
    text = to_markdown(report).decode()
    order = ["# ", "CAUSE-12", "**Because**", "**Next**", "**CHANGE**", "- Cluster: prodrac", "## Problems", "Why it"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


def test_json_has_the_diagnosis_before_the_facts_and_in_the_schema():
    report = of([BUFFERS], cause(because=(BUFFERS.title,), nodes=("rac2",), networks=(NET,), lost_blocks=22))
    written = to_json(report)
    assert written.index(b'"diagnosis"') < written.index(b'"cluster": {') < written.index(b'"findings"')
    assert from_json(written) == report
    described = msgspec.json.decode(schema())["$defs"]
    assert {"nodes", "networks", "places", "lost_blocks", "headline", "explains"} <= set(
        described["Hypothesis"]["properties"]
    )
    assert "diagnosis" in described["ReportDocument"]["properties"]
    old = msgspec.json.decode(written)
    del old["diagnosis"]
    assert from_json(msgspec.json.encode(old)).diagnosis == Diagnosis()
