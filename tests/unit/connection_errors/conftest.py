"""Fixtures of the errors of a connection: no Oracle software, and a server that accepts the login."""

import gc

import pytest

from tests.fixtures.oracle import Witness, serve


@pytest.fixture(autouse=True)
def sockets_of_the_driver():
    gc.freeze()  # what is older is nothing to look through
    yield
    gc.collect()
    gc.unfreeze()


@pytest.fixture(autouse=True)
def no_oracle_here(monkeypatch):
    for name in ("ORACLE_HOME", "ORACLE_SID", "TNS_ADMIN", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server():
    with serve(Witness()) as running:
        yield running
