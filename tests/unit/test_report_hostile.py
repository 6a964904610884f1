"""A report in which every text is hostile is harmless in every format, and its texts arrive as data."""

import html
import json
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element, fromstring

import html5lib
import jsonschema
import junitparser
import msgspec
import pytest
from markdown_it import MarkdownIt
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from checks.model.facts import Cluster
from checks.model.finding import PROBLEMS, Finding, Status, Table
from checks.model.report import Report
from checks.model.sanitize import sanitize
from checks.report.json_report import from_json, schema
from checks.report.report_evidence import Evidence
from tests.fixtures.clusters import cluster
from tests.fixtures.hostile import TEXTS, hostile_report
from tests.fixtures.reports import report_of
from tui.cli.report import FORMATS as OFFERED
from tui.cli.report_formats import FORMATS, format_of

OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ufffe\uffff]"
)
REPORT = hostile_report()


@cache
def written_as(name: str) -> str:
    """The report in that format."""
    return FORMATS[name].write(Evidence(REPORT)).decode()


def without_blanks(text: str) -> str:
    return "".join(text.split())


def titles() -> list[str]:
    """The visible text of each problem; some formats truncate long ones."""
    return [
        without_blanks(sanitize(re.sub(r"[ \t\n]+", " ", f.title)))[:200]
        for f in REPORT.findings
        if f.status in PROBLEMS
    ]


def elements(page: Element) -> Iterator[tuple[str, dict[str, str]]]:
    """The elements of a page of HTML, with their attributes."""
    for element in page.iter():
        yield str(element.tag).rpartition("}")[2], {name.rpartition("}")[2]: value for name, value in element.items()}


def test_the_hostile_report_has_every_kind_of_hostile_text():
    held = str(msgspec.to_builtins(REPORT))
    assert all(str([text])[2:-2] in held for text in TEXTS)


def test_the_formats_are_those_of_the_command_line_with_their_own_file_suffixes():
    assert sorted(FORMATS) == sorted(OFFERED)
    endings = {name: form.ending for name, form in FORMATS.items()}
    assert endings == {
        "text": ".txt", "markdown": ".md", "html": ".html", "json": ".json", "junit": ".xml", "openmetrics": ".prom",
    }  # fmt: skip
    assert all(format_of(f"a/night{form.ending}") is form for form in FORMATS.values())
    assert format_of("night.pdf") is None


@pytest.mark.parametrize("name", FORMATS)
def test_no_control_character_reaches_a_terminal(name):
    assert OBEYED.search(written_as(name)) is None


@pytest.mark.parametrize("name", FORMATS)
def test_unusual_tables_and_empty_reports_are_written_too(name):
    for table in (Table((), ()), Table(("a",), (("1", "2", "3"), ())), Table((), (("x",),))):
        odd = Finding(code="", check="", status=Status.FAIL, title="", table=table)
        FORMATS[name].write(Evidence(msgspec.structs.replace(report_of(cluster(1)), findings=(odd,))))
    bare = Report(racwire_version="", started_at="", duration_s=0, cluster=Cluster("", ""), findings=(), journal=())
    assert FORMATS[name].write(Evidence(bare))


def test_the_text_has_each_problem():
    seen = without_blanks(written_as("text"))
    # The text ends the line at these characters, where other formats write them out.
    assert all(re.sub(r"\\x(0d|0b|0c|85|2028|2029)", "", title) in seen for title in titles())


def test_json_matches_the_schema_and_round_trips():
    jsonschema.Draft202012Validator(json.loads(schema())).validate(json.loads(written_as("json")))
    expected = msgspec.convert(halves_written_out(msgspec.to_builtins(REPORT)), Report)
    assert from_json(written_as("json").encode()) == expected


def halves_written_out(value: Any) -> Any:
    """Plain data as JSON can hold it: half characters are written out, and nothing else is changed."""
    if isinstance(value, dict):
        return {halves_written_out(key): halves_written_out(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [halves_written_out(item) for item in value]
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):x}", value) if isinstance(value, str) else value


def test_markdown_escapes_markup_in_data():
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens = parser.parse(written_as("markdown"))
    inline = [child for token in tokens for child in token.children or []]
    assert not [token.content for token in (*tokens, *inline) if token.type.startswith("html")]
    assert {child.type for child in inline} <= {"text", "text_special", "code_inline", "strong_open", "strong_close"}
    assert {token.content for token in tokens if token.type == "code_block"} == set()
    headings = [after.content for token, after in pairwise(tokens) if token.type == "heading_open"]
    assert "Heading" not in headings
    bold = [after.content for token, after in pairwise(inline) if token.type == "strong_open"]
    assert not set(bold) & {"x", "bold"}
    seen = without_blanks("".join(token.content for token in (*tokens, *inline) if token.type != "inline"))
    assert all(title in seen for title in titles()[:3])


def test_data_in_markdown_makes_no_mention_and_no_link():
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table"])
    running = [
        c.content for t in parser.parse(written_as("markdown")) for c in t.children or [] if c.type != "code_inline"
    ]
    assert not [text for text in running if re.search(r"@\w|://|www\.|(?<!\w)#\d", text)]


def test_html_has_no_script_no_handler_and_no_external_address():
    page = html5lib.HTMLParser(strict=True).parse(written_as("html"))
    found = list(elements(page))
    assert not {tag for tag, _ in found} & {"script", "img", "iframe", "object", "embed", "link", "base", "form"}
    attributes = [(name, value) for _, own in found for name, value in own.items()]
    assert not [name for name, _ in attributes if name.startswith("on")]
    assert not [value for name, value in attributes if name in ("href", "src", "action") and not value.startswith("#")]
    seen = without_blanks("".join(page.itertext()).replace("\\x0a", ""))  # where a line ends is shown
    assert all(title in seen for title in titles())


def test_junit_is_valid_and_has_each_problem():
    suites = list(junitparser.JUnitXml.fromstring(written_as("junit").encode()))
    assert sum(suite.tests for suite in suites) == len(REPORT.findings)
    seen = without_blanks("".join(fromstring(written_as("junit").encode()).itertext()))
    assert all(title in seen for title in titles())


def test_openmetrics_has_one_end_and_each_code_as_a_label():
    families = list(text_string_to_metric_families(written_as("openmetrics")))
    assert [s.value for f in families for s in f.samples if f.name == "racwire_run_exit_code"] == [130]
    codes = {s.labels["code"] for f in families for s in f.samples if f.name == "racwire_finding"}
    assert {sanitize(f.code)[:127] for f in REPORT.findings if f.status in PROBLEMS} == {code[:127] for code in codes}


def test_template_syntax_in_data_is_not_expanded():
    for written in map(written_as, FORMATS):
        plain = html.unescape(written).replace("\\*", "*").replace("\\$", "$")
        assert "{{7*7}}{% raw %}${7*7}" in plain
        assert "49{%" not in plain
