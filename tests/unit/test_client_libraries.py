"""The search for Oracle's client libraries and the local instance."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.model.settings import DatabaseSettings
from checks.sources.database import client_libraries
from checks.sources.database.client_libraries import (
    LOADER,
    find_libraries,
    libraries_advice,
    local_instance,
    tns_directory,
)
from checks.sources.database.local_instances import LocalInstance

LIBRARY = "libclntsh.so.19.1"


@pytest.fixture(autouse=True)
def node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A node with these instances and these entries of /etc/oratab, on which the loader knows no library."""

    def make(running=(), listed=(), cache=b""):
        monkeypatch.setattr(client_libraries, "local_instances", lambda: list(running))
        monkeypatch.setattr(client_libraries, "listed_instances", lambda: list(listed))
        monkeypatch.setattr(client_libraries, "_LOADER_CACHE", tmp_path / "ld.so.cache")
        if cache:
            (tmp_path / "ld.so.cache").write_bytes(cache)

    make()
    return make


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A database home with the library."""
    (tmp_path / "home/lib").mkdir(parents=True)
    (tmp_path / "home/lib" / LIBRARY).touch()
    return tmp_path / "home"


def test_a_named_home_is_the_only_place_searched(home: Path, tmp_path: Path) -> None:
    named = DatabaseSettings(oracle_home=str(home))
    assert find_libraries(named, {}) == str(home / "lib")
    elsewhere = DatabaseSettings(oracle_home=str(tmp_path / "other"))
    assert find_libraries(elsewhere, {"ORACLE_HOME": str(home)}) is None
    assert libraries_advice(elsewhere).startswith(f"{tmp_path}/other has no lib/libclntsh.so")


def test_a_home_without_the_library_is_named(node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_libraries, "other_user_can_replace", lambda _: False)
    advice = libraries_advice(DatabaseSettings(), {"ORACLE_HOME": "/u01/grid"})
    assert advice.startswith("/u01/grid has no lib/libclntsh.so that this user can read. Set ORACLE_HOME to another")
    node([LocalInstance("prod1", "/u01/db")])
    by_system = DatabaseSettings(oracle_sid="prod1", os_authentication=True)
    assert libraries_advice(by_system, {}).startswith("/u01/db has no lib/libclntsh.so that this user can read.")


def test_the_environment_and_an_instant_client_are_found(home: Path, tmp_path: Path) -> None:
    assert find_libraries(DatabaseSettings(), {"ORACLE_HOME": str(home)}) == str(home / "lib")
    instant = tmp_path / "instantclient"
    instant.mkdir()
    (instant / "libclntsh.so").touch()
    assert find_libraries(DatabaseSettings(), {"ORACLE_HOME": str(instant)}) == str(instant)


def test_libraries_that_the_loader_finds_need_no_directory(home: Path, node) -> None:
    assert find_libraries(DatabaseSettings(), {}) is None
    assert "set ORACLE_HOME" in libraries_advice(DatabaseSettings())
    assert find_libraries(DatabaseSettings(), {"LD_LIBRARY_PATH": f"/nonexistent:{home}/lib"}) == LOADER
    node(cache=b"...\0libclntsh.so.21.1\0...")
    assert find_libraries(DatabaseSettings(), {}) == LOADER


def test_the_home_of_the_local_instance_has_the_library(home: Path, node) -> None:
    node([LocalInstance("prod1", str(home))])
    by_system = DatabaseSettings(oracle_sid="prod1", os_authentication=True)
    assert local_instance(by_system, {}) == LocalInstance("prod1", str(home))
    assert find_libraries(by_system, {}) == str(home / "lib")


def test_the_only_running_instance_is_used_and_of_several_none(home: Path, node) -> None:
    node([LocalInstance("prod1", str(home))])
    assert local_instance(DatabaseSettings(), {}).sid == "prod1"
    assert local_instance(DatabaseSettings(), {"ORACLE_SID": "x", "ORACLE_HOME": "/h"}) == LocalInstance("x", "/h")
    node([LocalInstance("prod1", str(home)), LocalInstance("test1", str(home))])
    with pytest.raises(client_libraries.DatabaseError, match=r"running: prod1, test1"):
        local_instance(DatabaseSettings(), {})
    node()
    with pytest.raises(client_libraries.DatabaseError, match=r"running: none"):
        local_instance(DatabaseSettings(), {})


def test_an_instance_without_a_known_home_is_reported(node, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(client_libraries.DatabaseError, match="does not know the home of the instance prod1"):
        local_instance(DatabaseSettings(oracle_sid="prod1"), {})
    node(listed=[LocalInstance("prod", "/u01/home")])
    monkeypatch.setattr(client_libraries, "other_user_can_replace", lambda _: False)
    assert local_instance(DatabaseSettings(oracle_sid="prod1"), {}).home == "/u01/home"
    monkeypatch.setattr(client_libraries, "other_user_can_replace", lambda _: True)
    with pytest.raises(client_libraries.DatabaseError, match="root loads no library from there by default"):
        local_instance(DatabaseSettings(oracle_sid="prod1"), {})


def test_names_are_resolved_by_the_files_of_the_settings_the_environment_or_the_home() -> None:
    assert tns_directory(DatabaseSettings(tns_admin="/a"), {"TNS_ADMIN": "/b"}) == "/a"
    assert tns_directory(DatabaseSettings(oracle_home="/h"), {"TNS_ADMIN": "/b"}) == "/b"
    assert tns_directory(DatabaseSettings(oracle_home="/h"), {"ORACLE_HOME": "/g"}) == "/h/network/admin"
    assert tns_directory(DatabaseSettings(), {}) == ""
