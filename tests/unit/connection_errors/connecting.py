"""Connections that fail, and ports that listen."""

import socket
from contextlib import contextmanager

import pytest

from checks.model.journal import Journal
from checks.model.settings import DatabaseSettings
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError
from checks.sources.database.secret import Secret
from tests.fixtures.oracle import PASSWORD


async def error_of(database: DatabaseSettings, password: str | None = PASSWORD) -> DatabaseError:
    connections = Connections(database, Secret(password) if password else None, Journal(), lambda: "rac1")
    try:
        with pytest.raises(DatabaseError) as refusal:
            await connections.get()
        return refusal.value
    finally:
        await connections.close()


@contextmanager
def listening(backlog=5):
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        if backlog is not None:
            listener.listen(backlog)
        yield listener, f"127.0.0.1:{listener.getsockname()[1]}/prod"
