"""Logs of tests/samples/oracle_logs as facts: parsed as a whole file, with time stamps of the last hour."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from checks.model.facts import AlertLog, Cluster, NodeLogs
from checks.sources.nodes.alert_log_text import log_of_lines
from tests.fixtures.clusters import cluster

SAMPLES = Path(__file__).parents[1] / "samples" / "oracle_logs"
READ_AT = datetime.fromisoformat("2026-11-04T11:00:00+01:00")
_FIRST_AT = READ_AT - timedelta(minutes=30)
_PLACEHOLDER = re.compile(r"\{(DATE|ISO|CRS|TRACE|TRACE11)\+(\d+)\}")
_FORMS = {
    "DATE": "%a %b %d %H:%M:%S %Y",
    "ISO": "%Y-%m-%dT%H:%M:%S.123456+01:00",
    "CRS": "%Y-%m-%d %H:%M:%S.123",
    "TRACE": "%Y-%m-%d %H:%M:%S.123 : ",
    "TRACE11": "%Y-%m-%d %H:%M:%S.123: ",
}


def stamped(text: str) -> str:
    """Return a text with a time stamp in place of each `{DATE+9}`: 9 seconds after the first, as that log writes it."""
    return _PLACEHOLDER.sub(
        lambda found: (_FIRST_AT + timedelta(seconds=int(found[2]))).strftime(_FORMS[found[1]]), text
    )


def log_of(text: str) -> tuple[str, AlertLog]:
    """Return the node and the log of a text that begins with `# path: …` and `# node: …`."""
    head = dict(re.findall(r"^# (path|node): (.+)$", text, re.MULTILINE))
    found = log_of_lines(head["path"], stamped(text).splitlines(), READ_AT)
    assert found is not None
    return head["node"], found


def cluster_with(*texts: str, base: Cluster | None = None) -> Cluster:
    """Return a healthy cluster of two nodes with these logs; its instances run, as far as is known."""
    base = base or cluster(2)
    logs: dict[str, list[AlertLog]] = {setup.name: [] for setup in base.setups}
    for text in texts:
        node, log = log_of(text)
        logs[node].append(log)
    setups = tuple(
        msgspec.structs.replace(s, logs=NodeLogs(tuple(logs[s.name]), ("/u01",), read_at=READ_AT.isoformat()))
        for s in base.setups
    )
    return msgspec.structs.replace(base, setups=setups)


def sample(name: str) -> str:
    """Return the text of a sample."""
    return (SAMPLES / f"{name}.log").read_text(encoding="utf-8")
