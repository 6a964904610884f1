"""The password: shown by nothing, taken only from where it is safe, and gone from where it was."""

import copy
import json
import os
import pickle
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.sources.database.secret import (
    PASSWORD_VARIABLE,
    Secret,
    SecretError,
    read_password_file,
    take_from_environment,
)


@given(st.text())
def test_no_representation_shows_a_secret_and_only_reveal_returns_it(words):
    text = f"tiger {words} tiger"  # what no name in our own code can hold
    secret = Secret(text)
    assert secret.reveal() == text
    assert text not in f"{secret} {secret!r} {secret:>40} {secret!s} {[secret]} {vars(type(secret))}"
    assert copy.deepcopy(secret) is secret


@pytest.mark.parametrize("write", [pickle.dumps, json.dumps, msgspec.json.encode, msgspec.to_builtins])
def test_a_secret_cannot_be_serialized(write):
    with pytest.raises(TypeError) as error:
        write(Secret("tiger-tiger"))
    assert "tiger" not in str(error.value)


def test_the_environment_variable_is_read_once():
    environ = {PASSWORD_VARIABLE: "tiger", "PATH": "/bin"}
    secret = take_from_environment(environ)
    assert secret is not None
    assert secret.reveal() == "tiger"
    assert environ == {"PATH": "/bin"}
    assert take_from_environment(environ) is None
    assert take_from_environment({PASSWORD_VARIABLE: ""}) is None


@pytest.mark.parametrize("text", [os.fsdecode(b"tig\xe9r"), "tiger\n"])
def test_an_invalid_environment_variable_is_one_sentence_and_removed_too(text):
    environ = {PASSWORD_VARIABLE: text}
    with pytest.raises(SecretError) as error:
        take_from_environment(environ)
    assert str(error.value).startswith(f"${PASSWORD_VARIABLE} ")
    assert "tig" not in str(error.value)
    assert environ == {}


def test_the_kernel_and_child_processes_no_longer_have_the_password():
    program = (
        "import os, subprocess\n"
        "from checks.sources.database.secret import take_from_environment\n"
        "assert take_from_environment().reveal() == os.environ['EXPECTED'][::-1]\n"
        "print(open('/proc/self/environ').read(), subprocess.run(['env'], capture_output=True, text=True).stdout)\n"
    )
    password = os.urandom(12).hex()
    environ = {**os.environ, PASSWORD_VARIABLE: password, "EXPECTED": password[::-1]}
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environ)
    assert "EXPECTED=" in ran.stdout
    assert password not in ran.stdout


@pytest.mark.parametrize(
    ("content", "password"),
    [(b"tiger\n", "tiger"), (b"tiger", "tiger"), (b"ti ger \r\nsecond\n", "ti ger "), ("größe\n".encode(), "größe"),
     (b"\xef\xbb\xbftiger\n", "tiger")],
)  # fmt: skip
def test_the_password_is_the_first_line_of_a_file(content, password, tmp_path):
    file = tmp_path / "password"
    file.touch(0o600)
    file.write_bytes(content)
    assert read_password_file(str(file)).reveal() == password


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o700, 0o660])
def test_a_file_readable_by_others_is_refused_with_a_remedy(mode, tmp_path):
    file = tmp_path / "password"
    file.write_text("tiger\n")
    file.chmod(mode)
    with pytest.raises(SecretError) as error:
        read_password_file(str(file))
    assert str(error.value) == (
        f"The password file {file} has mode {mode:04o}, so other users may access it: run `chmod 0600` on it."
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is empty: write the password there"),
        (b"\n tiger", "is empty: write the password there"),
        (b"x" * 2000, "longer than 1,024 bytes"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"tiger\0\n", "contains control characters"),
        (b"\x1b[31mtiger\n", "contains control characters"),
    ],
)
def test_a_file_without_a_password_is_one_sentence_without_its_contents(content, why, tmp_path):
    file = tmp_path / "password"
    file.touch(0o600)
    file.write_bytes(content)
    with pytest.raises(SecretError, match=why) as error:
        read_password_file(str(file))
    assert "tiger" not in str(error.value)


def test_a_path_that_is_not_a_regular_file_is_refused(tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo, 0o600)
    for path, why in (
        (fifo, "not a regular file"),
        (tmp_path, "not a regular file"),
        (tmp_path / "none", "No such file"),
    ):
        with pytest.raises(SecretError, match=why):
            read_password_file(str(path))
    with pytest.raises(SecretError, match="no file name"):
        read_password_file("a\0b")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_refused(tmp_path):
    file = tmp_path / "password"
    file.touch(0o600)
    file.write_text("tiger\n")
    os.chown(file, 12345, 12345)
    with pytest.raises(SecretError, match="belongs to another user"):
        read_password_file(str(file))
