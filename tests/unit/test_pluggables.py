"""The open PDBs of a database, read by racwire's statement on the practice database's SQL."""

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

import msgspec

from checks.model.facts import OpenPluggable, Unknown
from checks.sources.database.grants import grants_script
from checks.sources.database.identity import read_database
from checks.sources.database.pluggables import read_pluggables
from racwire_lab.oracle_sql import live_views
from tests.fixtures.instance_states import StraightIn, instances, practice


async def connected(version="19.22.0.0.0"):
    """Return the connections, and the database that they lead to."""
    containers = not version.startswith("11")
    engine = practice(instances(2, version), version, is_multitenant=containers)
    databases = StraightIn(engine).databases()
    return databases, await read_database(databases, lambda *progress: None)


@pytest.mark.parametrize("version", ["12.1.0.2.0", "19.22.0.0.0", "23.9.0.25.07"])
async def test_the_open_pdbs_of_each_instance_are_read(version):
    databases, database = await connected(version)
    found = await read_pluggables(databases, database)
    assert found == tuple(OpenPluggable(i.name, "PRACPDB1", "READ WRITE") for i in database.instances)


async def test_a_database_without_containers_has_none():
    databases, database = await connected("11.2.0.4.0")
    assert await read_pluggables(databases, database) == ()


async def test_a_user_that_sees_no_seed_may_miss_others(monkeypatch):
    databases, database = await connected()
    monkeypatch.setitem(live_views._VIEWS, "V$PDBS", lambda state, of: ())
    found = await read_pluggables(databases, database)
    assert isinstance(found, Unknown)
    assert "PDB$SEED" in found.reason
    assert "SET CONTAINER_DATA = ALL FOR SYS.GV_$PDBS" in found.right.commands[0]


async def test_a_session_in_a_pdb_sees_no_other():
    databases, database = await connected()
    inside = msgspec.structs.replace(database, container="CRM")
    assert isinstance(await read_pluggables(databases, inside), Unknown)


async def test_an_instance_without_a_row_leaves_the_pdbs_unknown():
    databases, database = await connected()
    more = msgspec.structs.replace(database.instances[0], number=9, name="prod9")
    found = await read_pluggables(databases, msgspec.structs.replace(database, instances=(*database.instances, more)))
    assert isinstance(found, Unknown)
    assert "prod9" in found.reason


def test_a_common_user_gets_the_right_to_see_all_pdbs():
    line = "ALTER USER C##RACWIRE SET CONTAINER_DATA = ALL FOR SYS.GV_$PDBS CONTAINER = CURRENT;"
    assert line in grants_script("C##RACWIRE", awr=False, statspack=False)
    assert "CONTAINER_DATA" not in grants_script("RACWIRE", awr=False, statspack=False)
