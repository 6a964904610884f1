"""The report as a page of HTML: valid, whole, and with nothing in it that runs or is fetched."""

import itertools
import re

import msgspec
import pytest

from checks.model.facts import Unknown
from checks.model.finding import Finding, NextStep, Status, Waived
from checks.model.journal import Entry
from checks.model.report import Report, Rerun, WaiverStanding
from checks.report.html.html_page import to_html
from checks.report.html.output_section import MOST_IN_ALL, MOST_OF_ONE
from checks.report.report_evidence import Evidence
from checks.report.summary import headline
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import asked
from tests.fixtures.large import large_report, large_track
from tests.fixtures.reports import black_hole, report_of
from tests.unit.html_support import Page, losing_report, name_of, words

RUNS = {"script", "iframe", "object", "embed", "link", "base", "form", "img", "audio", "video", "foreignObject", "use"}
ADDRESSES = {"src", "srcset", "action", "formaction", "data", "poster", "background", "style", "ping"}


def changed(report: Report, **changes: object) -> Report:
    return msgspec.structs.replace(report, **changes)


def with_first(report: Report, **changes: object) -> Report:
    """The report with its first finding changed."""
    first, *others = report.findings
    return changed(report, findings=(msgspec.structs.replace(first, **changes), *others))


REPORTS = {
    "healthy": lambda: report_of(cluster(2)),
    "database": lambda: report_of(asked(2)),
    "black hole": lambda: report_of(black_hole(4)),
    "losing": losing_report,
    "one node": lambda: report_of(cluster(1)),
    "nothing known": lambda: report_of(
        msgspec.structs.replace(cluster(2), nodes=Unknown("?"), networks=Unknown("?"), clusterware=Unknown("?"))
    ),
    "interrupted": lambda: report_of(cluster(2), interrupted=True),
}


@pytest.fixture(scope="module", params=REPORTS)
def page(request: pytest.FixtureRequest) -> Page:
    """Each kind of report, with the samples of two nodes where it is of several."""
    return Page(REPORTS[request.param](), large_track(2, 8) if request.param != "one node" else None)


def test_the_page_runs_and_fetches_nothing(page):
    assert not {name_of(e) for e in page.all()} & RUNS
    attributes = [(name, value) for e in page.all() for name, value in e.attrib.items()]
    assert not [name for name, _ in attributes if name.lower().startswith("on") or name in ADDRESSES]
    assert all(value.startswith("#") for name, value in attributes if name.endswith("href"))
    assert not re.search(r"url\(|@import|expression", words(page.all("style")[0]))
    (policy,) = [m.get("content") for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_every_anchor_is_unique_and_every_link_has_one(page):
    anchors = [e.get("id") for e in page.all() if e.get("id")]
    assert len(anchors) == len(set(anchors))
    assert {a.get("href")[1:] for a in page.all("a")} <= set(anchors)


def test_headings_are_nested_correctly_and_tables_have_header_scopes(page):
    levels = [int(name_of(e)[1]) for e in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in itertools.pairwise(levels))
    assert all(head.get("scope") in ("col", "row") for head in page.all("th"))
    assert page.all("html")[0].get("lang") == "en"


def test_the_page_begins_with_the_headline():
    report = losing_report()
    page = Page(report)
    assert words(page.all("h1")[0]) == headline(report)
    assert words(page.all("title")[0]) == f"prodrac: {headline(report)}"
    assert "2026-11-20 14:02:31 +01:00" in page.text("top")


@pytest.mark.parametrize("name", REPORTS)
def test_every_finding_and_every_remedy_is_on_the_page(name):
    report = REPORTS[name]()
    shown = Page(report).text()
    for finding in report.findings:
        assert finding.title in shown
        assert finding.code in shown
    for entry in report.journal:
        assert entry.action in shown


def test_a_problem_has_seen_expected_next_and_why():
    report = report_of(black_hole())
    problem = next(f for f in report.findings if f.status is Status.FAIL)
    page = Page(report)
    labels = [words(e) for e in page.by_id("p1").iter() if name_of(e) == "dt"]
    assert labels == ["Seen", "Expected", "Next", "Why", "Sources"]
    shown = page.text("p1")
    assert all(part in shown for part in (*problem.seen, *problem.expected, problem.why, *problem.sources))
    commands = {words(e) for e in page.by_id("p1").iter() if name_of(e) == "pre"}
    assert {" ".join(" ".join(r.commands).split()) for r in problem.next if r.commands} <= commands


def test_a_change_is_marked_wherever_it_stands():
    steps = (NextStep("Look.", ("ip link",), "root on rac2"), NextStep("Raise it.", is_change=True))
    page = Page(with_first(report_of(black_hole()), next=steps))
    for part in ("first", "p1"):
        items = [words(e) for e in page.by_id(part).iter() if name_of(e) == "li"]
        assert items == ["Look. (root on rac2) ip link", "CHANGE Raise it."]


def test_linked_problems_link_to_each_other():
    page = Page(losing_report())
    lead = {
        article.get("id"): {a.get("href") for a in article.iter("a") if a.get("href").startswith("#p")}
        for article in page.all("article")
    }
    assert lead == {"p1": {"#p2"}, "p2": {"#p1"}}


def test_unknown_results_with_one_reason_show_it_once():
    report = report_of(cluster(2))
    one, other = (
        Finding(code=f"IC-X-00{n}", check=f"check-{n}", status=Status.UNKNOWN, title=f"Not known {n}.", seen=("ssh",))
        for n in (1, 2)
    )
    page = Page(changed(report, findings=(one, other)))
    (article,) = page.all("article")
    assert "Same reason Not known 2. IC-X-002 check-2" in words(article)
    assert "1 entry for 2 findings: findings that are unknown for the same reason share one entry." in page.text(
        "contents"
    )
    assert "findings" not in Page(changed(report, findings=(one,))).text("contents")


def test_checks_that_lack_the_same_fact_are_one_entry():
    lacking = tuple(
        Finding(
            code="RW-ENGINE-001", check=check, status=Status.UNKNOWN, title=f"{check} could not tell: no grant.",
            seen=("GRANT it",),
        )
        for check in ("df-ping", "interfaces", "boot-mtu")
    )  # fmt: skip
    shown = Page(changed(report_of(cluster(2)), findings=lacking)).text("contents")
    assert "1 entry for 3 findings: findings that are unknown for the same reason share one entry." in shown


def test_waived_findings_are_shown_marked_and_not_counted():
    waived = Waived("The switch is replaced.", "Ann Lee", "2027-01-31")
    standing = WaiverStanding(
        code="IC-PATH-003", subject="eth2", reason="old switch", by="Ann Lee", expires="2027-01-31",
        standing="lifted", why="4 paths now, 2 then.",
    )  # fmt: skip
    page = Page(changed(with_first(report_of(black_hole()), waived=waived), waivers=(standing,)))
    assert "Waived until 2027-01-31 by Ann Lee: The switch is replaced." in page.text("p1")
    assert "FAIL" not in page.text("top")
    assert "1 waived, not counted" in page.text("top")
    for part in ("IC-PATH-003 eth2", "lifted", "4 paths now, 2 then.", "old switch", "Ann Lee", "2027-01-31"):
        assert part in page.text("waivers")


def test_the_page_ends_with_a_newline():
    assert Page(report_of(cluster(2))).source.endswith("</html>\n")


def test_a_page_without_waivers_says_so():
    assert page_text("waivers") == "Waivers The settings contain no waivers."


def page_text(anchor: str) -> str:
    return Page(report_of(cluster(2))).text(anchor)


def test_saved_interrupted_and_redacted_reports_are_marked_at_the_top():
    report = changed(
        report_of(cluster(2), interrupted=True), saved_at="2026-11-20T15:00:00+01:00", is_redacted=True,
        reruns=(Rerun(check="df-ping", started_at="2026-11-20T14:30:00+01:00", duration_s=1.0, entries=0),),
    )  # fmt: skip
    page = Page(report)
    for part in ("interrupted before all checks", "a saved state of 2026-11-20 14:02:31 +01:00", "pseudonyms"):
        assert part in page.text("top")
    assert "df-ping was run again at 2026-11-20 14:30:00 +01:00" in page.text("journal")


# --- outputs ----------------------------------------------------------------------------------------------------------


def with_journal(*entries: Entry) -> Report:
    """Two problems that both point at all of them."""
    report = report_of(black_hole(2))
    references = tuple((e.node, e.topic) for e in entries)
    problem = next(f for f in report.findings if f.status is Status.FAIL)
    points = tuple(msgspec.convert({"node": n, "topic": t}, type=type(problem.evidence[0])) for n, t in references)
    two = (msgspec.structs.replace(problem, evidence=points, code=f"IC-X-{n}") for n in (1, 2))
    return changed(report, findings=tuple(two), journal=entries)


def entry(topic: str, text: str, **more: object) -> Entry:
    return Entry("rac1", topic, f"cat {topic}", "2026-11-20T14:02:31.100+01:00", 80.0, text=text, **more)  # type: ignore[arg-type]


def test_an_output_is_below_the_first_problem_that_refers_to_it_and_nowhere_else():
    page = Page(with_journal(entry("a", "once and only")))
    assert page.source.count("once and only") == 1
    assert "once and only" in page.text("p1")
    assert [a.get("href") for a in page.by_id("p2").iter("a") if words(a) == "rac1 a"] == ["#o1"]
    assert "cat a 80 ms ok; a" in page.text("journal")


def test_an_output_without_a_problem_is_in_the_journal():
    report = changed(report_of(cluster(2)), journal=(entry("a", "only here"), entry("b", "", outcome="it hung")))
    shown = Page(report).text("journal")
    assert "only here" in shown
    assert "80 ms it hung" in shown
    assert "2 actions, 1 of these failed." in shown


def test_truncation_of_an_output_is_stated():
    page = Page(with_journal(entry("a", "x" * (MOST_OF_ONE + 1_234))))
    assert "x" * MOST_OF_ONE in page.text("p1")
    assert "x" * (MOST_OF_ONE + 1) not in page.source
    assert "Cut here: 1,234 more characters. The JSON report and the saved file contain them." in page.text("p1")


def test_outputs_without_room_are_named():
    many = [entry(f"t{n}", "<" * MOST_OF_ONE) for n in range(10)]
    page = Page(with_journal(*many))
    assert page.source.count("&lt;") * len("&lt;") <= MOST_IN_ALL
    assert "No room for these 12,000 characters" in page.text("p1")
    assert all(f"cat t{n}" in page.text("journal") for n in range(10))


def test_a_long_query_is_shown_by_its_start_and_in_full_below():
    query = f"SELECT s.inst_id,\n       s.name\n  FROM gv$sysstat s\n WHERE s.inst_id IN ({'1, ' * 40}2)"
    report = changed(report_of(cluster(2)), journal=(Entry("rac1", "sql", query, "2026-11-20T14:02:31.100+01:00"),))
    page = Page(report)
    assert words(page.by_id("journal").find(".//summary/code")).endswith(" …")
    assert any(query in "".join(e.itertext()) for e in page.all("pre"))


# --- size -------------------------------------------------------------------------------------------------------------


def test_sixteen_nodes_and_five_hundred_problems_are_smaller_than_two_megabytes():
    page = to_html(Evidence(large_report(16, 500), large_track(16, 300)))
    assert len(page) < 2_000_000
    assert page.count(b"<article") == 500
    assert page.count(b'title="rac') == 2 * 16 * 16
    assert page.count(b"<svg") == 2 * 16 + 16 + 16
