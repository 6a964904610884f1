"""The Paths screen as text: readable for two to sixteen nodes, and in agreement with the checks."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.model.facts import Cluster, Leg, PathProbe, PingSeries, Port, PrivateNetwork, Unknown, UnreadNode, Verdict
from checks.model.finding import Status
from checks.model.report import make_report
from checks.plugins.df_ping import df_ping
from checks.report.path_lines import path_line
from checks.rules.path_matrix import PathMatrix, path_matrices, problems
from tests.fixtures.clusters import cluster, clusterware, node, path, with_paths
from tui.colours import ROLES
from tui.screens.paths.lines import foot_lines, page_of
from tui.screens.paths.matrix import matrix_lines
from tui.screens.paths.reader_page import reader_lines
from tui.text.line import plain, width_of
from tui.text.node_names import headings, short_names


def eth2(built: Cluster) -> PrivateNetwork:
    assert isinstance(built.networks, tuple)
    return built.networks[1]


def with_verdict(verdict: Verdict, leg: Leg = Leg.UNKNOWN, **more: object) -> Cluster:
    """Three nodes with a fault between rac1 and rac3 on eth2."""
    base = cluster(3)
    return with_paths(base, path(eth2(base), "rac1", "rac3", verdict, leg, **more))


def grid_on_eth2(built: Cluster) -> PathMatrix:
    return path_matrices(built)[1]


def report_of(built: Cluster):
    return make_report(
        version="1", started_at="2026-11-20T14:02:31", duration_s=1, cluster=built, findings=(), journal=()
    )


def test_names_are_distinguished_by_their_suffix():
    assert short_names(["rac1", "rac2", "rac10"]) == ["1", "2", "10"]
    assert short_names(["rac", "rac2"]) == ["rac", "rac2"]
    assert short_names(["alone"]) == ["alone"]
    assert headings(["rac1", "rac2"], 4) == (["rac1", "rac2"], False)
    assert headings(["rac1", "rac2"], 2) == (["1", "2"], False)
    assert headings(["east-alpha", "west-omega"], 3) == (["1", "2"], True)


def test_a_cell_has_the_largest_packet_and_the_letter_of_its_verdict():
    lines = plain(matrix_lines(grid_on_eth2(with_verdict(Verdict.BLACK_HOLE)), 80, ("rac2", "rac3"))).splitlines()
    assert lines[0].split() == ["from", "\\", "to", "rac1", "rac2", "rac3"]
    assert lines[1].split() == ["rac1", "·", "9000", "P", "1500", "B"]
    assert lines[2].split() == ["rac2", "9000", "P", "·", "[9000", "P]"]


@pytest.mark.parametrize(
    ("nodes", "width", "cell"),
    [
        (2, 80, "[9000 P]"),
        (4, 80, "[9000 P]"),
        (8, 80, "[9000 P]"),
        (10, 80, "[9000P]"),
        (16, 80, "[ P]"),
        (16, 120, "[9000P]"),
    ],
)
def test_cells_become_narrower_with_more_nodes_and_every_path_is_shown(nodes, width, cell):
    lines = matrix_lines(path_matrices(cluster(nodes))[0], width, ("rac1", "rac2"))
    text = plain(lines)
    assert cell in text
    assert text.count("P") == nodes * (nodes - 1)
    assert len(lines) == nodes + 1
    assert all(width_of(line) <= width for line in lines)


def test_sixteen_nodes_fit_a_screen_of_24_lines_one_network_at_a_time():
    grids = path_matrices(cluster(16))
    page = page_of(grids, grids[1].network.name, ("rac16", "rac1"), 80, 17)
    assert len(page.lines) == 17
    assert page.cursor == 16
    assert page.title == "eth2 192.168.11.0/24  MTU 9000  240 of 240 paths pass"
    assert page.place == "network 2 of 2"


def test_networks_that_fit_are_shown_one_below_the_other():
    page = page_of(path_matrices(cluster(3)), "192.168.11.0/24", ("rac1", "rac2"), 80, 17)
    assert page.title == ""
    text = plain(page.lines)
    assert "eth1 192.168.10.0/24" in text
    assert "eth2 192.168.11.0/24" in text
    assert "[9000 P]" in text.splitlines()[page.cursor]


def test_more_nodes_than_columns_show_the_nodes_around_the_cursor():
    grid = path_matrices(cluster(16))[0]
    for target in grid.nodes[1:]:
        lines = plain(matrix_lines(grid, 30, ("rac1", target)))
        assert "[P]" in lines
        assert "…" in lines.splitlines()[0]
        left = 16 - len(lines.splitlines()[0].split()) + 1
        assert lines.splitlines()[-1] == f" Left, Right: {left} more columns"


def test_the_path_under_the_cursor_is_described_in_a_line():
    built = with_verdict(Verdict.BLACK_HOLE, Leg.REQUEST, packets_sent=42, elapsed_ms=61.2)
    cell = grid_on_eth2(built).cells["rac1", "rac3"]
    expected = "rac1→rac3: 84 bytes 20/20 0.08 ms · 9000 bytes 0/20 · largest 1500 · 42 probes in 61 ms"
    assert path_line(cell) == expected
    foot = plain(foot_lines(path_matrices(built), cell, 100, 4)).splitlines()
    assert foot[0] == f" {expected}"
    assert foot[1] == " B black hole, lost on the way there"
    assert foot[-1] == " Letters: P passes  B black hole  · itself"


def test_the_legend_has_only_the_letters_in_use():
    assert plain(foot_lines(path_matrices(cluster(2)), None, 80, 2)).splitlines()[-1] == " Letters: P passes  · itself"


def test_an_unprobed_path_has_its_reason():
    built = cluster([node(1), node(2), UnreadNode("rac3", "ssh asked for a password.")], clusterware(3))
    cell = grid_on_eth2(built).cells["rac1", "rac3"]
    assert (cell.letter, cell.role) == ("?", "unknown")
    assert path_line(cell) == "rac1→rac3: rac3 could not be read: ssh asked for a password."
    no_paths = Cluster("rac1", "", nodes=built.nodes, networks=built.networks, paths=Unknown("ping is not there."))
    assert grid_on_eth2(no_paths).cells["rac1", "rac2"].reason == "ping is not there."


def test_a_node_without_a_port_is_listed_with_the_reason():
    base = cluster(3)
    network = eth2(base)
    fewer = PrivateNetwork(network.name, network.interface, network.subnet, "oifcfg", network.ports[:2], 9000)
    built = Cluster("rac1", "", nodes=base.nodes, networks=(fewer,), paths=())
    assert path_matrices(built)[0].cells["rac3", "rac1"].reason == "rac3 has no port on 192.168.11.0/24."


def test_problems_are_listed_in_reading_order():
    base = with_verdict(Verdict.BLACK_HOLE)
    built = with_paths(base, path(eth2(base), "rac2", "rac1", Verdict.UNREACHABLE))
    name = eth2(base).name
    assert problems(path_matrices(built)) == [(name, "rac1", "rac3"), (name, "rac2", "rac1")]


LOSSY = (PingSeries(56, 1000, 1000), PingSeries(8972, 1000, 996))
GRAVE = (PingSeries(56, 20, 18), PingSeries(8972, 20, 17))


@pytest.mark.parametrize(
    ("verdict", "more"),
    [
        (Verdict.BLACK_HOLE, {}),
        (Verdict.TOO_BIG, {}),
        (Verdict.LOCAL_MTU, {}),
        (Verdict.UNREACHABLE, {}),
        (Verdict.FILTERED, {}),
        (Verdict.UNKNOWN, {"reason": "It could not be sent."}),
        (Verdict.LOSS, {"series": LOSSY}),
        (Verdict.LOSS, {"series": GRAVE}),
        (Verdict.PASSES, {"hops": 1}),
        (Verdict.PASSES, {}),
    ],
)
def test_a_cell_has_the_status_of_df_ping(verdict, more):
    built = with_verdict(verdict, Leg.REQUEST, **more)
    findings = [f for f in df_ping.run(built) if f.network == eth2(built).name]
    worst = min((f.status for f in findings), key=lambda s: s.gravity)
    cell = grid_on_eth2(built).cells["rac1", "rac3"]
    assert cell.role == worst.value.lower()
    assert cell.is_problem == (worst is not Status.PASS)


def test_loss_is_shown_with_its_share():
    assert grid_on_eth2(with_verdict(Verdict.LOSS, series=GRAVE)).cells["rac1", "rac3"].figure == "12%"
    assert grid_on_eth2(with_verdict(Verdict.LOSS, series=LOSSY)).cells["rac1", "rac3"].figure == "<1%"


def test_the_detail_page_shows_both_directions_and_every_size():
    built = with_verdict(Verdict.BLACK_HOLE, Leg.REQUEST, sent_by="icmp socket", hops=0)
    grid = grid_on_eth2(built)
    text = " ".join(plain(list(reader_lines(report_of(built), grid, grid.cells["rac1", "rac3"], 80))).split())
    assert "rac1 → rac3 B black hole" in text
    assert "rac3 → rac1 P passes" in text
    assert "The largest packet that passes has 1500 bytes; 9000 bytes should pass." in text
    assert "Full-size packets get lost on the way there" in text
    assert "No router on the way back." in text
    assert "1 refused by rac1's own kernel (MTU 9000)" in text


# --- whatever the facts are -------------------------------------------------------------------------------------------

NODES = ["rac1", "rac2", "db-node-with-a-long-name.example.com", "节点一", "x", "\x1b[31mred", "rac16", ""]
numbers = st.integers(0, 10_000)
mtus = st.sampled_from([1500, 9000, 65535])
times = st.none() | st.floats(0, 5000)
words = st.text("ab \x1b\n節", max_size=30)
series = st.builds(
    PingSeries,
    st.sampled_from([56, 8972, 8973, 1472, 1]),
    numbers,
    numbers,
    st.integers(0, 2),
    st.none() | mtus,
    st.none() | mtus,
    words,
    words,
    times,
    times,
    times,
    st.none() | st.integers(0, 255),
    st.lists(words, max_size=2).map(tuple),
)
probes = st.builds(
    PathProbe,
    st.just("net"),
    st.sampled_from(NODES),
    st.sampled_from(NODES),
    words,
    st.sampled_from(["192.168.10.1", "fe80::1", ""]),
    mtus,
    st.sampled_from(Verdict),
    st.lists(series, max_size=4).map(tuple),
    st.none() | mtus | st.builds(Unknown, words),
    st.sampled_from(Leg),
    st.none() | st.integers(0, 3),
    words,
    words,
    numbers,
    numbers,
    st.floats(0, 1e5),
)


@st.composite
def squares(draw: st.DrawFn) -> Cluster:
    """Some nodes, some of them on one network or two, and paths that need not match them."""
    names = draw(st.lists(st.sampled_from(NODES), max_size=8, unique=True))
    ports = tuple(Port(name, "eth1", f"192.168.10.{n}") for n, name in enumerate(names))
    mtu = draw(mtus | st.builds(Unknown, words))
    networks = tuple(
        PrivateNetwork(name, draw(words), "192.168.10.0/24", "oifcfg", draw(st.sampled_from([ports, ports[1:]])), mtu)
        for name in draw(st.sampled_from([("net",), ("net", "other")]))
    )
    nodes = tuple(UnreadNode(name, draw(words)) for name in names[:2])
    paths = draw(st.lists(probes, max_size=12).map(tuple) | st.builds(Unknown, words))
    return Cluster("rac1", "", nodes=nodes, networks=networks, paths=paths)


@given(squares(), st.integers(20, 200), st.integers(3, 60), st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_no_line_is_wider_than_the_screen_for_any_facts(built, width, height, data):
    grids = path_matrices(built)
    ways = [(g, way) for g in grids for way in g.cells]
    grid, way = data.draw(st.sampled_from(ways)) if ways else (None, None)
    page = page_of(grids, grid.network.name if grid else "", way, width, height)
    cell = grid.cells[way] if grid else None
    room = data.draw(st.integers(2, 6))
    foot = foot_lines(grids, cell, width, room)
    assert len(foot) == room
    read = list(reader_lines(report_of(built), grid, cell, width)) if grid and cell.letter != "·" else []
    for line in [*page.lines, *foot, *read]:
        assert width_of(line) <= width
        assert all(role in ROLES or not role for _, role in line)
        assert not any("\x1b" in text or "\n" in text for text, _ in line)
    if grid:
        assert "[" in plain([page.lines[page.cursor]])
