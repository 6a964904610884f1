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
def helps(name: str) -> dict[str, str]:
    """The help of a command and of those below it, by the words that select each; that of racwire itself for ""."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(COLUMNS))
        below = parsers_below(parsers_below(build_parser([name]))[name]) if name else {}
        commands = [name, *(f"{name} {word}" for word in below)]
        return {command: printed_help(command) for command in commands}


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


of_each_command = pytest.mark.parametrize("name", ["", *COMMANDS])


@of_each_command
def test_a_help_text_fits_80_columns_and_begins_with_one_sentence(name: str) -> None:
    for text in helps(name).values():
        assert [line for line in text.splitlines() if len(line) > COLUMNS] == []
        about = text.split("\n\n")[1]
        assert re.fullmatch(r"[A-Z][^.]*\.", about), about


@of_each_command
def test_a_help_text_has_examples_of_its_command_and_exit_codes(name: str) -> None:
    for command, text in helps(name).items():
        words, examples = command.split(), list(examples_in(text))
        assert len(examples) >= 2, command
        assert any(example[: len(words)] == words for example in examples), command
        assert "exit codes" in text, command


@of_each_command
def test_each_example_is_accepted_by_the_real_parser_and_the_settings(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commands are parsed, and their options are put over the settings; only their runs are left out."""
    texts = helps(name).values()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "settings.toml").touch()
    ran: list[str] = []
    for each in COMMANDS:
        monkeypatch.setattr(import_module(COMMANDS[each].module), "run", lambda *_, name=each: ran.append(name) or 0)
    monkeypatch.setattr("tui.console.start.run_console", lambda _: ran.append("") or 0)
    monkeypatch.setattr("tui.cli.lab.enter_lab", lambda *_: None)
    for example in (example for text in texts for example in examples_in(text)):
        if "--help" in example or (example[:1] == ["help"] and example[1] in COMMANDS):
            with pytest.raises(SystemExit) as ended:
                main([word for word in example if word != "COMMAND"])
            assert ended.value.code in (0, None), example
            continue
        assert main(example) == 0, (example, capsys.readouterr().err)
        assert ran.pop() == next((word for word in example if word in COMMANDS), "")
        assert ran == []


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
