"""`racwire grants`: made from the headers of the statements, so that no object of a statement is missing."""

import re

import pytest

from checks.model.exit_codes import ExitCode
from checks.sources.database.grants import grants_script, needed_grants
from checks.sources.database.statements import parse_statement, statements
from tui.cli.main import main


def granted(script):
    return re.findall(r"^GRANT SELECT ON (\S+) TO (\S+);$", script, re.MULTILINE)


def of(name, grants, licence="none"):
    header = {"purpose": "p", "reads": "V", "grants": grants, "licence": licence, "versions": "11.2-"}
    return parse_statement(name, "".join(f"-- {key}: {value}\n" for key, value in header.items()) + "SELECT 1 FROM v;")


KNOWN = (
    of("sysstat", "SYS.GV_$SYSSTAT, SYS.V_$SYSSTAT"),
    of("instances", "SYS.GV_$INSTANCE, SYS.V_$SYSSTAT"),
    of("awr_range", "SYS.DBA_HIST_SNAPSHOT"),
    of("awr_sysstat", "SYS.DBA_HIST_SNAPSHOT, SYS.DBA_HIST_SYSSTAT", "Diagnostics Pack"),
    of("statspack_range", "PERFSTAT.STATS$SNAPSHOT"),
)


def test_each_object_is_granted_once_and_awr_and_statspack_only_on_request():
    live = ["SYS.GV_$INSTANCE", "SYS.GV_$SYSSTAT", "SYS.V_$SYSSTAT"]
    assert needed_grants(KNOWN, awr=False, statspack=False) == {"live": live}
    assert needed_grants(KNOWN, awr=True, statspack=True) == {
        "live": live,
        "AWR": ["SYS.DBA_HIST_SNAPSHOT", "SYS.DBA_HIST_SYSSTAT"],
        "Statspack": ["PERFSTAT.STATS$SNAPSHOT"],
    }


def test_the_script_covers_every_statement_of_racwire():
    script = grants_script("RACWIRE", awr=True, statspack=True, ic_clients=True)
    names = {name for name, user in granted(script) if user == "RACWIRE"}
    for statement in statements().values():
        assert names.issuperset(statement.grants), statement.name
        assert names.issuperset(statement.here().grants), statement.name


def test_the_view_of_the_interconnects_users_is_created_on_request_only(capsys):
    assert main(["grants"]) == 0
    assert "CREATE VIEW" not in capsys.readouterr().out
    assert main(["grants", "--ic-clients", "--user", "mon"]) == 0
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("CREATE VIEW SYS.RACWIRE_IC_CLIENTS AS")
    assert lines[place + 1].endswith("bytes_rcv AS bytes_received FROM sys.x$ksxpclient;")
    assert lines[place + 2] == "GRANT SELECT ON SYS.RACWIRE_IC_CLIENTS TO MON;"
    assert lines[-1] == "-- DROP VIEW SYS.RACWIRE_IC_CLIENTS;"


def test_the_views_of_the_connected_instance_are_also_granted_in_case_another_hangs():
    names = {name for name, _ in granted(grants_script("RACWIRE", awr=False, statspack=False))}
    assert "SYS.V_$INSTANCE" in names
    for name in names:
        if name.startswith("SYS.GV_$"):
            assert name.replace("GV_$", "V_$") in names


def test_the_script_is_for_sqlplus_and_has_no_password():
    lines = grants_script("RACWIRE", awr=True, statspack=True).splitlines()
    assert 'CREATE USER RACWIRE IDENTIFIED BY "&racwire_password";' in lines
    assert any(line.startswith("ACCEPT racwire_password") and line.endswith(" HIDE") for line in lines)
    assert "GRANT CREATE SESSION TO RACWIRE;" in lines
    for line in lines:
        assert not line or line.startswith(("--", "SET ", "ACCEPT ", "UNDEFINE ")) or line.endswith(";"), line


def test_the_command_prints_the_script_for_the_named_user(capsys):
    assert main(["grants", "--user", "c##mon", "--statspack"]) == 0
    out = capsys.readouterr().out
    assert "GRANT CREATE SESSION TO C##MON;" in out
    assert "run this script in CDB$ROOT" in out
    assert "DBA_HIST_SYSSTAT" not in out
    assert "PERFSTAT.STATS$SNAPSHOT" in out


@pytest.mark.parametrize("name", ["", "a b", "x; DROP USER sys", "1x", "scott/tiger", 'a"b', "x" * 129])
def test_a_user_that_is_not_a_plain_name_is_refused_and_not_repeated(name, capsys):
    assert main(["grants", "--user", name]) == ExitCode.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "use a name of letters, digits" in captured.err
    assert "tiger" not in captured.err
