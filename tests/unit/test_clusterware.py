"""How racwire runs the tools of Clusterware, and what becomes of their answers."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from checks.model.facts import (
    ActiveVersion,
    Clusterware,
    Haip,
    InterfaceConfiguration,
    Unknown,
)
from checks.model.journal import Entry, Journal
from checks.model.settings import ClusterSettings
from checks.sources.clusterware.clusterware_reader import read_clusterware
from checks.sources.clusterware.grid_home import RunningProcess
from checks.sources.entries import GridCommand
from checks.sources.registry import sources

SAMPLES = Path(__file__).parents[1] / "fixtures" / "clusterware"
HAIP = "NAME=ora.cluster_interconnect.haip\nTYPE=ora.haip.type\n"


def sample(name: str) -> str:
    return (SAMPLES / name).read_text()


ALL_WELL = {
    "olsnodes": f"""case "$*" in
        "-n -i -s -t") cat {SAMPLES}/olsnodes_nist.txt ;; -l) echo db1 ;; -c) echo prod-cluster ;; esac""",
    "oifcfg": f"""case "$*" in
        getif) cat {SAMPLES}/getif_combined_asm.txt ;; "iflist -p -n") cat {SAMPLES}/iflist_pn.txt ;; esac""",
    "crsctl": f"""case "$*" in
        "query crs activeversion -f") cat {SAMPLES}/activeversion_f.txt ;;
        "check crs") cat {SAMPLES}/check_crs_online.txt ;;
        "stat res ora.cluster_interconnect.haip -init") cat {SAMPLES}/haip_missing.txt; exit 1 ;;
        "get css misscount") cat {SAMPLES}/misscount.txt ;; esac""",
}
HomeMaker = Callable[[dict[str, str]], Path]


@pytest.fixture
def make_home(tmp_path: Path) -> HomeMaker:
    """A Grid home whose tools are these shell scripts."""

    def make(tools: dict[str, str]) -> Path:
        home = tmp_path / "grid"
        (home / "bin").mkdir(parents=True)
        for name, body in tools.items():
            (home / "bin" / name).write_text(f"#!/bin/sh\n{body}\n")
            (home / "bin" / name).chmod(0o755)
        return home

    return make


async def ask(home: Path, journal: Journal, root: Path, timeout_s: float = 5.0) -> Clusterware:
    found = await read_clusterware(
        ClusterSettings(grid_home=str(home)),
        journal,
        "db1",
        {"PATH": "/usr/bin:/bin"},
        root,
        processes=list,
        timeout_s=timeout_s,
    )
    assert isinstance(found, Clusterware)
    return found


def entry_about(journal: Journal, topic: str) -> Entry:
    return next(entry for entry in journal.entries if entry.topic == topic)


async def test_every_fact_is_read_and_every_command_recorded(make_home: HomeMaker, tmp_path: Path) -> None:
    home = make_home(ALL_WELL)
    journal = Journal()
    found = await ask(home, journal, tmp_path)
    assert found.local_node == "db1"
    assert found.cluster_name == "prod-cluster"
    assert not isinstance(found.members, Unknown)
    assert [member.name for member in found.members] == ["db1", "db2", "db3-0"]
    assert isinstance(found.configuration, InterfaceConfiguration)
    assert [entry.name for entry in found.configuration.interfaces] == ["eno1", "eno2", "eth0"]
    assert not isinstance(found.listed, Unknown)
    assert found.version == ActiveVersion("19.0.0.0.0", "NORMAL", "1234567890")
    assert not isinstance(found.services, Unknown)
    assert found.haip == Haip(present=False)
    assert found.misscount_s == 30
    assert {entry.outcome for entry in journal.entries} == {"ok"}
    getif = entry_about(journal, "oifcfg getif")
    assert (getif.node, getif.action) == ("db1", f"{home}/bin/oifcfg getif")
    assert getif.text == sample("getif_combined_asm.txt")


async def test_the_tools_run_with_their_own_home_and_in_english(make_home: HomeMaker, tmp_path: Path) -> None:
    home = make_home(ALL_WELL | {"olsnodes": "echo $ORACLE_HOME:$NLS_LANG:$LC_ALL:$ORA_NLS10:$PWD >&2; echo db1"})
    journal = Journal()
    await read_clusterware(
        ClusterSettings(grid_home=str(home)), journal, "db1",
        {"PATH": "/usr/bin:/bin", "ORACLE_HOME": "/u01/db", "ORA_NLS10": "/u01/db/nls", "NLS_LANG": "GERMAN_GERMANY"},
        tmp_path, processes=list,
    )  # fmt: skip
    assert entry_about(journal, "olsnodes -l").text == f"db1\n{home}:AMERICAN_AMERICA:C::/\n"


async def test_a_stack_that_is_down_is_reported(make_home: HomeMaker, tmp_path: Path) -> None:
    crs_down = 'echo "CRS-4639: Could not contact Oracle High Availability Services"; exit 1'
    home = make_home(
        {
            "oifcfg": f'[ "$1" = iflist ] && exec cat {SAMPLES}/iflist_pn.txt; '
            f"cat {SAMPLES}/getif_registry_down.txt; exit 1",
            "olsnodes": 'echo "PRCO-19: Failure retrieving list of nodes in the cluster" >&2; exit 1',
            "crsctl": crs_down,
        }
    )
    journal = Journal()
    found = await ask(home, journal, tmp_path)
    for fact in (found.members, found.local_node, found.configuration, found.version, found.haip, found.misscount_s):
        assert isinstance(fact, Unknown)
        assert fact.reason.startswith("Clusterware is not running on this node: `crsctl check crs` printed"), (
            "one cause"
        )
    assert not isinstance(found.listed, Unknown), "iflist asks the operating system only"
    assert not isinstance(found.services, Unknown)
    assert found.services[0].code == "CRS-4639"
    assert "PRIF-10" in entry_about(journal, "oifcfg getif").outcome, "the journal has what each tool printed"


async def test_a_hanging_tool_affects_only_its_own_facts(make_home: HomeMaker, tmp_path: Path) -> None:
    found = await ask(make_home(ALL_WELL | {"olsnodes": "exec sleep 30"}), Journal(), tmp_path, timeout_s=0.2)
    assert isinstance(found.members, Unknown)
    assert found.members.reason.startswith("`olsnodes -n -i -s -t` did not end within 0.2 s")
    assert isinstance(found.local_node, Unknown)


async def test_a_tool_without_permission_names_who_may_run_it(make_home: HomeMaker, tmp_path: Path) -> None:
    home = make_home(ALL_WELL)
    (home / "bin" / "crsctl").chmod(0o644)
    (home / "bin" / "olsnodes").unlink()
    found = await ask(home, Journal(), tmp_path)
    assert isinstance(found.misscount_s, Unknown)
    assert found.misscount_s.reason.endswith("run racwire as root or as the owner of the Grid home.")
    assert "may not run `crsctl get css misscount`: " in found.misscount_s.reason
    assert found.members == Unknown(f"{home}/bin/olsnodes was not found.")
    assert isinstance(found.configuration, InterfaceConfiguration)


async def test_an_old_crsctl_is_queried_without_the_option_that_it_refuses(
    make_home: HomeMaker, tmp_path: Path
) -> None:
    refusing = """case "$*" in
        *" -f") echo "Parse error:"; echo "Usage: crsctl query crs activeversion"; exit 1 ;;
        *) echo "Oracle Clusterware active version on the cluster is [11.2.0.4.0]" ;; esac"""
    journal = Journal()
    found = await ask(make_home(ALL_WELL | {"crsctl": refusing}), journal, tmp_path)
    assert found.version == ActiveVersion("11.2.0.4.0")
    commands = [entry.action for entry in journal.entries if entry.topic == "crsctl query crs activeversion"]
    assert [action.endswith(" -f") for action in commands] == [True, False]


async def test_getif_with_an_error_and_no_output_does_not_mean_nothing_is_configured(
    make_home: HomeMaker, tmp_path: Path
) -> None:
    found = await ask(make_home(ALL_WELL | {"oifcfg": "exit 3"}), Journal(), tmp_path)
    assert found.configuration == Unknown("`oifcfg getif` failed with exit status 3 and printed nothing.")


async def test_getif_without_output_means_nothing_is_configured(make_home: HomeMaker, tmp_path: Path) -> None:
    found = await ask(make_home(ALL_WELL | {"oifcfg": "exit 0"}), Journal(), tmp_path)
    assert found.configuration == InterfaceConfiguration()


async def test_a_warning_on_stderr_does_not_affect_the_answer(make_home: HomeMaker, tmp_path: Path) -> None:
    noisy = f"echo 'libfoo: no version information' >&2; exec cat {SAMPLES}/olsnodes_nist.txt"
    found = await ask(make_home(ALL_WELL | {"olsnodes": noisy}), Journal(), tmp_path)
    assert not isinstance(found.members, Unknown)


async def test_a_stale_olr_loc_is_ignored(make_home: HomeMaker, tmp_path: Path) -> None:
    home = make_home(ALL_WELL)
    (tmp_path / "etc" / "oracle").mkdir(parents=True)
    (tmp_path / "etc" / "oracle" / "olr.loc").write_text("crs_home=/u01/app/18.4.0/grid\n")
    found = await read_clusterware(
        ClusterSettings(), Journal(), "db1", {"PATH": "/usr/bin:/bin"}, tmp_path,
        processes=lambda: [RunningProcess("", f"{home}/bin/ocssd.bin")],
    )  # fmt: skip
    assert isinstance(found, Clusterware)
    assert (found.grid_home.path, found.grid_home.named_by) == (str(home), "running ocssd.bin")
    assert [stale.path for stale in found.grid_home.stale] == ["/u01/app/18.4.0/grid"]


async def test_without_a_home_nothing_runs(tmp_path: Path) -> None:
    journal = Journal()
    found = await read_clusterware(ClusterSettings(), journal, "db1", {}, tmp_path, processes=list)
    assert isinstance(found, Unknown)
    assert [(entry.topic, entry.outcome) for entry in journal.entries] == [("grid home", found.reason)]


async def test_cancelling_ends_the_tools_at_once(make_home: HomeMaker, tmp_path: Path) -> None:
    home = make_home(dict.fromkeys(ALL_WELL, f"echo $$ >> {tmp_path}/pids; exec sleep 30"))
    task = asyncio.create_task(ask(home, Journal(), tmp_path))
    async with asyncio.timeout(30):
        while not (tmp_path / "pids").exists():  # noqa: ASYNC110 - other processes write it
            await asyncio.sleep(0.02)
    task.cancel()
    async with asyncio.timeout(20):
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not any(psutil.pid_exists(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_only_queries_can_be_planned_and_run() -> None:
    queries = [query for query in sources("clusterware") if isinstance(query, GridCommand)]
    assert ("oifcfg getif", ("/u01/grid/bin/oifcfg", "getif")) in [(q.topic, q.argv("/u01/grid")) for q in queries]
    verbs = {(query.tool, query.arguments[0]) for query in queries}
    assert verbs == {
        ("olsnodes", "-n"), ("olsnodes", "-l"), ("olsnodes", "-c"),
        ("oifcfg", "getif"), ("oifcfg", "iflist"),
        ("crsctl", "query"), ("crsctl", "check"), ("crsctl", "stat"), ("crsctl", "get"),
    }  # fmt: skip
