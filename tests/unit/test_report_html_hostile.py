"""Hostile text and hostile figures in the page: shown, and neither obeyed nor fatal."""

import math

import msgspec
import pytest

from checks.model.facts import CounterChange, KernelCounters
from checks.model.finding import Magnitude, Status
from checks.model.journal import Entry
from checks.model.report import Rerun
from checks.report.html.html_page import to_html
from checks.report.report_evidence import Evidence
from checks.traffic.samples import Gap, InstanceSample, InterfaceCounts, Link, Links, NodeSample
from checks.traffic.source_id import SourceId
from checks.traffic.timeline import Timeline
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import asked, counters, period
from tests.fixtures.hostile import TEXTS, hostile_report
from tests.fixtures.reports import black_hole, report_of
from tests.unit.html_support import Page, losing_report, name_of

OWN = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "p", "b", "h1", "h2", "h3", "ul", "ol", "li", "dl",
    "dt", "dd", "div", "main", "section", "nav", "article", "span", "table", "thead", "tbody", "tr", "th", "td", "pre",
    "code", "small", "details", "summary", "figure", "figcaption", "footer", "br", "svg", "desc", "path", "rect",
    "circle", "line", "polyline", "text",
}  # fmt: skip
"""All elements that the page is made of."""

ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "id", "href", "aria-label", "aria-labelledby", "role",
    "tabindex", "scope", "title", "viewBox", "preserveAspectRatio", "d", "vector-effect", "x", "y", "width", "height",
    "cx", "cy", "r", "x1", "y1", "x2", "y2", "points", "text-anchor",
}  # fmt: skip


def hostile_track() -> Timeline:
    """Sources with hostile names, and figures that no counter can have."""
    track = Timeline()
    for number, text in enumerate(TEXTS):
        node, huge = f"rac1{text}", 2**63
        counts = InterfaceCounts(rx_bytes=huge, tx_bytes=-1, rx_packets=0)
        track.add(
            [
                Links(node, 1.0, (Link(f"eth1{text}", network=f"net{text}"),)),
                NodeSample(node, 2.0 + number, 1.0, {f"eth1{text}": counts}, {"Ip.ReasmFails": huge}),
                InstanceSample(f"prod{text}", 1, node, 2.0 + number, 1.0, {"gc blocks lost": huge}),
                Gap(SourceId.node(node), 3.0 + number, text),
            ]
        )
    return track


@pytest.fixture(scope="module")
def page() -> Page:
    """A report with all its possible parts, each text hostile."""
    return Page(hostile_report(), hostile_track())


def test_hostile_text_makes_no_element_and_no_attribute(page):
    assert {name_of(e) for e in page.all()} <= OWN
    assert {name for e in page.all() for name in e.attrib} <= ATTRIBUTES
    assert all(a.get("href").startswith("#") for a in page.all("a"))


def test_hostile_text_is_shown_escaped(page):
    page_text = page.text()
    for shown in ("<script>alert(1)</script>", "\\x1b[2J", "\\x202e", "\\xd800", "]]>", "{{7*7}}", "&lt;&#60;&amp;"):
        assert shown in page_text


def test_no_control_character_remains(page):
    odd = {c for c in page.source if (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0}
    turning = {c for c in page.source if c in "\u061c\u200e\u200f\u202a\u202e\u2066\u2069\u2028\ufeff"}
    assert odd | turning == set()


@pytest.mark.parametrize("text", ["<script>", '"><img src=x onerror=alert(1)>', "]]>", "\ud800", "\x1b[2J", "\u202e"])
def test_a_node_name_is_only_text(text):
    built = black_hole(2)
    nodes = tuple(msgspec.structs.replace(node, name=f"{node.name}{text}") for node in built.read_nodes())
    page = Page(report_of(msgspec.structs.replace(built, nodes=nodes, local_node=f"rac1{text}")))
    assert {name_of(e) for e in page.all()} <= OWN


def test_a_line_of_64_kilobytes_is_truncated_and_readable_on_any_screen():
    entry = Entry("rac1", "x", "y" * 65_536, "2026-11-20T14:02:31+01:00", text="z" * 65_536)
    page = Page(msgspec.structs.replace(report_of(cluster(2)), journal=(entry,)))
    assert "z" * 12_000 in page.source
    assert "z" * 12_001 not in page.source
    assert "Cut here: 53,536 more characters" in page.text("journal")


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e308, -1.0])
def test_invalid_figures_are_harmless(number):
    report = losing_report()
    assert report.cluster.activity.instances
    built = asked(
        2,
        activity=msgspec.structs.replace(report.cluster.activity, seconds=number),
        counters=counters(
            2, CounterChange("rac1", number, KernelCounters({"Ip": {"ReasmFails": 10**30}})), seconds=number
        ),
    )
    first, *others = report.findings
    odd = msgspec.structs.replace(
        report,
        cluster=built,
        duration_s=number,
        findings=(msgspec.structs.replace(first, extent=Magnitude(number, "paths")), *others),
        journal=(Entry("rac1", "x", "y", "z", number),),
        reruns=(Rerun(check="x", started_at="", duration_s=number, entries=0),),
        settings={"probe": {"packets": number}},
    )
    track = Timeline()
    track.add([NodeSample("rac1", number, number, {"eth1": InterfaceCounts(rx_bytes=1)}, {"Ip.ReasmFails": 1})])
    track.add([NodeSample("rac1", 2.0, number), InstanceSample("prod1", 1, "rac1", 3.0, number, {"gc blocks lost": 1})])
    assert first.title in Page(odd, track).text()


def test_huge_counts_of_the_history_are_harmless():
    report = losing_report()
    parts = tuple(msgspec.structs.replace(period(1, day, 1), lost=10**400) for day in (14, 15))
    past = msgspec.structs.replace(report.cluster.history, periods=parts)
    odd = msgspec.structs.replace(report, cluster=msgspec.structs.replace(report.cluster, history=past))
    assert Page(odd).all("article")


def test_a_status_is_shown_by_its_word_and_not_only_by_colour():
    report = hostile_report()
    for article in Page(report).all("article"):
        status = article.get("class").split()[0].upper()
        assert status in {str(s) for s in Status}
        assert status in "".join(article.find("header/h3").itertext())


def test_the_page_is_encoded_in_utf_8():
    assert to_html(Evidence(hostile_report())).decode("utf-8").startswith("<!DOCTYPE html>")
