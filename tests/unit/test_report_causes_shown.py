"""The entries of a report in a pane, in Markdown, in JSON, and in a redacted file."""

import msgspec
import pytest

from checks.model.finding import Status
from checks.model.hypothesis import Certainty, Diagnosis, Footprint, How, Place
from checks.model.traffic import Traffic
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.redactor import Redactor
from checks.report.causes import cause_entries
from checks.report.json_report import from_json, schema, to_json
from checks.report.markdown import to_markdown
from checks.report.summary import first_steps, headline, sentences
from tests.unit.test_report_causes import BUFFERS, LOST, NET, SHOWN, cause, finding, key, keys, of
from tui.text.abridged import shortened
from tui.text.entry_lines import pane_entry_lines
from tui.text.line import plain


@pytest.mark.parametrize("width", [29, 38, 62])
def test_in_a_pane_the_sentence_is_before_the_codes_and_each_code_is_whole(width):
    codes = ("CAUSE-01", "CAUSE-08", "CAUSE-20", "CAUSE-21")
    alike = [cause(code, Certainty.SUPPORTED, entry=1, shown_by=keys(BUFFERS)) for code in codes]
    report = of([BUFFERS], *alike)
    entry = cause_entries(report)[0]
    lines = [plain([line]) for line in pane_entry_lines(entry, report, width, "", entry.next)]
    assert lines[0] == BUFFERS.title
    head = " ".join(" ".join(lines[1 : lines.index("")]).split())
    assert head == "FAIL supported: CAUSE-01, CAUSE-08, CAUSE-20 or CAUSE-21"
    assert all(len(line) <= width for line in lines[: lines.index("")])


@pytest.mark.parametrize(
    ("sentence", "most", "expected"),
    [
        ("short.", 20, "short."),
        ("prac1 and prac2 lost 41 of 1,645 blocks in 4.1 s, most of them prac2's.", 60,
         "prac1 and prac2 lost 41 of 1,645 blocks in 4.1 s"),
        ("one two three four five six seven eight nine", 20, "one two three four …"),
        ("rac2 dropped 6 packets (under 0.1 % of those that it received) on eth2.", 50, "rac2 dropped 6 packets …"),
        ("x" * 50, 20, "x" * 19 + "…"),
        ("a,b" * 20, 20, "…"),
    ],
)  # fmt: skip
def test_a_sentence_is_shortened_between_clauses(sentence, most, expected):
    assert shortened(sentence, most) == expected


def test_the_summary_begins_with_the_cause_and_counts_what_it_does_not_explain():
    other = finding("IC-GRID-006", Status.WARN)
    report = of([LOST, BUFFERS, other], SHOWN)
    assert headline(report) == BUFFERS.title
    assert sentences(report)[0] == "There is also 1 warning that the cause does not explain."
    assert first_steps(report) == BUFFERS.next


def test_markdown_begins_with_the_cause_and_its_steps():
    text = to_markdown(of([LOST, BUFFERS], SHOWN)).decode()
    order = ["# ", "CAUSE-02", "**Because**", "**Explains**", "**Next**", "**CHANGE**", "- Cluster: prodrac", "## Prob"]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


def test_json_has_the_diagnosis_before_the_facts_and_in_the_schema():
    place = Place(networks=(NET,), nodes=("rac2",), text="the receive buffers of rac2")
    loses = Footprint(how=How.SHARE, traffic=Traffic(receivers=("rac2",), protocols=("udp",)))
    shown = msgspec.structs.replace(SHOWN, place=place, footprint=(loses,), lost_blocks=22)
    report = of([LOST, BUFFERS], shown)
    written = to_json(report)
    assert written.index(b'"diagnosis"') < written.index(b'"cluster": {') < written.index(b'"findings"')
    assert from_json(written) == report
    described = msgspec.json.decode(schema())
    assert described["$id"] == "racwire-report/2"
    of_cause = set(described["$defs"]["Hypothesis"]["properties"])
    assert {"place", "footprint", "entry", "shown_by", "explains", "in_part", "together", "hides"} <= of_cause
    assert "diagnosis" in described["$defs"]["ReportDocument"]["properties"]
    old = msgspec.json.decode(written)
    del old["diagnosis"]
    assert from_json(msgspec.json.encode(old)).diagnosis == Diagnosis()


def test_a_report_of_0_2_0_keeps_its_findings_and_not_its_diagnosis_by_titles():
    report = of([LOST, BUFFERS], SHOWN)
    old = msgspec.json.decode(to_json(report))
    old["schema"] = "racwire-report/1"
    old["diagnosis"] = {
        "hypotheses": [{"cause": "CAUSE-02", "name": "x", "standing": "proved", "explains": [LOST.title]}],
        "unexplained": [LOST.title],
    }
    read = from_json(msgspec.json.encode(old))
    assert read.findings == report.findings
    assert read.diagnosis == Diagnosis()
    assert read.schema == "racwire-report/2"


def test_the_keys_of_a_redacted_report_are_those_of_its_findings():
    first, second = (finding("IC-UDP-002", title=f"{node} is wrong.", network=NET) for node in ("rac1", "rac2"))
    shown = cause(shown_by=(key(first), key(second, 1)), explains=keys(LOST))
    report = of([first, second, LOST], shown, unexplained=keys(LOST))
    redacted = Redactor(Pseudonyms()).report(report)
    (entry,), (was,) = cause_entries(redacted), cause_entries(report)
    places = [redacted.findings.index(f) for f in entry.all_findings]
    assert places == [report.findings.index(f) for f in was.all_findings]
    assert redacted.findings_of(redacted.diagnosis.unexplained) == (redacted.findings[2],)
    assert NET not in str(redacted.diagnosis)
