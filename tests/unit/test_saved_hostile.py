"""A saved file that a stranger made, or that was damaged: one sentence, and no harm."""

import os
import tempfile
from pathlib import Path

import pytest

from checks.saved import kind_of
from tests.unit.saved_hostile_support import refused


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory, monkeypatch):
    """Where temporary files go, which must be empty again at the end."""
    directory = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    yield directory
    assert os.listdir(directory) == []


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda path: path.write_bytes(b""), "is no saved file"),
        (lambda path: path.write_bytes(b"PK"), "is no saved file"),
        (lambda path: path.write_bytes(bytes(range(255, -1, -1)) * 16), "is no saved file"),
        (lambda path: path.mkdir(), "is no regular file"),
        (os.mkfifo, "is no regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is no regular file"),
        (lambda path: path.symlink_to(path.name), "could not be read"),
        (lambda path: None, "No such file"),
        (lambda path: path.write_text("{}"), "has no report"),
        (lambda path: path.write_text("{" * 100_000), "damaged"),
    ],
)
def test_a_file_that_is_not_a_saved_file_is_one_sentence(tmp_path, made, message):
    made(tmp_path / "x")
    assert message in refused(tmp_path / "x")


def test_an_invalid_path_is_one_sentence():
    assert "this is no file name" in refused(Path("a\0b"))
    assert kind_of(Path("a\0b")) == ""
