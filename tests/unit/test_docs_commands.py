"""The pages for people: their commands print the output on the page, or at least parse. `make site` checks
their links.

Commands of the practice cluster run in `tests/lab/test_docs_commands.py`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator

import pytest

from docs.generate.console_blocks import Block, blocks, matches, steps, updated
from docs.generate.outputs import CONSOLE, FILES, ON_LAB, ON_NODE, ROOT, blocks_of, pages, workplace, wrong_outputs
from tests.unit.test_vocabulary import hits_in
from tui.cli.main import COMMANDS, build_parser

LANGUAGES = {CONSOLE, ON_LAB, ON_NODE, "sh", "toml", "python", "sql", "text", "json"}
EXAMPLES = {"acme_racwire.py", "test_acme_racwire.py"}
_CUT = re.compile(r"[;|&<>]+|2>")
_COMMAND = re.compile(r"`racwire ([^`\n]+)`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")


def with_blocks(*infos: str) -> list[str]:
    return [page for page in pages() if blocks_of(page, *infos)]


@pytest.mark.parametrize("page", with_blocks(CONSOLE))
def test_commands_print_the_output_on_the_page(page: str) -> None:
    with workplace() as place:
        wrong = wrong_outputs(place, page, CONSOLE)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("page", pages())
def test_every_block_has_a_known_language(page: str) -> None:
    assert [(b.line, b.info) for b in blocks_of(page) if b.info not in LANGUAGES] == []


@pytest.mark.parametrize("page", with_blocks(CONSOLE, ON_LAB, ON_NODE))
def test_every_command_with_output_shows_some_of_it(page: str) -> None:
    commands = [step for block in blocks_of(page, CONSOLE, ON_LAB, ON_NODE) for step in steps(block)]
    assert commands
    assert [step.command for step in commands if step.expected and set(step.expected) == {"..."}] == []


def racwire_lines(block: Block) -> Iterator[tuple[int, list[str]]]:
    """The arguments of each racwire command of a shell block, without the part that the shell interprets."""
    for number, line in enumerate("\n".join(block.lines).replace("\\\n", " ").splitlines(), block.line):
        words = shlex.shlex(line, posix=True, punctuation_chars=True)
        words.whitespace_split = True
        found = list(words)
        while found and (re.fullmatch(r"\w+=.*", found[0]) or found[0] in ("nohup", "sudo")):
            found = found[1:]
        if found[:1] == ["racwire"]:
            end = next((at for at, word in enumerate(found) if _CUT.fullmatch(word)), len(found))
            yield number, found[1:end]


def fault_of(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error of racwire's parser for these arguments; empty if it accepts them."""
    try:
        args, unknown = build_parser(words).parse_known_args(words)
    except SystemExit as end:
        return capsys.readouterr().err if end.code else ""
    accepted = hasattr(args, "ids") and not any(word.startswith("-") for word in unknown)
    return "" if not unknown or accepted else f"unknown: {unknown}"


@pytest.mark.parametrize("page", with_blocks("sh"))
def test_commands_that_do_not_run_here_are_parsed(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line for block in blocks_of(page, "sh") for line in racwire_lines(block)]
    wrong = [(number, words, fault) for number, words in lines if (fault := fault_of(words, capsys))]
    assert wrong == []


def test_an_invalid_command_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    block = Block(
        "sh", 7, ("racwire chekc", "ls", "nohup racwire check --nothing > a &", "racwire check \\", " -q df-ping")
    )
    found = {number: fault_of(words, capsys) for number, words in racwire_lines(block)}
    assert [bool(fault) for fault in found.values()] == [True, True, False]


@pytest.mark.parametrize("page", pages())
def test_commands_within_a_sentence_exist(page: str) -> None:
    for command in _COMMAND.findall((ROOT / page).read_text(encoding="utf-8")):
        name = command.split()[0]
        assert name in COMMANDS or name.startswith("--"), command


def test_the_readme_is_short_and_names_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 150
    assert not re.search(r"badge|shields\.io|pypi|https?://", readme, re.IGNORECASE)
    linked = {path.partition("#")[0] for path in _LINK.findall(readme)}
    assert {page for page in pages() if page.startswith("docs/")} | {"docs/checks.md"} <= linked


@pytest.mark.parametrize("page", [*pages(), "CHANGELOG.md"])
def test_the_old_vocabulary_stays_out_of_the_pages(page: str) -> None:
    text = re.sub(r"^```.*?^```$", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    assert [(hit.old, hit.text) for hit in hits_in(text, page)] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_the_files_that_a_page_for_contributors_names_exist(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    tops = ("checks", "tui", "lab", "docs", "tests", "bench", "bundle", "screenshots")
    there = {path.name for top in tops for path in (ROOT / top).rglob("*.*")} | {path.name for path in ROOT.glob("*.*")}
    assert set(re.findall(r"\b[a-z0-9_]+\.(?:py|sql|css|toml)\b", text)) <= there | EXAMPLES
    places = re.findall(rf"`((?:{'|'.join(tops)})/[\w./-]*)`", text)
    assert [place for place in places if not (ROOT / place).exists()] == []


def absent(map_lines: Iterable[str]) -> Iterator[str]:
    """Yield each folder and file of a map that is not where it stands: its indentation names the folders above it."""
    above = [ROOT]
    for line in map_lines:
        if found := re.match(r"( *)(\w+)/ ", line):
            above[len(found[1]) // 4 + 1 :] = [above[len(found[1]) // 4] / found[2]]
        for place in re.findall(r"(?<![\w./-])[\w/]*\w(?:/(?!\w)|\.(?:py|md|toml)\b)", line):
            neighbour = above[-2] / place  # several folders may stand on one line
            if not any(above[-1].rglob(place.rstrip("/"))) and not (place.endswith("/") and neighbour.is_dir()):
                yield f"{place} in {above[-1].relative_to(ROOT)}"


def test_each_place_of_the_map_is_where_the_map_says() -> None:
    (found,) = (block.lines for block in blocks_of("CONTRIBUTING.md", "text"))
    assert list(absent(found)) == []
    assert list(absent(["checks/   knows", "    rules/    waivers.py", "    moon/    waivers.py", "  stars.py"])) == [
        "moon/ in checks/moon",
        "waivers.py in checks/moon",
        "stars.py in checks/moon",
    ]


def test_the_files_of_the_examples_exist() -> None:
    assert all((ROOT / path).is_file() for path in FILES.values())


def test_the_glossary_is_sorted_and_defines_each_term_once() -> None:
    terms = re.findall(r"^\*\*(.+?)\*\*", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(terms) > 50
    assert terms == sorted(set(terms), key=lambda term: re.sub(r"[^\w ]", "", term).lower())


@pytest.mark.parametrize(
    ("expected", "printed"),
    [
        (["a"], ["a"]),
        (["a ... s"], ["a 5 s"]),
        (["...", "c"], ["a", "b", "c"]),
        (["a", "...", "b"], ["a", "b"]),
        (["a", "..."], ["a", "b", ""]),
        ([], []),
    ],
)
def test_omitted_text_may_be_anything(expected: list[str], printed: list[str]) -> None:
    assert matches(expected, printed)
    assert updated(expected, printed) == expected


@pytest.mark.parametrize(
    ("expected", "printed"),
    [(["a"], ["b"]), (["a"], ["a", "b"]), (["a ... s"], ["a", "s"]), (["a.b"], ["axb"]), ([], ["a"]), (["a"], [])],
)
def test_all_other_text_must_match(expected: list[str], printed: list[str]) -> None:
    assert not matches(expected, printed)
    assert matches(updated(expected, printed), printed)


@pytest.mark.parametrize(
    ("expected", "printed", "new"),
    [
        (["1 FAIL", "Begun at noon"], ["1 FAIL", "Started at noon"], ["1 FAIL", "Started at noon"]),
        (
            ["2 nodes in ... s", "...", "all is well here"],
            ["2 nodes after 7.1 s", "much", "all is correct here"],
            ["2 nodes after ... s", "...", "all is correct here"],
        ),
        (["one line that is long"], ["one line that is", "long"], ["one line that is", "long"]),
        (["a b c", "..."], ["d e f", "g"], ["..."]),
        (["lost ... of ... blocks"], ["lost 3 of 1,614 gc blocks."], ["lost ... of ... gc blocks."]),
        (
            ["PASS IC-LOST-001 no loss in ... s", "..."],
            ["PASS IC-LOST-001 All is here."],
            ["PASS IC-LOST-001 All is here."],
        ),
    ],
)
def test_new_wording_replaces_the_old_and_omitted_numbers_stay_omitted(
    expected: list[str], printed: list[str], new: list[str]
) -> None:
    assert updated(expected, printed) == new
    assert matches(new, printed)


def test_blocks_and_their_commands_are_found() -> None:
    page = "# a\n```console\n$ racwire x\n1\n$ racwire y\n```\n```\nc\n```\n"
    first, second = blocks(page)
    assert (first.info, first.line, second.info, second.lines) == ("console", 3, "", ("c",))
    assert list(steps(first)) == [("racwire x", 3, ("1",)), ("racwire y", 5, ())]


@pytest.mark.parametrize("page", ["```console\n$ racwire x\n", "```console\nracwire x\n```\n", "```console\n```\n"])
def test_a_block_without_an_end_or_a_command_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="line"):
        [list(steps(block)) for block in blocks(page)]
