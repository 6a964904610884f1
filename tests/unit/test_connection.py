"""Querying a database with the real driver: read-only, with a session name, one thread each, without waiting for hung
calls."""

import asyncio
import threading
import time

import pytest

from checks.model.facts import Unknown
from checks.model.journal import Journal
from checks.sources.database.connection import Connection, Rows, reads_only
from checks.sources.database.connections import Connections
from checks.sources.database.errors import DatabaseError, ErrorKind
from checks.sources.database.secret import Secret
from checks.sources.database.statements import statements
from racwire_lab.database.backend import OracleError
from tests.fixtures.oracle import PASSWORD, USER, Witness, query, relaying, serve, settings, texts

# The driver and the server leave the sockets of an abandoned login to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:Exception ignored in. <socket:pytest.PytestUnraisableExceptionWarning")

SESSIONS = query("SELECT username, module, action, read_only, sysdba FROM sessions", "who")
HANGING = query("SELECT x FROM hanging", "hanging")
NUMBERS = query("SELECT n, text FROM numbers WHERE n < :n", "numbers")


@pytest.fixture
def witness():
    return Witness()


@pytest.fixture
def server(witness):
    with serve(witness) as running:
        yield running


@pytest.fixture
def relay(server):
    with relaying(server) as running:
        yield running


@pytest.fixture
def journal():
    return Journal()


@pytest.fixture
async def connect(journal):
    """Makes connections, and closes them."""
    made = []

    def make(where, password=PASSWORD, **more):
        made.append(Connections(settings(where, **more), Secret(password) if password else None, journal, lambda: "r1"))
        return made[-1]

    yield make
    for connections in made:
        await connections.close()


def ended(name: str) -> bool:
    """Wait for the end of the thread with that name, which starts or runs."""
    while not (found := [thread for thread in threading.enumerate() if thread.name == name]):
        time.sleep(0.01)
    while True:
        try:
            found[0].join(10)
        except RuntimeError:  # it is listed before it has started
            time.sleep(0.001)
        else:
            return not found[0].is_alive()


def logins() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("racwire database")]


async def refused(query_call) -> DatabaseError:
    with pytest.raises(DatabaseError) as error:
        await query_call
    return error.value


# --- the session in the database --------------------------------------------------------------------------------------


async def test_the_session_is_named_and_read_only_and_each_statement_is_its_action(server, connect):
    connection = await connect(server).get()
    for name in ("sysstat", "instances"):
        rows = await connection.rows(query(SESSIONS.text, name))
        assert list(rows.dicts()) == [
            {"username": USER, "module": "racwire", "action": name, "read_only": "True", "sysdba": "False"}
        ]
    assert connection.driver.startswith("python-oracledb ")
    assert connection.driver.endswith(", thin")


async def test_sysdba_is_requested_if_it_is_set(server, connect):
    connection = await connect(server, user="SYS", sysdba=True).get()
    assert (await connection.rows(SESSIONS)).rows[0][4] == "True"


async def test_thousands_of_rows_arrive_completely_with_unchanged_numbers(server, connect):
    rows = await (await connect(server).get()).rows(NUMBERS, {"n": 9000})
    assert rows == Rows(("n", "text"), [(n, f"row {n}") for n in range(9000)])


async def test_a_session_is_opened_once_for_each_purpose(server, connect, witness):
    connections = connect(server)
    first, again, other = await asyncio.gather(connections.get(), connections.get(), connections.get("history"))
    assert first is again
    assert other is not first
    assert len({number for number, _ in witness.asked}) == 2


async def test_the_journal_has_statement_binds_and_rows(server, connect, journal):
    await (await connect(server).get()).rows(NUMBERS, {"n": 2})
    login, query_entry = journal.entries
    assert (login.node, login.topic, login.outcome) == ("r1", "sql connect", "ok")
    assert login.action == f"connect {USER} to {server.dsn}"
    assert (query_entry.topic, query_entry.action) == ("sql numbers", f"{NUMBERS.text}\n-- :n = 2")
    assert query_entry.text == "n  text\n0  row 0\n1  row 1"


@pytest.mark.parametrize("code", [1466, 1555, 8103])
async def test_a_read_only_transaction_too_old_for_its_query_is_restarted_once(code, witness, server, connect):
    witness.errors["NUMBERS"] = OracleError(code, "the table has changed since")
    connection = await connect(server).get()
    with pytest.raises(DatabaseError):
        await connection.rows(NUMBERS, {"n": 3})
    sessions = [session for session, sql in witness.asked if sql == NUMBERS.text]
    transactions = [session for session, sql in witness.asked if sql == "SET TRANSACTION READ ONLY"]
    assert len(sessions) == 2
    assert sessions == transactions
    assert sessions[0] != sessions[1]


# --- only queries -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "DELETE FROM t",
        "/* SELECT */ UPDATE t SET x = 1",
        "-- SELECT\nINSERT INTO t VALUES (1)",
        "BEGIN NULL; END;",
        "ALTER SESSION SET EVENTS 'x'",
        "WITH FUNCTION f RETURN NUMBER IS BEGIN RETURN 1; END; SELECT f FROM dual",
        "SELECT * FROM t FOR  UPDATE",
        "SELECTED",
        "",
    ],
)
async def test_a_statement_other_than_a_query_is_never_sent(text, server, connect, witness):
    connection = await connect(server).get()
    with pytest.raises(ValueError, match="is no query"):
        await connection.rows(query(text))
    assert [sql for _, sql in witness.asked] == ["SET TRANSACTION READ ONLY"]


def test_every_statement_of_racwire_is_a_query_here_and_for_all_instances():
    assert statements()
    for statement in statements().values():
        assert reads_only(statement.text), statement.name
        assert reads_only(statement.here().text), statement.name


# --- hanging and lost sessions ----------------------------------------------------------------------------------------


async def test_a_statement_that_takes_too_long_is_cancelled_and_the_session_continues(server, connect, witness):
    connection = await connect(server).get()
    error = await refused(connection.rows(HANGING, timeout_s=0.1))
    assert (error.kind, error.statement) == (ErrorKind.TIMED_OUT, "hanging")
    assert witness.broken_off.wait(30)
    await connection.rows(SESSIONS)
    assert len({number for number, _ in witness.asked}) == 1


async def test_a_statement_whose_cancel_is_not_answered_costs_its_session(relay, connect, witness):
    connection = await connect(relay).get()
    relay.hold()
    error = await refused(connection.rows(SESSIONS, timeout_s=0.1))
    assert error.kind is ErrorKind.TIMED_OUT
    relay.release()
    await connection.rows(SESSIONS)
    assert len({number for number, _ in witness.asked}) == 2


async def test_a_session_is_closed_only_after_the_driver_gives_it_up(relay, connect, monkeypatch):
    # The driver waits as long again for the answer to its break. To close the session meanwhile would crash it.
    monkeypatch.setattr("checks.sources.database.connection._GRACE_S", 0.1)
    connection = await connect(relay).get()
    relay.hold()
    assert (await refused(connection.rows(SESSIONS, timeout_s=0.5))).kind is ErrorKind.TIMED_OUT
    assert await asyncio.to_thread(ended, "racwire database main ending")
    relay.release()
    await connection.rows(SESSIONS)


async def test_cancelling_cancels_the_statement_in_the_database(server, connect, witness):
    connection = await connect(server).get()
    task = asyncio.create_task(connection.rows(HANGING))
    await asyncio.to_thread(witness.hanging.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(witness.broken_off.wait, 30)


@pytest.mark.parametrize("fault", ["hang_at_connect", "hang_at_login"])
async def test_closing_does_not_wait_for_a_login_that_hangs(fault, server, connect, journal):
    setattr(server.faults, fault, True)
    connections = connect(server, login_timeout_s=60)
    abandoned = set(logins())  # of earlier tests: their threads end with the process
    opening = asyncio.create_task(connections.get())
    while not set(logins()) - abandoned:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    assert not opening.done()
    await asyncio.wait_for(connections.close(), 30)
    assert all(thread.daemon for thread in logins())
    assert set(logins()) - abandoned
    assert journal.entries[0].outcome == "interrupted"
    with pytest.raises(asyncio.CancelledError):
        await opening


async def test_closing_does_not_wait_for_a_statement_that_hangs(relay, connect, journal):
    connections = connect(relay, call_timeout_s=60)
    connection = await connections.get()
    relay.hold()
    task = asyncio.create_task(connection.rows(SESSIONS))
    await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.wait_for(connections.close(), 30)
    assert task.done()
    assert journal.entries[-1].outcome == "interrupted"


async def test_closing_logs_off(server, connect, witness):
    connections = connect(server)
    await connections.get()
    await connections.close()
    assert await asyncio.to_thread(witness.over.wait, 30)


@pytest.mark.parametrize("fault", ["hang_at_connect", "hang_at_login"])
async def test_a_login_without_an_answer_times_out_once_and_for_all(fault, server, connect, journal):
    setattr(server.faults, fault, True)
    connections = connect(server, login_timeout_s=0.2)
    first, second = await refused(connections.get()), await refused(connections.get())
    assert first is second
    assert first.kind is ErrorKind.CANNOT_CONNECT
    assert "did not end within 0.2 s, and racwire gave up" in str(first)
    assert len(journal.entries) == 1


async def test_a_login_that_succeeds_after_its_timeout_is_logged_off(relay, connect, witness):
    relay.hold()
    connections = connect(relay, login_timeout_s=0.1)
    await refused(connections.get())
    assert not witness.asked
    relay.release()
    assert await asyncio.to_thread(witness.over.wait, 30)


async def test_a_dropped_connection_is_opened_again_once_and_made_read_only_again(relay, connect, witness, journal):
    connection = await connect(relay).get()
    relay.cut()
    rows = await connection.rows(SESSIONS)
    assert rows.rows == [(USER, "racwire", "who", "True", "False")]
    assert [e.topic for e in journal.entries] == ["sql connect", "sql who", "sql connect"]


async def test_a_connection_that_drops_again_is_reported_as_lost(server, connect):
    connection = await connect(server).get()
    server.faults.login_error = OracleError(1089, "immediate shutdown or close in progress")
    server.faults.drop_after = 0
    assert (await refused(connection.rows(SESSIONS))).kind in (ErrorKind.LOST, ErrorKind.CANNOT_CONNECT)


@pytest.mark.parametrize("code", [2396, 3113, 3135, 12170, 12537])
async def test_a_session_that_the_database_ended_is_opened_again_once(code, server, connect, witness, journal):
    """ORA-02396: the profile's IDLE_TIME was over."""
    connection = await connect(server).get()
    witness.once["SESSIONS"] = OracleError(code, "as the database words it")
    rows = await connection.rows(SESSIONS)
    assert rows.rows == [(USER, "racwire", "who", "True", "False")]
    assert [e.topic for e in journal.entries] == ["sql connect", "sql who", "sql connect"]


async def test_concurrent_queries_wait_for_each_other(server, connect):
    connection = await connect(server).get()
    found = await asyncio.gather(*(connection.rows(query(SESSIONS.text, f"a{n}")) for n in range(5)))
    assert [rows.rows[0][2] for rows in found] == [f"a{n}" for n in range(5)]


# --- errors of a statement --------------------------------------------------------------------------------------------


async def test_a_missing_grant_is_reported_with_the_grant_command(server, connect, witness):
    connection = await connect(server).get()
    for code in (942, 1031):
        witness.errors["GV$SYSSTAT"] = OracleError(code, "table or view does not exist")
        error = await refused(connection.rows(query("SELECT x FROM gv$sysstat", "sysstat")))
        assert (error.kind, error.code, error.statement) == (ErrorKind.MISSING_GRANT, code, "sysstat")
        assert error.right.commands == (
            "GRANT SELECT ON SYS.GV_$SYSSTAT TO RACWIRE;",
            "GRANT SELECT ON SYS.V_$SYSSTAT TO RACWIRE;",
        )
        assert error.unknown == Unknown(f"RACWIRE may not read GV$SYSSTAT (ORA-{code:05d}).", error.right)
        assert error.right.needed == "SELECT on SYS.GV_$SYSSTAT and SYS.V_$SYSSTAT for RACWIRE"
        assert str(error) == (
            f"RACWIRE may not read GV$SYSSTAT (ORA-{code:05d}). Have a DBA run: {' '.join(error.right.commands)}"
        )


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (904, ErrorKind.OTHER, "that this version of the database lacks"),
        (12850, ErrorKind.OTHER, "no free parallel query process"),
        (1219, ErrorKind.OTHER, "is not open"),
        (1109, ErrorKind.OTHER, "is not open (ORA-01109)"),
        *((code, ErrorKind.LOST, "was lost") for code in (28, 1034, 1089, 1092, 2396, 2399, 3113, 3135, 12170, 12537)),
        *((code, ErrorKind.LOST, "was lost") for code in (12547, 12570, 12571, 12592, 12608, 12609)),
        (2393, ErrorKind.OTHER, "exceeded the limit CPU_PER_CALL in the profile of RACWIRE (ORA-02393)"),
        (2395, ErrorKind.OTHER, "exceeded the limit LOGICAL_READS_PER_CALL in the profile of RACWIRE"),
        (600, ErrorKind.OTHER, "failed with an internal error of the database (ORA-00600): the alert log"),
        (12805, ErrorKind.OTHER, "The statement asked failed: ORA-12805: snapshot"),
        (1555, ErrorKind.OTHER, "The statement asked failed: ORA-01555: snapshot"),
    ],
)
async def test_other_errors_are_one_sentence_with_the_number(code, kind, words, server, connect, witness):
    witness.errors["T"] = OracleError(code, "snapshot")
    error = await refused((await connect(server).get()).rows(query("SELECT x FROM t")))
    assert error.kind is kind
    assert words in str(error)
    assert "Help:" not in str(error)
    assert "\n" not in str(error)


async def test_a_connection_works_without_the_rest_of_a_run(server):
    """Tests of readers use a connection in this way."""
    connections = Connections(settings(server), Secret(PASSWORD), Journal(), lambda: "r1")
    connection = await connections.get()
    assert isinstance(connection, Connection)
    await connections.close()


async def test_the_journal_has_no_part_of_the_password(server, connect, journal):
    await (await connect(server).get()).rows(SESSIONS)
    await refused(connect(server, password="wrong-" + PASSWORD).get())
    assert PASSWORD not in texts(journal)
