"""The part of `racwire plan` about live samples: reads, queries, packets and their intervals; pings need --probe."""

import pytest

from checks.model.settings import DatabaseSettings, ProbeSettings, Settings, TrafficSettings
from checks.run.dry_run import plan_samples
from checks.sources.database.statements import statements
from checks.sources.kernel_files import SAMPLE
from tui.cli.main import main

DATABASE = DatabaseSettings(connect="rac-scan:1521/prod", user="racwire")


def dry_run(settings: Settings | None = None) -> str:
    return "\n".join(plan_samples(settings or Settings(), {}))


def test_the_dry_run_has_this_node_and_its_peers_with_files_programs_and_interval() -> None:
    text = dry_run(Settings(traffic=TrafficSettings(interval_s=7)))
    for file in ("/proc/net/dev", "/proc/net/snmp", "/proc/net/softnet_stat", "/proc/stat", "/proc/loadavg"):
        assert file in text
    assert "netlink RTM_GETLINK" in text
    assert text.count("every 7 s") == 2
    for line in SAMPLE.text.splitlines():
        assert line in text
    assert "every 5 s:\n      /proc/net/unix" in text


def test_the_dry_run_has_every_statement_with_its_text_and_interval() -> None:
    text = dry_run(Settings(database=DATABASE, traffic=TrafficSettings(pairs_interval_s=20, database_timeout_s=3)))
    for name in ("sysstat", "dlm_misc", "cache_transfer", "instance_ping", "instances"):
        statement = statements()[name]
        assert f"{statement.topic}: {statement.purpose}" in text
        for line in statement.text.splitlines():
            assert line in text
    assert "  every 20 s or less often:\n    sql cache_transfer" in text
    assert "  twice in a row, every 20 s or less often:\n    sql dlm_misc" in text
    assert "limit of a statement: 3 s" in text


def test_the_dry_run_has_the_pace_of_each_size_and_the_budget_of_px_slaves() -> None:
    text = dry_run(Settings(database=DATABASE))
    assert (
        "  every 1 s with 2 or 4, 2 s with 8, 4 s with 16 instances; less often while an instance or the interconnect "
        "is in trouble:\n    sql sysstat"
    ) in text
    assert "at most 6 PX slaves a second on all instances together" in text


def test_the_dry_run_has_the_interval_that_the_operator_set() -> None:
    text = dry_run(Settings(database=DATABASE, traffic=TrafficSettings(instances_interval_s=3)))
    assert "  every 3 s, as traffic.instances_interval_s has it:\n    sql sysstat" in text
    assert "(PX) slave on each instance" in text
    assert "at most 6 PX slaves" not in text


def test_without_a_database_no_instance_is_queried() -> None:
    assert "no statements on instances: no database is configured." in dry_run()
    assert "SELECT" not in dry_run()


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        (10, "10 pings a second of 56 and as many of 8,328 bytes on each path"),
        (1, "1 ping a second of 56 and as many of 8,328 bytes on each path"),
    ],
)
def test_the_dry_run_has_pings_with_rate_sizes_and_limit_and_the_probe_option(rate: int, words: str) -> None:
    text = dry_run(
        Settings(traffic=TrafficSettings(probes_per_second=rate), probe=ProbeSettings(max_packets_per_second=700))
    )
    assert "Packets: none without --probe" in text
    assert words in text
    assert f"{0.068 * rate:.2g} Mb/s on each path" in text
    assert "at most 700 pings a second" in text


def test_the_dry_run_ends_with_live_samples_unless_checks_are_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["plan"]) == 0
    assert "Live samples, for the Traffic and Database screens" in capsys.readouterr().out
    assert main(["plan", "df-ping"]) == 0
    assert "Live samples" not in capsys.readouterr().out
