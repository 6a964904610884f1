"""The search for the Grid home: the searched places, their precedence, and stale homes."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import GridHome, MissingRight, StaleHome, Unknown
from checks.sources.clusterware.grid_home import SUDOERS_SCRIPT, RunningProcess, css_daemons, find_grid_home, user_name
from checks.sources.clusterware.home_files import (
    parse_asm_homes,
    parse_crs_home,
    parse_inventory,
    parse_inventory_location,
)

ME = user_name(os.geteuid())


class Place:
    """A made-up node: its files under a root, its homes, its running ocssd.bin."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.environ: dict[str, str] = {}
        self.setting = ""
        self.processes: list[RunningProcess] = []

    def home(self, name: str, *tools: str) -> str:
        home = self.root / "u01" / name
        (home / "bin").mkdir(parents=True)
        for tool in ("oifcfg", *tools):
            (home / "bin" / tool).write_text("#!/bin/sh\n")
            (home / "bin" / tool).chmod(0o755)
        return str(home)

    def file(self, path: str, text: str) -> None:
        file = self.root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def run_from(self, home: str) -> None:
        self.processes.append(RunningProcess("", f"{home}/bin/ocssd.bin"))

    def find(self) -> GridHome | Unknown:
        return find_grid_home(self.setting, self.environ, self.root, lambda: self.processes)


@pytest.fixture
def node(tmp_path: Path) -> Place:
    return Place(tmp_path)


class TestPriority:
    def test_the_setting_has_priority_over_the_environment(self, node: Place) -> None:
        node.setting = node.home("configured")
        node.environ["GRID_HOME"] = node.setting
        assert node.find() == GridHome(node.setting, "settings", ME)

    @pytest.mark.parametrize("variable", ["GRID_HOME", "CRS_HOME", "ORA_CRS_HOME"])
    def test_the_environment_has_priority_over_all_sources(self, node: Place, variable: str) -> None:
        node.environ[variable] = node.home("grid") + "/"
        assert node.find() == GridHome(node.environ[variable].rstrip("/"), f"environment {variable}", ME)

    def test_oracle_home_only_when_it_is_a_grid_home(self, node: Place) -> None:
        node.environ["ORACLE_HOME"] = node.home("database", "crsctl")
        assert isinstance(node.find(), Unknown)
        node.environ["ORACLE_HOME"] = node.home("grid", "crsctl", "ocssd.bin")
        assert node.find() == GridHome(node.environ["ORACLE_HOME"], "environment ORACLE_HOME", ME)

    @pytest.mark.parametrize("file", ["/etc/oracle/olr.loc", "/var/opt/oracle/olr.loc"])
    def test_olr_loc(self, node: Place, file: str) -> None:
        home = node.home("grid")
        node.file(file, f"olrconfig_loc=/u01/host.olr\ncrs_home={home}\norplus_config=FALSE\n")
        assert node.find() == GridHome(home, file, ME)

    def test_the_running_daemon_has_priority_over_olr_loc_which_is_then_stale(self, node: Place) -> None:
        old, new = node.home("18.4.0"), node.home("18.7.0")
        node.file("/etc/oracle/olr.loc", f"crs_home={old}\n")
        node.run_from(new)
        stale = StaleHome(old, "/etc/oracle/olr.loc", f"ocssd.bin runs from {new}")
        assert node.find() == GridHome(new, "running ocssd.bin", ME, (stale,))

    def test_the_binary_of_a_process_has_priority_over_its_command_line(self, node: Place) -> None:
        home = node.home("grid")
        node.processes = [RunningProcess(f"{home}/bin/ocssd.bin (deleted)", "ocssd.bin")]
        assert node.find() == GridHome(home, "running ocssd.bin", ME)

    def test_a_process_without_a_path_has_no_home(self, node: Place) -> None:
        node.processes = [RunningProcess("", "ocssd.bin"), RunningProcess("", "")]
        assert isinstance(node.find(), Unknown)

    def test_oratab(self, node: Place) -> None:
        home = node.home("grid")
        node.file("/etc/oratab", f"# comment\nORCL:/u01/db:N\n+ASM1:{home}:N\t# added by the agent\n")
        assert node.find() == GridHome(home, "/etc/oratab", ME)

    def test_the_central_inventory(self, node: Place) -> None:
        home = node.home("grid")
        node.file("/etc/oraInst.loc", "inventory_loc=/u01/inventory\ninst_group=oinstall\n")
        node.file("/u01/inventory/ContentsXML/inventory.xml", f'<HOME NAME="G" LOC="{home}" TYPE="O" CRS="true"/>')
        assert node.find() == GridHome(home, "inventory", ME)


class TestStaleHomes:
    def test_a_home_named_by_the_operator_is_used_and_flagged_when_the_cluster_runs_from_another(
        self, node: Place
    ) -> None:
        node.setting, running = node.home("configured"), node.home("running")
        node.run_from(running)
        stale = StaleHome(node.setting, "settings", f"ocssd.bin runs from {running}")
        assert node.find() == GridHome(node.setting, "settings", ME, (stale,))

    def test_a_home_that_does_not_exist(self, node: Place) -> None:
        home = node.home("grid")
        node.file("/etc/oracle/olr.loc", "crs_home=/u01/gone\n")
        node.file("/etc/oratab", f"+ASM1:{home}:N\n")
        stale = StaleHome("/u01/gone", "/etc/oracle/olr.loc", "/u01/gone does not exist")
        assert node.find() == GridHome(home, "/etc/oratab", ME, (stale,))

    def test_a_symbolic_link_to_the_same_home_is_not_stale(self, node: Place) -> None:
        home = node.home("19.0.0")
        link = node.root / "grid"
        link.symlink_to(home)
        node.setting = str(link)
        node.run_from(home)
        assert node.find() == GridHome(str(link), "settings", ME)

    def test_the_daemon_of_a_container_does_not_override_the_setting(self, node: Place) -> None:
        node.setting = node.home("grid")
        node.run_from("/in/a/container")
        found = node.find()
        assert isinstance(found, GridHome)
        assert [stale.path for stale in found.stale] == ["/in/a/container"]


class TestUnusableHomes:
    def test_no_home_in_any_source(self, node: Place) -> None:
        found = node.find()
        assert isinstance(found, Unknown)
        assert found.reason.startswith("No Grid Infrastructure home was found in ")
        assert "--network and --peer" in found.reason

    def test_files_that_may_not_be_read_are_the_reason(self, node: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("/etc/oracle/olr.loc", "/etc/oratab"):
            node.file(name, "as unreadable as for a user who may not read it")
        monkeypatch.setattr(os, "access", lambda *_: False)
        found = node.find()
        assert isinstance(found, Unknown)
        assert "may not read /etc/oracle/olr.loc and /etc/oratab, which can name it" in found.reason
        assert "sees no processes of other users" in found.reason
        assert "as the Grid owner or as root" in found.reason
        node.file("/proc/1/cmdline", "")
        seen = node.find()
        assert isinstance(seen, Unknown)
        assert "processes" not in seen.reason

    def test_a_home_named_by_the_operator_is_not_replaced(self, node: Place) -> None:
        node.environ["GRID_HOME"] = "/u01/typo"
        node.file("/etc/oracle/olr.loc", f"crs_home={node.home('grid')}\n")
        assert node.find() == Unknown(
            "The Grid home /u01/typo (named by environment GRID_HOME) does not exist: name the right home with "
            "`--grid-home`, or `grid_home` under [cluster] in the settings."
        )

    def test_each_fault_is_reported(self, node: Place) -> None:
        home = Path(node.home("grid"))
        for setting, fault in [("grid", "is not an absolute path"), (str(home / "bin/oifcfg"), "is not a directory")]:
            node.setting = setting
            assert fault in str(node.find())
        node.setting = str(home)
        (home / "bin" / "oifcfg").chmod(0o644)
        assert "has a bin/oifcfg that is not executable" in str(node.find())
        (home / "bin" / "oifcfg").unlink()
        assert "has no bin/oifcfg" in str(node.find())

    @pytest.mark.parametrize("setting", ["/u01/\0", "\0", "/" + "x" * 5000])
    def test_an_impossible_path_is_not_an_exception(self, node: Place, setting: str) -> None:
        node.setting = setting
        node.file("/etc/oratab", f"+ASM:{node.home('grid')}:N\n")
        assert isinstance(node.find(), Unknown)

    def test_a_pipe_in_place_of_a_file_does_not_block(self, node: Place) -> None:
        node.file("/etc/oracle/other", "")
        os.mkfifo(node.root / "etc" / "oracle" / "olr.loc")
        assert isinstance(node.find(), Unknown)


class TestFiles:
    def test_olr_loc_with_comments_blanks_and_duplicates(self) -> None:
        text = "# crs_home=/no\n\ncrs_home=\nCRS_HOME = /u01/first \ncrs_home=/u01/second\n"
        assert parse_crs_home(text) == "/u01/first"
        assert parse_crs_home("olrconfig_loc=/u01/host.olr\n") is None

    def test_only_asm_lines_of_oratab_count(self) -> None:
        assert parse_asm_homes("+ASM:/a:N\n+ASM2:/b\n#+ASM3:/c:N\n+APX1:/d:N\n+ASM1::N\n*:/e:N\n") == ("/a", "/b")

    def test_only_grid_homes_that_are_not_removed_count_in_the_inventory(self) -> None:
        text = """<?xml version="1.0"?><!-- <HOME LOC="/comment" CRS="true"/> -->
            <HOME NAME="a" LOC="/old" TYPE="O" CRS="true" REMOVED="T"/>
            <HOME NAME="b" LOC="/db" TYPE="O"/>
            <HOME NAME="c" LOC='/grid' TYPE="O" IDX="3"
                  CRS="true"><NODE_LIST/></HOME> <!-- never closed <HOME LOC="/x" CRS="true"/>"""
        assert parse_inventory(text) == ("/grid",)

    def test_xml_entities_are_not_expanded(self) -> None:
        text = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><HOME LOC="&a;" CRS="true"/>'
        assert parse_inventory(text) == ("&a;",)

    @pytest.mark.parametrize("piece", ["<!--", "<HOME ", "<HOME LOC=", 'LOC="', "<HOME LOC =  ", "LOC", " "])
    def test_hostile_repetition_does_not_take_long(self, piece: str) -> None:
        assert parse_inventory((piece * 200_000)[:1_000_000]) == ()

    @given(st.text())
    def test_any_text_is_parsed_without_an_error(self, text: str) -> None:
        parse_crs_home(text)
        parse_inventory_location(text)
        parse_asm_homes(text)
        parse_inventory(text)


def test_the_daemons_of_this_node_can_be_found() -> None:
    assert all(isinstance(daemon, RunningProcess) for daemon in css_daemons())


def test_a_user_without_a_name_is_reported_by_number() -> None:
    assert user_name(4_000_000_001) == "4000000001"


def test_a_home_without_read_permission_names_who_may_read_it(node: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    node.setting = node.home("grid", "oracle")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr("checks.sources.clusterware.grid_home.user_name", {os.geteuid(): "grid"}.__getitem__)
    assert node.find() == Unknown(
        f"The Grid home {node.setting} (named by settings) has a bin/oifcfg that grid may not execute: "
        "run `sudo -u grid racwire check`, or racwire as root.",
        MissingRight(
            "run the tools of the Grid home as grid or root", ("sudo -u grid racwire check",), "", SUDOERS_SCRIPT
        ),
    )


def test_a_symbolic_link_that_others_could_redirect_is_resolved_at_once(node: Place) -> None:
    home = node.home("grid")
    (node.root / "link").symlink_to(home)
    node.run_from(str(node.root / "link"))
    node.file("/etc/oratab", "+ASM:\0:N\n+ASM1:relative:N\n")
    found = node.find()
    assert isinstance(found, GridHome)
    assert found.path == os.path.realpath(home)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a home away")
def test_as_root_no_program_of_another_users_home_runs_unless_root_named_the_home(node: Place) -> None:
    home = node.home("made-up")
    os.chown(home, 4_000_001, 4_000_001)
    node.run_from(home)
    assert "belongs to 4000001, and root runs programs there only if you name it" in str(node.find())
    node.file("/etc/oracle/olr.loc", f"crs_home={home}\n")
    assert node.find() == GridHome(home, "/etc/oracle/olr.loc", ME)
