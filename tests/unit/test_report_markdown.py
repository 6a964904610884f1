"""The report as Markdown for a ticket, rendered as a tracker would, to compare the visible text."""

import re
from itertools import pairwise

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import example, given
from markdown_it import MarkdownIt
from markdown_it.token import Token

from checks.model.facts import NotAsked, Unknown
from checks.model.finding import EvidenceRef, Finding, NextStep, Status, Table, Waived
from checks.model.journal import Entry
from checks.model.report import Report, WaiverStanding
from checks.model.sanitize import sanitize
from checks.report.markdown import fence, inline, table, to_markdown
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import asked, losing
from tests.fixtures.reports import black_hole, report_of

PIECES = [*"\\`*_[]<>~|$&#@!-+=0123.):/ \t\n\r\x1bab\u00a0é", "http://x.y", "www.a", "&lt;", "&#64;", "GH-1", "<b>"]
PIECES += ["``", "mailto:a", "    ", "---", "```", "[a]: b", "<!--", "a@b.c", "x#1", "1. ", "# "]
anything = st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join))
PLAIN = {"text", "text_special", "code_inline"}


def parsed(markdown: str) -> list[Token]:
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(markdown)


def texts(markdown: str) -> list[str]:
    """The visible text of each inline token, without markup."""
    pieces = [token.children or [] for token in parsed(markdown) if token.type == "inline"]
    assert {child.type for piece in pieces for child in piece} <= PLAIN
    return ["".join(child.content for child in piece).strip() for piece in pieces]


def read(markdown: str) -> str:
    """All that a reader sees, blanks apart."""
    pieces = [token.children or [token] for token in parsed(markdown) if token.type in ("inline", "fence")]
    return " ".join(" ".join(child.content for child in piece) for piece in pieces)


def plain(text: str) -> str:
    return sanitize(re.sub(r"[ \t\n]+", " ", text)).strip()


def of(*findings: Finding, **more: object) -> Report:
    return msgspec.structs.replace(report_of(cluster(2)), findings=findings, **more)


def finding(status: Status = Status.FAIL, title: str = "Blocks get lost.", **more: object) -> Finding:
    return Finding(code="T-MD-001", check="df-ping", status=status, title=title, **more)  # type: ignore[arg-type]


def markdown(report: Report) -> str:
    return to_markdown(report).decode()


@pytest.mark.parametrize("before", ["", "- ", "1. ", "## "])
@given(text=anything)
def test_any_text_is_rendered_unchanged(before, text):
    written = f"{before}{inline(text)}\n"
    assert "".join(texts(written)) == plain(text)
    blocks = {token.type.partition("_")[0] for token in parsed(written)}
    assert blocks <= {"inline", "paragraph", "bullet", "ordered", "list", "heading"}


@given(cells=st.lists(st.lists(anything, max_size=3).map(tuple), min_size=1, max_size=3))
def test_any_table_keeps_each_text_in_its_cell(cells):
    columns, *rows = cells
    width = max(map(len, cells))
    written = "\n".join(table(Table(columns, tuple(rows)), most=1000)) + "\n"
    expected = [plain(text) for row in cells for text in (*row, *("",) * (width - len(row)))]
    assert texts(written) == (expected if width else [])


@given(text=anything, indent=st.sampled_from([0, 3]))
@example(text="cat <<E\n```\nE\n", indent=0)
@example(text="cat <<E\n`````\n# x\nE", indent=3)
def test_any_command_stays_in_its_block(text, indent):
    start = "1. x\n\n" if indent else ""
    tokens = parsed(start + "\n".join(fence(text, indent)) + "\n\nafter\n")
    blocks = [token for token in tokens if token.type == "fence"]
    assert len(blocks) == 1
    assert [line.rstrip() for line in blocks[0].content.split("\n")[:-1]] == [
        line.rstrip() for line in sanitize(text, keep_lines=True).split("\n")
    ]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("rac1 -> rac2: 8972 bytes 0/20, no error", "rac1 -> rac2: 8972 bytes 0/20, no error"),
        ("net.ipv4.ipfrag_high_thresh is 5", "net.ipv4.ipfrag_high_thresh is 5"),
        ("GV$SYSSTAT", r"GV\$SYSSTAT"),
        ("as RACWIRE @everyone", "as RACWIRE `@everyone`"),
        ("see #12 and x/y#3", "see `#12` and `x/y#3`"),
        ("go to https://evil.example/a_b_", "go to `https://evil.example/a_b_`"),
        ("a`b@c", "``a`b@c``"),
        ("# 1. x", r"\# 1. x"),
        ("- [ ] x", r"\- \[ \] x"),
        ("1. x", r"1\. x"),
        ("&lt;b>", r"\&lt;b>"),
    ],
)
def test_only_markup_characters_are_escaped(text, written):
    assert inline(text) == written


def test_a_long_text_says_how_much_is_omitted():
    assert inline("x" * 5000, 300) == f"{'x' * 300}… (4,700 characters more)"


def test_the_headline_comes_first_then_the_facts_then_the_problems():
    document = markdown(report_of(asked(black_hole(3), activity=losing(2, 37, {1: 37}, 3))))
    assert document.startswith(
        "# Jumbo frames vanish on 192.168.11.0/24 between rac1 and rac2, both ways. At most 1500 bytes pass.\n\n"
        "There is also 1 more failure. 15 checks were skipped: address-owners (no probes), bond-balance (no bond), "
    )
    order = [
        "- Cluster: prodrac\n- Nodes: rac1 (this one), rac2, rac3\n",
        "**2 FAIL, ",
        "## Problems",
        "### FAIL: Jumbo",
        "**Seen**",
        "| rac1 |",
        "**Expected**",
    ]
    order += ["**Next**", "   ping -c 3", "**CHANGE**", "**Why it matters:**", "**Likely same cause:**", "**Sources:**"]
    order += ["### FAIL: prod2 lost 37", "## Passed", "## How this was found"]
    places = [document.index(part) for part in order]
    assert places == sorted(places)


def test_commands_are_in_code_blocks_and_tables_are_tables():
    tokens = parsed(markdown(report_of(black_hole(3))))
    commands = [token.content for token in tokens if token.type == "fence"]
    assert "ping -c 3 -M do -I 192.168.11.1 -s 8972 192.168.11.2\n" in "".join(commands)
    cells = [b.content for a, b in pairwise(tokens) if a.type in ("th_open", "td_open")]
    assert cells[:8] == ["from \\\\ to", "rac1", "rac2", "rac3", "rac1", "·", "B 1500", "P 9000"]


def test_evidence_is_listed_by_its_commands_with_the_place_of_the_output():
    journal = tuple(
        Entry(
            "rac1", f"topic {n}", f"ip -s link show\n  eth{n}", "2026-11-20T14:02:31.100+01:00", 1.0, text="1: eth1 ..."
        )
        for n in range(7)
    )
    rests = tuple(EvidenceRef("rac1", f"topic {n}") for n in range(7))
    document = markdown(of(finding(evidence=rests), journal=journal))
    commands = [f"rac1: ip -s link show eth{n}" for n in range(5)]
    assert "\n".join(["**Evidence**", "", "```", *commands, "and 2 more", "```"]) in document
    assert "The HTML report, the JSON report and the saved file contain them" in read(document)
    assert "eth1 ..." not in document
    assert "Rests on" not in markdown(of(finding()))


def test_waived_findings_and_other_waivers_are_listed_separately():
    known = finding(title="Known.", waived=Waived("The switch is replaced.", "Ann Lee", "2027-01-31"))
    standings = tuple(
        WaiverStanding(
            code="T-MD-00" + n, subject="eth2", reason="r", by="Bo", expires="2026-12-01", standing=how, why=why
        )
        for n, how, why in (("1", "in force", ""), ("2", "lifted", "It is a failure by now."))
    )
    document = markdown(of(known, finding(Status.PASS, "Fine."), waivers=standings))
    assert document.startswith("# No other problem was found")
    assert "**1 PASS, 1 waived**" in document
    waived = document.partition("## Waived\n\n")[2].partition("\n\n")[0].splitlines()
    assert waived == [
        "- FAIL T-MD-001: Known. Waived until 2027-01-31 by Ann Lee: The switch is replaced.",
        "- The waiver of T-MD-002 (eth2) by Bo, until 2026-12-01, is lifted. It is a failure by now.",
    ]


def test_passed_and_info_findings_take_a_line_each():
    document = markdown(of(finding(Status.PASS, "All well."), finding(Status.INFO, "HAIP is not in use.")))
    assert "## For information\n\n- T-MD-001: HAIP is not in use.\n\n## Passed\n\n- T-MD-001: All well.\n" in document


def test_skipped_checks_and_unreadable_facts_are_listed():
    left_out = NotAsked("No database connection is set.")
    built = cluster(2)
    limited = msgspec.structs.replace(
        built.nodes[0], unread=(Unknown("The routes of rac1 could not be read: root could."),)
    )
    report = msgspec.structs.replace(
        report_of(msgspec.structs.replace(built, nodes=(limited, built.nodes[1]), database=left_out)),
        findings=tuple(finding(Status.SKIPPED, left_out.reason, next=(NextStep("Connect."),)) for _ in range(2)),
    )
    document = markdown(report)
    assert "## Skipped\n\n- No database connection is set. Skipped: df-ping.\n" in document
    assert "## Not read\n\n- The routes of rac1 could not be read: root could.\n" in document


def test_any_report_fits_a_ticket():
    many = [
        finding(Status.FAIL, f"Number {n}: {'@x <b> ' * 200}", seen=("y" * 2000,) * 100, nodes=(f"rac{n}",))
        for n in range(500)
    ]
    document = markdown(of(*many))
    assert len(document) < 32_767, "what a field of Jira takes"
    assert "## More problems" in document
    assert re.search(r"^- and \d+ more$", document, re.MULTILINE)
    usual = [finding(Status.FAIL, f"Number {n}.", seen=("rac1: lost",) * 5) for n in range(40)]
    assert markdown(of(*usual)).count("### FAIL: Number") == 40
