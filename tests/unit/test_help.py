"""`--help` of every command: it fits 80 columns, and every example in it is a command line that racwire accepts."""

import argparse
import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from functools import cache
from importlib import import_module

import pytest

from tui.cli.main import COMMANDS, build_parser, main

COLUMNS = 80


def parsers_below(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands below a command, by name."""
    found = [action.choices for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return dict(*found)


@cache
def helps() -> dict[str, str]:
    """The help of every command, by the words that select the command; the help of racwire itself is under \"\"."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        found = {"": printed_help("")}
        for name in COMMANDS:
            found[name] = printed_help(name)
            for below in parsers_below(parsers_below(build_parser([name]))[name]):
                found[f"{name} {below}"] = printed_help(f"{name} {below}")
    return found


def printed_help(command: str) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.raises(SystemExit) as ended:
        main([*command.split(), "--help"])
    assert ended.value.code in (0, None)
    return printed.getvalue()


def examples_in(text: str) -> Iterator[list[str]]:
    """The command lines of racwire in a help: those on lines of their own, and those in backquotes."""
    joined = re.sub(r"\\\n\s+", "", text)
    for line in re.findall(r"^  (?:nohup )?(racwire\b.*)$", joined, re.MULTILINE):
        yield from command_lines(re.split(r"(?<=\S)\s{2,}", line)[0])
    for line in re.findall(r"`(racwire\b[^`]*)`", joined):
        if line.split()[1:] not in [[name] for name in COMMANDS]:  # that names a command
            yield from command_lines(" ".join(line.split()))


def command_lines(line: str) -> Iterator[list[str]]:
    """The arguments of each racwire in a line for a shell: a pipe, a redirection or a `;` ends a command."""
    shell = shlex.shlex(line.split(" (")[0], posix=True, punctuation_chars="|&;<>")
    shell.whitespace_split, shell.commenters = True, ""
    command: list[str] = []
    for word in [*shell, ";"]:
        if not set(word) <= set("|&;<>"):
            command.append(word)
            continue
        if command[:1] == ["racwire"]:
            yield command[1:]
        command = []


EXAMPLES = [(command, example) for command, text in helps().items() for example in examples_in(text)]


@pytest.mark.parametrize("command", helps())
def test_a_help_text_fits_80_columns_and_begins_with_one_sentence(command: str) -> None:
    assert [line for line in helps()[command].splitlines() if len(line) > COLUMNS] == []
    about = helps()[command].split("\n\n")[1]
    assert re.fullmatch(r"[A-Z][^.]*\.", about), about


@pytest.mark.parametrize("command", helps())
def test_a_help_text_has_examples_of_its_command_and_exit_codes(command: str) -> None:
    words, examples = command.split(), list(examples_in(helps()[command]))
    assert len(examples) >= 2
    assert any(example[: len(words)] == words for example in examples)
    assert "exit codes" in helps()[command]


@pytest.mark.parametrize(("command", "example"), EXAMPLES, ids=[f"{c}: {shlex.join(e)}" for c, e in EXAMPLES])
def test_an_example_is_accepted_by_the_real_parser_and_the_settings(
    command: str, example: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command is parsed, and its options are put over the settings; only its run is left out."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.toml").touch()
    ran: list[str] = []
    for name in COMMANDS:
        monkeypatch.setattr(import_module(COMMANDS[name].module), "run", lambda *_, name=name: ran.append(name) or 0)
    monkeypatch.setattr("tui.console.start.run_console", lambda _: ran.append("") or 0)
    monkeypatch.setattr("tui.cli.lab.enter_lab", lambda *_: None)
    if "--help" in example:
        with pytest.raises(SystemExit) as ended:
            main([word for word in example if word != "COMMAND"])
        assert ended.value.code in (0, None)
        return
    assert main(example) == 0, capsys.readouterr().err
    assert ran == [next((word for word in example if word in COMMANDS), "")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  racwire check df-ping      one check\n", [["check", "df-ping"]]),
        ("  racwire a > b; racwire 'c d' | jq .\n", [["a"], ["c d"]]),
        ("  nohup racwire record a.rec &\n", [["record", "a.rec"]]),
        ("  racwire waive X \\\n      --by 'A B'\n", [["waive", "X", "--by", "A B"]]),
        ("use `racwire lab\nup`, or racwire itself.\n", [["lab", "up"]]),
        ("  racwire\n", [[]]),
    ],
)
def test_examples_are_found(text: str, expected: list[list[str]]) -> None:
    assert list(examples_in(text)) == expected
