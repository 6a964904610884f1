"""A client of the practice database inside one of its nodes: python-oracledb, with requests as lines of JSON.

Run as a program in the node it is that client; a test imports it to communicate with the client.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, TypeVar

from racwire_lab import Lab

T = TypeVar("T")
_SNMP = "/proc/net/snmp"


class Refused(Exception):
    """The driver's error; its text starts with the code."""


class Client:
    """Runs queries from one node. It logs in once for each connect string, and again after an error."""

    def __init__(self, cluster: Lab, node: str = "rac1") -> None:
        assert cluster.database
        self.cluster, self.node, self.access = cluster, node, cluster.database
        self._process = subprocess.Popen(
            cluster.enter(node, [sys.executable, __file__]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PASSWORD_FILE": str(self.access.password_file)},
        )  # fmt: skip

    def close(self) -> None:
        """End the client."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def ask(self, sql: str, connect: str | None = None, timeout_s: float = 10) -> list[dict[str, Any]]:
        """Return the rows by lower-case column, in a new session when the old one was dropped. Raises Refused."""
        try:
            return self._ask_once(sql, connect, timeout_s)
        except Refused as error:
            if not str(error).startswith("DPY-4011"):
                raise
            return self._ask_once(sql, connect, timeout_s)

    def _ask_once(self, sql: str, connect: str | None, timeout_s: float) -> list[dict[str, Any]]:
        assert self._process.stdin
        assert self._process.stdout
        question = {"sql": sql, "connect": connect or self.access.connect, "timeout_s": timeout_s}
        print(json.dumps({**question, "user": self.access.user}), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        if "error" in answer:
            raise Refused(answer["error"])
        return [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]

    def refusal(self, sql: str, connect: str | None = None, timeout_s: float = 10) -> str:
        """Return the error of the driver; empty when there was an answer."""
        try:
            self._ask_once(sql, connect, timeout_s)
        except Refused as error:
            return str(error)
        return ""

    def statistics(self) -> dict[int, dict[str, int]]:
        """Return GV$SYSSTAT by instance and name."""
        found: dict[int, dict[str, int]] = {}
        for row in self.ask("SELECT inst_id, name, value FROM gv$sysstat WHERE name LIKE 'gc%'"):
            found.setdefault(row["inst_id"], {})[row["name"]] = row["value"]
        return found

    def received(self) -> dict[int, int]:
        """Return the blocks received, by instance."""
        return {
            number: values["gc cr blocks received"] + values["gc current blocks received"]
            for number, values in self.statistics().items()
        }

    def lost(self) -> dict[tuple[int, int], int]:
        """Return the blocks lost, by receiver and sender."""
        sql = "SELECT inst_id, instance, SUM(lost) AS lost FROM gv$instance_cache_transfer GROUP BY inst_id, instance"
        return {(row["inst_id"], row["instance"]): row["lost"] for row in self.ask(sql) if row["lost"]}


def counters(cluster: Lab, node: str) -> dict[str, int]:
    """Return the kernel's counters of IP and UDP in a node, as `Ip.ReasmFails`."""
    command = cluster.enter(node, ["cat", _SNMP])
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = {}
    for names, values in zip(lines[::2], lines[1::2], strict=True):
        protocol = names.partition(":")[0]
        found.update({f"{protocol}.{n}": int(v) for n, v in zip(names.split()[1:], values.split()[1:], strict=True)})
    return found


def _serve() -> None:
    import oracledb

    with open(os.environ["PASSWORD_FILE"], encoding="ascii") as file:
        password = file.read().strip()
    connections: dict[str, Any] = {}
    for line in sys.stdin:
        question = json.loads(line)
        connect = question["connect"]
        try:
            if connect not in connections:
                connections[connect] = oracledb.connect(
                    user=question["user"], password=password, dsn=connect, tcp_connect_timeout=2
                )
            connections[connect].call_timeout = int(question["timeout_s"] * 1000)
            with connections[connect].cursor() as cursor:
                cursor.execute(question["sql"])
                answer = {"columns": [column[0].lower() for column in cursor.description], "rows": cursor.fetchall()}
        except oracledb.Error as error:
            connections.pop(connect, None)
            answer = {"error": str(error).splitlines()[0]}
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    _serve()
