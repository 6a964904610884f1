"""The report as JUnit XML: read back by an independent parser, and held to the schema that build servers share."""

import re
from collections.abc import Callable
from xml.etree.ElementTree import Element, fromstring

import junitparser
import msgspec
import pytest

from checks.model.facts import NotAsked
from checks.model.finding import Finding, NextStep, Status, Table, Waived
from checks.model.report import Report, Rerun, WaiverStanding
from checks.report.junit import to_junit
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import asked
from tests.fixtures.hostile import hostile_report
from tests.fixtures.reports import black_hole, report_of

Rule = Callable[[str], object]


def token(value: str) -> object:
    """One line, no blanks at its ends, never two together."""
    return value == " ".join(value.split())


def named(value: str) -> object:
    """A token that is not empty."""
    return value and token(value)


def text(_: str) -> object:
    """Any."""
    return True


number: Rule = re.compile(r"\d{1,9}").fullmatch
decimal: Rule = re.compile(r"\d+(\.\d+)?").fullmatch
moment: Rule = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d").fullmatch

OPTIONAL = {"skipped": {"message"}, "failure": {"message"}, "error": {"message"}, "testsuite": {"skipped"}}
ATTRIBUTES: dict[str, dict[str, Rule]] = {
    "testsuites": {},
    "testsuite": {
        "name": named, "package": token, "id": number, "timestamp": moment, "hostname": named, "tests": number,
        "failures": number, "errors": number, "skipped": number, "time": decimal,
    },
    "properties": {},
    "property": {"name": named, "value": text},
    "testcase": {"name": token, "classname": token, "time": decimal},
    "skipped": {"message": text},
    "failure": {"message": text, "type": text},
    "error": {"message": text, "type": text},
    "system-out": {},
    "system-err": {},
}  # fmt: skip
CHILDREN = {
    "testsuites": r"(testsuite )*",
    "testsuite": r"properties (testcase )*system-out system-err ",
    "properties": r"(property )*",
    "testcase": r"((skipped|failure|error) )?",
}
"""The order of children, as a pattern; those that are not named here have none. After windyroad's JUnit.xsd."""


def hold_to_the_schema(element: Element) -> None:
    """The element and all in it are as the schema wants them."""
    rules, tag = ATTRIBUTES[element.tag], element.tag
    assert set(element.attrib) <= set(rules), tag
    assert set(rules) - set(element.attrib) <= OPTIONAL.get(tag, set()), tag
    for name, value in element.attrib.items():
        assert rules[name](value), (tag, name, value)
    assert re.fullmatch(CHILDREN.get(tag, ""), "".join(f"{child.tag} " for child in element)), tag
    for child in element:
        hold_to_the_schema(child)


def parsed(report: Report) -> Element:
    """The document, which holds to the schema: its numbers and its counts, too."""
    root = fromstring(to_junit(report))
    hold_to_the_schema(root)
    assert [suite.get("id") for suite in root] == [str(n) for n in range(len(root))]
    for suite in root:
        for ended, counted in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            assert suite.get(counted) == str(len(suite.findall(f"testcase/{ended}")))
        assert suite.get("tests") == str(len(suite.findall("testcase")))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names) == len(report.findings)
    return root


def of(*findings: Finding, **more: object) -> Report:
    return msgspec.structs.replace(report_of(cluster(2)), findings=findings, **more)


def finding(status: Status, **more: object) -> Finding:
    fields = {"code": "T-UNIT-001", "check": "df-ping", "title": "Blocks get lost.", **more}
    return Finding(status=status, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "report", [report_of(cluster(1)), report_of(black_hole(4)), report_of(asked(2)), hostile_report(), of()]
)
def test_the_document_matches_the_common_schema(report):
    parsed(report)


def test_an_independent_parser_reads_the_same_counts_and_names():
    report = report_of(asked(black_hole(3)))
    suites = list(junitparser.JUnitXml.fromstring(to_junit(report)))
    assert {suite.name for suite in suites} == {f.check for f in report.findings}
    assert sum(suite.tests for suite in suites) == len(report.findings)
    assert sum(suite.failures for suite in suites) == report.count(Status.FAIL) == 1
    results = [case for suite in suites for case in suite if case.result]
    assert len(results) == sum(suite.failures + suite.errors + suite.skipped for suite in suites)
    failed = [case for case in results if isinstance(case.result[0], junitparser.Failure)]
    assert [(case.name, case.classname) for case in failed] == [
        ("IC-PATH-003 192.168.11.0/24, rac1, rac2", "racwire.df-ping")
    ]
    assert [(r.type, r.message) for r in failed[0].result] == [
        (
            "IC-PATH-003",
            "Jumbo frames vanish on 192.168.11.0/24 between rac1 and rac2, both ways. At most 1500 bytes pass.",
        )
    ]


WAIVED = Waived("The switch is replaced.", "Ann Lee", "2027-01-31")


@pytest.mark.parametrize(
    ("status", "waived", "result", "message"),
    [
        (Status.PASS, None, None, None),
        (Status.INFO, None, None, None),
        (Status.WARN, None, None, None),
        (Status.FAIL, None, "failure", "Blocks get lost."),
        (Status.UNKNOWN, None, "error", "Blocks get lost."),
        (Status.SKIPPED, None, "skipped", "Blocks get lost."),
        (Status.FAIL, WAIVED, "skipped", "FAIL, waived until 2027-01-31 by Ann Lee: The switch is replaced."),
        (Status.WARN, WAIVED, "skipped", "WARN, waived until 2027-01-31 by Ann Lee: The switch is replaced."),
        (Status.UNKNOWN, WAIVED, "skipped", "UNKNOWN, waived until 2027-01-31 by Ann Lee: The switch is replaced."),
    ],
)
def test_each_status_maps_to_its_result(status, waived, result, message):
    [case] = parsed(of(finding(status, waived=waived))).iter("testcase")
    assert [(child.tag, child.get("message")) for child in case] == ([(result, message)] if result else [])


def test_a_warning_passes_is_counted_and_appears_in_the_output_of_its_suite():
    [suite] = parsed(of(finding(Status.WARN, seen=("1 of 20 lost",)), finding(Status.PASS, title="Fine.")))
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    assert (properties["warnings"], properties["cluster"], properties["racwire"]) == ("1", "prodrac", "1.2.3")
    assert suite.findtext("system-out") == (
        "WARN T-UNIT-001: Blocks get lost.\nSeen: 1 of 20 lost\nPASS T-UNIT-001: Fine."
    )


def test_a_failure_has_all_parts_of_the_finding():
    failure = finding(
        Status.FAIL,
        seen=("37 lost",),
        expected=("0 lost",),
        why="A block that is lost is asked for again.",
        table=Table(("to", "rac1"), (("rac2", "37"),), "blocks lost"),
        next=(NextStep("Look.", ("ip -s link",), "root on rac1"), NextStep("Mend it.", is_change=True)),
    )
    assert parsed(of(failure)).findtext(".//failure") == (
        "Blocks get lost.\nSeen: 37 lost\nto | rac1\nrac2 | 37\nblocks lost\nExpected: 0 lost\n"
        "Why: A block that is lost is asked for again.\n"
        "Next 1: Look. (root on rac1)\n    ip -s link\nNext 2: CHANGE Mend it."
    )


def test_names_are_unique_and_stay_the_same_when_figures_change():
    def names(lost: int) -> list[str | None]:
        places: list[dict[str, object]] = [
            {"nodes": ("rac1",)},
            {"nodes": ("rac1",)},
            {"network": "192.168.10.0/24"},
            {},
        ]
        found = (finding(Status.FAIL, title=f"{lost} lost.", subject=f"{lost} lost", **place) for place in places)
        return [case.get("name") for case in parsed(of(*found)).iter("testcase")]

    assert (
        names(1) == names(37) == ["T-UNIT-001 rac1", "T-UNIT-001 rac1 (2)", "T-UNIT-001 192.168.10.0/24", "T-UNIT-001"]
    )
    named_alike = [finding(Status.PASS, nodes=(node,)) for node in ("rac1", "rac1 (2)", "rac1", "rac1")]
    assert len({case.get("name") for case in parsed(of(*named_alike)).iter("testcase")}) == 4


def properties(suite: Element) -> dict[str | None, str | None]:
    return {each.get("name"): each.get("value") for each in suite.iter("property")}


def test_a_saved_state_is_marked_with_the_time_of_its_checks():
    [suite] = parsed(of(finding(Status.PASS), saved_at="2026-11-21T22:00:00+01:00"))
    assert properties(suite)["saved"] == "2026-11-21T22:00:00+01:00"
    assert properties(suite)["begun"] == "2026-11-20T14:02:31.000+01:00"
    [live] = parsed(of(finding(Status.PASS)))
    assert "saved" not in properties(live)


def test_each_waiver_is_listed_with_its_status():
    def waiver(code: str, check: str, standing: str, why: str) -> WaiverStanding:
        return WaiverStanding(
            code=code, subject="eth2 rac1", reason="Mended in January.", by="Ann Lee", expires="2027-01-31",
            standing=standing, why=why, check=check,
        )  # fmt: skip

    waivers = (
        waiver("IC-PATH-003", "df-ping", "lifted", "It is worse: 40 %."),
        waiver("IC-MTU-002", "interfaces", "in force", ""),
        waiver("IC-BOOT-002", "boot-mtu", "not checked", "The check did not run."),
    )
    report = of(finding(Status.PASS), finding(Status.PASS, check="interfaces"), waivers=waivers)
    of_path, of_interfaces = map(properties, parsed(report))
    waived = "until 2027-01-31 by Ann Lee: Mended in January."
    assert of_path["waiver IC-PATH-003 eth2 rac1"] == f"lifted, {waived} It is worse: 40 %."
    assert of_path["waiver IC-BOOT-002 eth2 rac1"] == f"not checked, {waived} The check did not run."
    assert of_interfaces["waiver IC-MTU-002 eth2 rac1"] == f"in force, {waived}"
    assert "waiver IC-BOOT-002 eth2 rac1" not in of_interfaces


def test_times_are_those_of_the_run_of_each_check_and_add_up():
    again = Rerun(check="df-ping", started_at="2026-11-20T14:03:00.500+01:00", duration_s=2.5, entries=0)
    checks = ("df-ping", "interfaces", "boot-mtu")
    report = of(*(finding(Status.PASS, check=check) for check in checks), reruns=(again,))
    suites = {s.get("name"): (s.get("timestamp"), s.get("time"), s.get("hostname")) for s in parsed(report)}
    assert suites == {
        "df-ping": ("2026-11-20T14:03:00", "2.500", "rac1"),
        "interfaces": ("2026-11-20T14:02:31", "1.234", "rac1"),
        "boot-mtu": ("2026-11-20T14:02:31", "0.000", "rac1"),
    }


def test_a_report_without_times_and_names_still_matches_the_schema():
    nameless = msgspec.structs.replace(cluster(1), local_node=" ", database=NotAsked(""))
    report = of(
        finding(Status.FAIL, code="", check=" \n"), started_at="yesterday", duration_s=float("nan"), cluster=nameless
    )
    [suite] = parsed(report)
    assert (suite.get("timestamp"), suite.get("hostname"), suite.get("time")) == (
        "1970-01-01T00:00:00",
        "localhost",
        "0",
    )


def test_characters_that_xml_forbids_are_written_as_escapes():
    evil = "\x00\x1b[2J\x9b\uffff\ud800]]><b>&amp;\r\n"
    [case] = parsed(of(finding(Status.FAIL, title=evil))).iter("testcase")
    assert case[0].get("message") == "\\x00\\x1b[2J\\x9b\\xffff\\xd800]]><b>&amp;\\x0d\\x0a"
    assert case[0].text == "\\x00\\x1b[2J\\x9b\\xffff\\xd800]]><b>&amp;\\x0d\n"
