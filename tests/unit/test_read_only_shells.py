"""A program that is accepted as read-only also is one in real shells: no unlisted command runs, no file is made."""

import random
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.shell_judge import fault_of_program

SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "sh"]}

PROGRAMS = (
    "echo a; echo 'b c' \"d\" 2>/dev/null",
    'x=$(echo mark); echo "$x" ${x#m} "${x:-a}"',
    "if true; then echo a; elif false; then echo b; else echo c; fi",
    "for i in a b; do echo $i; done; { echo a; } 2>&1",
    "case a in a|b) echo a ;; *) echo b ;; esac",
    "(echo a && ! false) || echo b & wait",
    "[ -n a ] && test a = b\nprintf '%s\\n' a | cat",
    "LC_ALL=C env LC_ALL=C timeout 3 echo mark",
    'for i in "$@"; do echo "$i" "$1" $2; done',
)
# `mark` is a command that makes a file; it is on no list.
PIECES = (
    *(
        "mark",
        "mark ",
        "\nmark\n",
        ";mark;",
        "$(mark)",
        "`mark`",
        ">a",
        "> a ",
        ">&a",
        "&>a",
        "1<>a",
        "<(mark)",
        "<<a\n",
    ),
    *(
        " ",
        "\n",
        "\t",
        ";",
        "&",
        "&&",
        "|",
        "||",
        "|&",
        "(",
        ")",
        "((",
        "))",
        "{ ",
        " }",
        "{",
        "}",
        ";;",
        "!",
        "#",
        "~",
    ),
    *(
        "'",
        '"',
        "\\",
        "\\\n",
        "`",
        "$",
        "$(",
        "$((",
        "${",
        "${x",
        "$'",
        '$"',
        "$[",
        "]",
        "[ ",
        " ]",
        "[[ ",
        "*",
        "?",
        "=",
    ),
    *(
        "$1",
        '"$1"',
        '"$@"',
        "$@",
        "${1}",
        "x=",
        "x='mark' ",
        "x=mark ",
        "$x",
        '"$x"',
        "${x}",
        "${x:=mark}",
        "${x@P}",
        "${!x}",
        "<",
        ">",
        ">>",
        "2>&1",
        "-",
    ),
    *(
        "if ",
        "then ",
        "else ",
        "fi",
        "for ",
        " in ",
        "do ",
        "done",
        "case ",
        "esac",
        "a)",
        "mark()",
        "function ",
        "time ",
    ),
    *("eval ", "exec ", ". ", "command ", "env ", "timeout 1 ", "alias a=mark\na ", "trap mark EXIT;", "set -- mark;"),
)


def accepted_mutants(count: int) -> list[str]:
    """Accepted programs with random insertions of shell syntax that the judge still accepts; the same in every run."""
    chance = random.Random(5)
    mutants = set()
    for _ in range(count):
        program = chance.choice(PROGRAMS)
        for _ in range(chance.randint(1, 3)):
            at = chance.randint(0, len(program))
            program = program[:at] + chance.choice(PIECES) + program[at:]
        if not fault_of_program(program):
            mutants.add(program)
    return sorted(mutants)


@pytest.fixture(scope="module")
def mutants() -> list[str]:
    found = accepted_mutants(6000)
    assert len(found) > 300, "most mutants were refused: nothing is shown by the rest"
    return found


@pytest.mark.parametrize("make", SHELLS)
def test_no_unlisted_command_runs_in_an_accepted_program(make: str, mutants: list[str], tmp_path: Path) -> None:
    if shutil.which(SHELLS[make][0]) is None:
        pytest.skip(f"{make} is not installed")
    tools, work = tmp_path / "tools", tmp_path / "work"
    tools.mkdir()
    work.mkdir()
    (tools / "mark").write_text('#!/bin/sh\n: > "$WORK/mark-$n"\n')
    (tools / "mark").chmod(0o755)
    script = "\n".join(
        f"(n={n}; export n; set -- mark '$(mark)' ';mark'; "
        f"command eval {shlex.quote(program)} </dev/null) >/dev/null 2>&1"
        for n, program in enumerate([*mutants, "mark"])
    )
    subprocess.run(
        [*SHELLS[make], "-c", f"{script}\nwait"],
        env={"PATH": f"{tools}:/usr/bin:/bin", "WORK": str(work), "LC_ALL": "C"},
        cwd=work,
        check=False,
        timeout=60,
    )
    made = {file.name for file in work.iterdir()} - {f"mark-{len(mutants)}"}
    assert (work / f"mark-{len(mutants)}").exists(), "what would show a fault does not work"
    assert not made, [mutants[int(name.removeprefix("mark-"))] for name in made if name.startswith("mark-")]
