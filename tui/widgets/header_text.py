"""The header line: cluster, nodes, private networks, database and sampling. It does not tick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from checks.model.facts import Cluster, Clusterware, Database, Unknown
from checks.model.finding import Status
from checks.model.report import Report
from checks.model.situation import Situation
from checks.situation.marks import DATABASE, NodeMark, node_marks
from tui.console.app_state import FeedState
from tui.text.line import Line, fitted, plain, sanitize_line, width_of


def header_line(
    report: Report | None,
    width: int,
    feed: FeedState | None = None,
    sending: str = "",
    situation: Situation | None = None,
) -> Line:
    """Return the header line. Without enough room it omits first the version, then the database, then the nodes
    without problems, and last the open change. `sending` is at its end in any case, and says that a measurement runs.
    `situation` has what is marked at its nodes, and where the open change is: `change 6/15`."""
    marks = node_marks(report, situation) if situation else {}
    if sending:
        mark = f" {sending} "
        line = header_line(report, max(width - len(mark) - 1, 0), feed, situation=situation)
        return [*line, (" " * max(width - len(mark) - width_of(line), 0), ""), (mark, "sending")]
    place = [(situation.change, "accent")] if situation and situation.change else []
    lines: list[Line] = [
        *(_shorter_and_shorter(report, marks, place) if report else ()),
        _joined([("racwire", "title"), *place]),
        [(" racwire", "title")],
    ]
    for ends in _ends(feed):
        for line, end in product(lines, ends):
            room = width - width_of(line) - width_of(end)
            if not end and room >= 0:
                return line
            if room > 2:
                return [*line, (" " * (room - 1), ""), *end]
    least = lines[-1]
    return [(fitted(plain([least]), width), "")] if width_of(least) > width else least


def _ends(feed: FeedState | None) -> Iterator[list[Line]]:
    """Yield groups of line ends, best first: an end of a later group counts only where no end of an earlier one
    fits."""
    past = feed.past if feed is not None else None
    if past is not None and past.is_saved:
        yield [[(sanitize_line(label), "accent")] for label in (past.longer, past.label) if label]
        yield [[(sanitize_line(past.shorter), "accent")]]
        return
    yield [_live(feed)]


def _live(feed: FeedState | None) -> Line:
    """Return the sampling interval, or the name of the open recording."""
    if feed is not None and feed.replayed:
        return [(sanitize_line(feed.replayed), "accent")]
    if feed is None or not (feed.is_running or feed.trouble):
        return []
    if feed.trouble:
        return [("live!", "fail")]
    return [(f"live {feed.interval_s:g} s{' rec' if feed.recording else ''}", "accent")]


def _shorter_and_shorter(report: Report, marks: Mapping[str, NodeMark], place: list[tuple[str, str]]) -> Iterator[Line]:
    cluster = report.cluster
    nodes = list(_nodes(cluster, marks))
    bad = [n for n in nodes if n[1] or n[0].endswith("*")]
    fewer = [*bad, (f"of {len(nodes)} nodes", "")] if len(bad) < len(nodes) else nodes
    full = [("racwire", "title"), *_name(cluster), *place]
    networks = list(_networks(cluster))
    for shown in (nodes, fewer):
        start = [*full, *_spaced(shown)]
        is_silent = DATABASE in marks
        yield _joined(
            [*start, *_version(cluster), *networks, *_database(cluster, of_instances=True, is_silent=is_silent)]
        )
        yield _joined([*start, *networks, *_database(cluster, of_instances=True, is_silent=is_silent)])
        yield _joined([*start, *networks, *_database(cluster, of_instances=False, is_silent=is_silent)])
        yield _joined([*start, *_version(cluster), *networks])
        yield _joined([*start, *networks])
    yield _joined([*full, *_spaced(fewer)])
    yield _joined(full)


def _joined(parts: list[tuple[str, str]]) -> Line:
    """Return the parts two spaces apart; a part that starts with a space belongs to the part before."""
    line: list[tuple[str, str]] = []
    for text, role in parts:
        gap = " " if not line or text.startswith(" ") else "  "
        line += [(gap, ""), (text.removeprefix(" "), role)]
    return line


def _spaced(nodes: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for number, (text, role) in enumerate(nodes):
        yield (f" {text}" if number else text), role


def _name(cluster: Cluster) -> Iterator[tuple[str, str]]:
    facts = cluster.clusterware
    if isinstance(facts, Clusterware) and isinstance(facts.cluster_name, str):
        yield sanitize_line(facts.cluster_name), "accent"


def _nodes(cluster: Cluster, marks: Mapping[str, NodeMark]) -> Iterator[tuple[str, str]]:
    """Yield each node, with `*` after the node that racwire runs on, `!` after a node at fault, `?` after one of which
    something is not known, and `~` after one that a started step of a change has stopped."""
    unread = {node.name for node in cluster.unread_nodes()}
    known = () if isinstance(cluster.nodes, Unknown) else cluster.nodes
    for name in [n.name for n in known] or [cluster.local_node]:
        here = "*" if name == cluster.local_node else ""
        mark = marks.get(name)
        if mark is None and name in unread:
            mark = NodeMark("?", Status.UNKNOWN)
        role = "" if mark is None else _ROLES.get(mark.sign, "fail" if mark.status is Status.FAIL else "warn")
        yield f"{sanitize_line(name)}{here}{mark.sign if mark else ''}", role


_ROLES = {"?": "unknown", "~": "accent"}


def _version(cluster: Cluster) -> Iterator[tuple[str, str]]:
    facts = cluster.clusterware
    if isinstance(facts, Clusterware) and not isinstance(facts.version, Unknown):
        yield "GI " + ".".join(sanitize_line(facts.version.version).split(".")[:3]), ""


def _networks(cluster: Cluster) -> Iterator[tuple[str, str]]:
    for network in () if isinstance(cluster.networks, Unknown) else cluster.networks:
        yield f"{sanitize_line(network.interface)} {network.mtu if isinstance(network.mtu, int) else '?'}", ""


def _database(cluster: Cluster, *, of_instances: bool, is_silent: bool) -> Iterator[tuple[str, str]]:
    """Yield the database with its version, and how many of its instances were queried; with `?` where it does not
    answer now."""
    facts = cluster.database
    if isinstance(facts, Database):
        version = ".".join(sanitize_line(facts.version).split(".")[:2])
        known = len(facts.instances) + len(facts.unasked)
        queried = f" {len(facts.instances)}" + (f"/{known}" if facts.unasked else "") + " inst" if of_instances else ""
        if is_silent and not of_instances:
            yield f"{sanitize_line(facts.name)}?", "unknown"
            return
        is_unknown = is_silent or (facts.unasked and of_instances)
        mark = "?" if is_silent else ""
        yield f"{sanitize_line(facts.name)} {version}{queried}{mark}", "unknown" if is_unknown else ""
