"""The words that find a command of the console besides its own name and its help: what a DBA types after `:`."""

from __future__ import annotations

from collections.abc import Sequence

_SYNONYMS = {
    "app.rerun({})": "refresh reload again recheck retry repeat update check scan run",
    "app.write('saved file')": "archive keep dump store bundle snapshot",
    "app.write({})": "export write print html pdf markdown text json mail ticket sr",
    "app.record": "capture sample samples trace tcpdump oswatcher",
    "app.explain({})": "why what meaning describe info oerr cause code",
    "app.shell": "bash sh host terminal ssh !",
    "app.connect({})": "login logon sqlplus password user tns service database",
    "app.graphs": "braille blocks characters charts",
    "app.theme": "colour colours color colors dark light contrast palette",
    "app.show('checks')": "findings finding problems causes errors faults issues status health home main",
    "app.show('paths')": "ping pings mtu jumbo df network networks matrix route routes latency rtt",
    "app.show('traffic')": "loss lost drop drops dropped bandwidth rate rates load throughput packets errors nic nics "
    "interface cpu softirq live graph graphs top",
    "app.show('database')": "loss lost blocks gc lms instance instances awr statspack waits history db cache fusion",
    "app.show('change')": "mtu jumbo 9000 plan runbook maintenance rollback",
    "app.show('measure')": "benchmark bench test iperf speed throughput latency experiment",
    "app.show('events')": "alarm alarms alert alerts log incidents loss lost drop drops cable link flap eviction node",
    "app.ran": "journal log history commands executed audit activity queries",
    "app.help": "keys shortcuts manual man usage ?",
    "app.stop": "suspend background bg",
    "app.quit": "exit close end logout bye",
    "pause": "freeze hold stop resume play",
    "sort": "order",
    "filter": "search find grep",
    "problems": "errors failures only",
    "problem": "errors failures bad next",
    "zoom": "full fullscreen maximise maximize enlarge bigger pane",
    "verify": "fixed confirm prove gate",
    "copy": "clipboard yank commands",
    "forget": "clear delete remove acknowledge ack",
    "redact": "pseudonyms anonymise anonymize mask hide names",
    "seek": "time jump when playhead",
    "interval": "faster slower frequency every rate",
    "reset": "peaks zero highest",
    "speed": "faster slower replay",
    "all": "nodes overview",
    "others": "public interfaces",
    "export": "write file events",
    "attest": "sign confirm approve",
    "override": "force skip",
    "rollback": "undo back revert",
    "plan": "new mtu",
    "go": "send start",
}
"""By command, in Textual's notation with or without its arguments: the words, separated by spaces."""


def synonyms(command: str) -> Sequence[str]:
    """Return the words that find a command, its own name first."""
    stem = command.partition("(")[0]
    return (stem.rpartition(".")[2], *_SYNONYMS.get(command, _SYNONYMS.get(stem, "")).split())


def commands() -> Sequence[str]:
    """Return the commands that have synonyms."""
    return tuple(_SYNONYMS)
