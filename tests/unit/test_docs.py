"""The generated pages of `docs/`: they are up to date, and the texts of a source are found in it."""

from __future__ import annotations

import ast
import re
from difflib import unified_diff

import pytest

from checks.diagnosis.catalogue import CATALOGUE
from checks.model.check import Kind
from checks.run.check_discovery import discover
from docs.generate.__main__ import PAGES
from docs.generate.message_catalogue import (
    CHECKS,
    HELP,
    LAB,
    PYTHON,
    REASONS,
    REPORTS,
    ROOT,
    catalogue,
    escaped,
    messages_page,
)
from docs.generate.source_texts import Text, exception_names, is_text, texts_of_module, texts_of_template
from racwire_lab.cluster.faults import FAULTS

LOST = Kind("IC-X-001", "Blocks are lost", "They are read again.")
ROOM = Kind("IC-X-002", "There is no room")

CREATES_A_USER = "racwire grants --awr --statspack in checks/sources/database/grants"


@pytest.mark.parametrize("path", PAGES)
def test_a_generated_page_matches_its_source(path: str) -> None:
    written = (ROOT / path).read_text(encoding="utf-8")
    if HELP.about not in written and PAGES[path] is messages_page:
        pytest.skip(f"the page has what another Python prints than {PYTHON}")
    made = PAGES[path]()
    if written != made:  # pytest's own difference of pages that long takes longer than all else here
        difference = list(
            unified_diff(written.splitlines(), made.splitlines(), "committed", "made now", n=0, lineterm="")
        )
        pytest.fail("\n".join([f"{path} is old: run `make docs`, and commit it", *difference[:40]]), pytrace=False)


COUNTS = {
    r"(\d+) \[checks\]": len(discover().checks),
    r"knows (\d+) causes": len(CATALOGUE),
    r"Oracle's (\d+) among": sum(cause.code <= "CAUSE-26" for cause in CATALOGUE),
    r"and (\d+) faults": len(FAULTS),
}


@pytest.mark.parametrize("pattern", COUNTS)
def test_the_counts_of_the_readme_are_those_of_the_source(pattern: str) -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert [int(count) for count in re.findall(pattern, readme)] == [COUNTS[pattern]]


def texts(source: str) -> list[Text]:
    tree = ast.parse(source)
    return texts_of_module(tree, {"LOST": LOST, "ROOM": ROOM}, exception_names([tree]))


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("title = 'No block is lost.'", "No block is lost."),
        ("title = f'{node} lost {count:,} blocks.'", "{node} lost {count} blocks."),
        ('title = f\'rac2 {"is" if one else "are"} down.\'', "rac2 {is|are} down."),
        ("title = 'rac2 is' + (' not' if known else '') + ' up.'", "rac2 is{ not|} up."),
        (
            "a = f'{value(of_some, with_long, and_longer, a_word)} is up.'",
            "{value(of_some, with_long, and_longer, a…} is up.",
        ),
        ("heading = 'Worse'", "Worse"),
        ("print('  racwire is done  ')", "racwire is done"),
        ("'A docstring of the module.'", None),
        ("def f(): 'A docstring of a function.'", None),
        ("if word == 'no such node': pass", None),
        ("value = table['the key of it']", None),
        ("value = table.get('the key of it')", None),
        ("pattern = re.compile('no route to')", None),
        ("pattern = r'no (?:route|host) to'", None),
        ("sql = 'SELECT NAME FROM V$DATABASE'", None),
        ("classes = Box(classes='bar title')", None),
        ("__all__ = ['Finding']", None),
        ("name = 'df-ping'", None),
        ("name = f'{one} {other}'", None),
        ("kind = Kind('IC-X-003', 'Blocks are late')", None),
    ],
)
def test_a_text_for_people_is_found_in_the_source(source: str, found: str | None) -> None:
    assert [text.text for text in texts(source)] == ([] if found is None else [found])


def test_a_multiline_text_has_one_line_each_without_duplicates() -> None:
    assert [t.text for t in texts("a = 'One line.\\n\\n  Another line.'\nb = 'One line.'")] == [
        "One line.",
        "Another line.",
    ]


def test_texts_in_the_placeholders_of_a_text_are_found() -> None:
    assert [t.text for t in texts("a = f'At {listed([f\"node {n}\" for n in all])}.'")] == ["node {n}"], (
        "a hole and a preposition are no text"
    )
    found = [t.text for t in texts("a = f'It is at {listed([f\"node {n}\" for n in some])}.'")]
    assert found == ["It is at {listed([f'node {n}' for n in some])}.", "node {n}"]


def test_a_text_has_the_codes_of_its_call() -> None:
    (one,) = texts("LOST.finding('rac2 lost 3 blocks.')")
    assert one.codes == ("IC-X-001",)
    either = texts("(LOST if lost else ROOM).finding('rac2 lost 3 blocks.', next=[NextStep('Look at the switch.')])")
    assert [text.codes for text in either] == [("IC-X-001", "IC-X-002")] * 2
    assert [text.codes for text in texts("unknown(cluster, ROOM, 'Whether there is room')")] == [("IC-X-002",)]
    assert [text.codes for text in texts("Obstacle(code='CH-Y-001', title='Not all is up')")] == [("CH-Y-001",)]
    assert [text.codes for text in texts("Obstacle(code=ROOM.code, title='Not all is up')")] == [("IC-X-002",)]
    assert [text.codes for text in texts("NextStep('Look at the switch.')")] == [()]


def test_the_text_of_an_exception_or_unknown_fact_is_a_reason() -> None:
    source = "class OddError(ValueError): pass\nclass OdderError(OddError): pass\n"
    reasons = ["raise Odd('It is odd.')", "error = OdderError('It is odd.')", "fact = Unknown(f'{node} is odd.')"]
    assert all(text.is_reason for reason in reasons for text in texts(source + reason))
    assert [text.is_reason for text in texts(source + "print('It is odd.')")] == [False]


def test_a_key_of_the_console_is_one_text() -> None:
    assert [t.text for t in texts("Action('q', 'app.quit', 'q', 'Leave racwire.', 'quit')")] == [
        "q · Leave racwire. · quit"
    ]


def test_texts_of_a_template_are_found_between_tags_in_labels_and_in_strings() -> None:
    template = """<style>a b { color: red }</style>{# not this #}<h2 title="The way">In order</h2>{% if a %}
    <p>Waived until <b>{{ waiver.expires }}</b>.</p>{% endif %}{{ "and others" if more }}"""
    assert [t.text for t in texts_of_template(template)] == [
        "The way",
        "and others",
        "In order",
        "Waived until {waiver.expires}.",
    ]


@pytest.mark.parametrize("line", ["rac2 is up", "Seen", "{count} blocks", "Not read:", "GRANT SELECT ON V TO U;"])
def test_user_visible_text_is_found(line: str) -> None:
    assert is_text(line)


@pytest.mark.parametrize("line", ["height: 1;", "seen", "{a} {b}", "%H:%M %d", "AND A.B = C", "<b>bold</b> text"])
def test_text_for_programs_is_not_listed(line: str) -> None:
    assert not is_text(line)


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("a_b of _this_", r"a_b of \_this\_"),
        ("`racwire` *", r"\`racwire\` \*"),
        ("{a[0]|b} <FILE> < 3", r"{a[0]|b} \<FILE> < 3"),
        ("[a](b)", r"\[a\](b)"),
        ("# a", r"\# a"),
        ("- a", r"\- a"),
        ("1. a", r"1\. a"),
        ("&amp; & more", r"\&amp; & more"),
        ("a\\b", r"a\\b"),
    ],
)
def test_a_text_is_unchanged_in_rendered_markdown(text: str, markdown: str) -> None:
    assert escaped(text) == markdown


def test_every_section_has_its_texts() -> None:
    found = catalogue()
    assert all(found.values())
    assert (
        Text("Do full-size packets pass between all nodes, both ways?")
        in found[CHECKS]["df-ping in checks/plugins/df_ping"]
    )
    assert {"racwire", "racwire check", "racwire change attest", "racwire lab up"} <= found[HELP].keys()
    assert found[HELP]["racwire check"][0].text.startswith("usage: racwire check ")
    assert len(found[HELP]["racwire check"][0].text) < 80
    assert any("CREATE SESSION" in line.text for line in found[HELP][CREATES_A_USER])
    assert any(text.text.startswith("switch-mtu: ") for text in found[LAB]["Faults"])
    assert all(text.is_reason for path in found[REASONS] if path.startswith("tui") for text in found[REASONS][path])
    assert "checks/report/templates/report.html.j2" in found[REPORTS]
