"""The table of the messages of Oracle's logs: the real reader finds each sample, and it is read as its row says."""

from __future__ import annotations

import re
import subprocess
from datetime import datetime, timedelta

import pytest

from checks.model.facts import LogKind
from checks.rules.log_events.log_message import About, LineRole, LogMessage
from checks.rules.log_events.log_readings import readings
from checks.rules.log_events.table import MESSAGES, described, message_of
from checks.sources.alert_logs import LOGS_COMMAND, LOGS_MESSAGES
from checks.sources.nodes.alert_log_text import log_of_path, parse_logs
from checks.sources.nodes.sections import OutputSection
from tests.unit.log_samples import cluster_with

PATHS = {
    LogKind.CLUSTERWARE: "/u01/app/grid/diag/crs/rac1/crs/trace/alert.log",
    LogKind.DATABASE: "/u01/app/oracle/diag/rdbms/prod/prod1/trace/alert_prod1.log",
    LogKind.ASM: "/u01/app/grid/diag/asm/+asm/+ASM1/trace/alert_+ASM1.log",
    LogKind.OCSSD: "/u01/app/grid/diag/crs/rac1/crs/trace/ocssd.trc",
    LogKind.GIPCD: "/u01/app/grid/diag/crs/rac1/crs/trace/gipcd.trc",
    LogKind.OHASD: "/u01/app/grid/diag/crs/rac1/crs/trace/ohasd.trc",
}
_STAMP = re.compile(r"^[-0-9]{10} [0-9:]{8}")


def _written(kind: LogKind, message: LogMessage) -> str:
    """The sample as it stands in a log of now."""
    at = (datetime.now().astimezone() - timedelta(minutes=5)).replace(second=20)
    if kind.is_trace:
        return _STAMP.sub(f"{at:%Y-%m-%d %H:%M:%S}", message.sample)
    return f"{at.isoformat(timespec='microseconds')}\n{message.sample}"


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> dict[LogKind, list[str]]:
    """The codes that the program and the parser found, by kind of log, on a node whose logs have each sample."""
    root = tmp_path_factory.mktemp("node")
    for kind, path in PATHS.items():
        place = root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n".join(_written(kind, m) for m in MESSAGES if kind in m.logs) + "\n")
    (root / "etc/oracle").mkdir(parents=True)
    (root / "etc/oracle/olr.loc").write_text(f"crs_home={root}/u01/app/19.0.0/grid\n")
    (root / "etc/oratab").write_text(f"prod:{root}/u01/app/oracle/product/19.0.0/db_1:N\n")
    base = root / "u01/app/19.0.0/grid/install"
    base.mkdir(parents=True)
    (base / "orabasetab").write_text(f"{root}/u01/app/19.0.0/grid:{root}/u01/app/grid:OraGI19Home1:N:\n")
    ran = subprocess.run(
        ["sh"], input=LOGS_COMMAND.replace("/etc/", f"{root}/etc/"), capture_output=True, text=True, check=True
    )
    found = parse_logs(OutputSection(ran.stdout))
    return {log.kind: [line.code for line in log.lines] for log in found.logs}


@pytest.mark.parametrize("kind", PATHS)
def test_each_sample_is_found_by_grep_and_parsed(kind: LogKind, read: dict[LogKind, list[str]]) -> None:
    assert read[kind] == [message.code for message in MESSAGES if kind in message.logs]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: message.code)
def test_each_sample_is_read_as_its_row_says(message: LogMessage) -> None:
    kind = min(message.logs)
    stamp = "{CRS+0} " if kind is LogKind.CLUSTERWARE else "" if kind.is_trace else "{ISO+0}\n"
    sample = _STAMP.sub("2026-11-04 10:30:00", message.sample)
    facts = cluster_with(f"# path: {PATHS[kind]}\n# node: rac1\n{stamp}{sample}\n")
    (line,) = next(s for s in facts.setups if s.name == "rac1").logs.logs[0].lines
    assert (line.code, message_of(kind, line)) == (message.code, message)
    found = readings(facts)
    if message.role is not LineRole.OS_ERROR:
        assert {one.role for one in found} == {message.role}
    names = {About.NODE: {"rac2"}, About.OWNER: {"rac1", "prod1", "+ASM1"}, About.NOBODY: {""}}
    # The next line names the receiver of messages, and of an error of the system each line says another part.
    if message.code != "IPC Send timeout" and message.role is not LineRole.OS_ERROR:
        assert {one.about for one in found} <= names.get(message.about, {one.about for one in found if one.about})
    if message.event is not None:
        assert {one.event for one in found} == {message.event}
    assert message.source
    assert message.code in described()
    assert message.code in LOGS_MESSAGES


def test_the_path_tells_the_kind_of_each_log() -> None:
    assert {kind: log.kind for kind, path in PATHS.items() if (log := log_of_path(path))} == {k: k for k in PATHS}
    old = log_of_path("/u01/app/11.2.0/grid/log/rac1/cssd/ocssd.log")
    assert old is not None
    assert (old.kind, old.owner) == (LogKind.OCSSD, "rac1")
