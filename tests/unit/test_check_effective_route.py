"""The check effective-route, and the answers of `ip route get` of old and new releases that it is made of."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import Address, Cluster, NodeRoutes, Route, RouteInUse, Unknown, Verdict
from checks.model.finding import Status
from checks.plugins.effective_route import effective_route
from checks.rules.policy_rules import rule_for
from checks.sources.nodes.route_get import Query, parse_routes_in_use, parse_rules, queries
from tests.fixtures.clusters import cluster, node, path, with_interface, with_paths

DIRECT = "192.168.10.2 from 192.168.10.1 dev eth1"
QUERY = Query("192.168.10.0/24", "192.168.10.1", (("rac2", "192.168.10.2"), ("rac3", "192.168.10.3")))


def answer(bound: str, unbound: str = "", ip: str = "192.168.10.2") -> str:
    own = (
        "route to 192.168.10.1\nlocal 192.168.10.1 from 192.168.10.1 dev lo \n    cache <local> \nwithout a source\nx\n"
    )
    return f"{own}route to {ip}\n{bound}\nwithout a source\n{unbound}\n"


def parsed(bound: str, unbound: str = "") -> RouteInUse:
    (found,) = parse_routes_in_use(answer(bound, unbound), QUERY)
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{DIRECT} uid 0 \n    cache ", {}),
        (f"{DIRECT} \n    cache  mtu 1500 advmss 1460 hoplimit 64", {"mtu": 1500, "advmss": 1460}),
        (f"{DIRECT} \n    cache  ipid 0x4d1c rtt 2ms rttvar 2ms mtu 9000 advmss 8960", {"mtu": 9000, "advmss": 8960}),
        (
            f"{DIRECT} via 192.168.10.254 \n    cache  expires 590sec mtu 1400 advmss 1460",
            {"mtu": 1400, "advmss": 1460, "expires_s": 590, "gateway": "192.168.10.254"},
        ),
        (
            f"{DIRECT} uid 54321 \n    cache expires 12sec mtu lock 1300 ",
            {"mtu": 1300, "expires_s": 12, "mtu_locked": True},
        ),
        (f"{DIRECT} \n    cache expires -3sec mtu 1400", {}),
        (
            "192.168.10.2 via inet6 fe80::1 dev eth1 table 220 uid 0 \n    cache ",
            {"gateway": "fe80::1", "table": "220"},
        ),
    ],
)
def test_the_answers_of_old_and_new_kernels(text, expected):
    found = parsed(text)
    assert (found.interface, found.to_node, found.destination_ip, found.source_ip) == (
        "eth1", "rac2", "192.168.10.2", "192.168.10.1",
    )  # fmt: skip
    plain = RouteInUse(QUERY.network, QUERY.source, "rac2", "192.168.10.2", "eth1")
    assert found == msgspec.structs.replace(plain, **expected)


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("RTNETLINK answers: No route to host", "No route to host"),
        ("RTNETLINK answers: Invalid argument\n", "Invalid argument"),
        ("unreachable 192.168.10.2 from 192.168.10.1 dev lo  table unspec \n    cache  error -101", "unreachable"),
    ],
)
def test_a_refusal_is_kept_in_the_words_of_the_kernel(text, refusal):
    assert (parsed(text).refusal, parsed(text).interface) == (refusal, "")


@pytest.mark.parametrize(
    "text", ["", "sh: ip: not found", "Error: inet prefix is expected rather than x.", "x dev eth1"]
)
def test_an_answer_that_is_no_route_is_left_out(text):
    assert parse_routes_in_use(answer(text), QUERY) == []


def test_the_source_of_programs_that_choose_none_is_read():
    assert (
        parsed(
            "192.168.10.2 from 192.168.10.1 dev eth1", "192.168.10.2 dev eth1  src 10.20.0.1 \n    cache"
        ).unbound_source
        == "10.20.0.1"
    )


@given(st.text())
def test_no_output_breaks_the_parser(text):
    parse_routes_in_use(text, QUERY)
    parse_routes_in_use(answer(text, text), QUERY)


def test_each_private_address_is_asked_for_those_of_the_peers_in_its_subnet():
    haip = [
        with_interface(node(n), "eth1", addresses=(*node(n).interface("eth1").addresses, Address(f"169.254.3.{n}", 17)))
        for n in (1, 2)
    ]
    found = queries(cluster(haip), "rac1")
    assert [(q.source, q.peers) for q in found] == [
        ("192.168.10.1", (("rac2", "192.168.10.2"),)),
        ("169.254.3.1", (("rac2", "169.254.3.2"),)),
        ("192.168.11.1", (("rac2", "192.168.11.2"),)),
    ]
    assert queries(cluster(1), "rac1") == []


def asked(built: Cluster, **changes: object) -> Cluster:
    """Right answers on both nodes; those of rac1 on eth1 have the changes."""
    nodes = []
    for number, peer in ((1, 2), (2, 1)):
        routes = [
            RouteInUse(
                f"{net}.0/24", f"{net}.{number}", f"rac{peer}", f"{net}.{peer}", nic, unbound_source=f"{net}.{number}"
            )
            for nic, net in (("eth1", "192.168.10"), ("eth2", "192.168.11"))
        ]
        if number == 1:
            routes[0] = msgspec.structs.replace(routes[0], **changes)
        nodes.append(NodeRoutes(f"rac{number}", tuple(routes)))
    return msgspec.structs.replace(built, effective_routes=tuple(nodes))


def found(built: Cluster):
    return {(f.code, f.status) for f in effective_route.run(built)}


PASSES = ("IC-EROUTE-001", Status.PASS)
LEFT = ("IC-EROUTE-011", Status.SKIPPED)


def test_right_answers_pass():
    (finding,) = effective_route.run(asked(cluster()))
    assert (finding.code, finding.status) == PASSES
    assert finding.title == "The kernels of rac1 and rac2 use the right NIC for 4 pairs of private addresses."


@pytest.mark.parametrize(
    ("changes", "code", "status"),
    [
        ({"mtu": 1400, "expires_s": 590}, "IC-EROUTE-002", Status.WARN),
        ({"interface": "eth0"}, "IC-EROUTE-003", Status.FAIL),
        ({"mtu": 1400}, "IC-EROUTE-004", Status.WARN),
        ({"unbound_source": "10.20.0.1"}, "IC-EROUTE-005", Status.WARN),
        ({"interface": "", "refusal": "No route to host"}, "IC-EROUTE-006", Status.FAIL),
        ({"advmss": 1460}, "IC-EROUTE-007", Status.INFO),
    ],
)
def test_each_fault_is_named_on_its_node(changes, code, status):
    (finding,) = (f for f in effective_route.run(asked(cluster(), **changes)) if f.code != PASSES[0])
    assert (finding.code, finding.status, finding.nodes, finding.network) == (
        code,
        status,
        ("rac1",),
        "192.168.10.0/24",
    )
    assert "192.168.10.2" in finding.title


@pytest.mark.parametrize(
    "changes", [{"mtu": 9000, "advmss": 8960}, {"mtu": 9000, "expires_s": 5}, {"unbound_source": ""}]
)
def test_the_values_that_old_kernels_print_for_each_route_pass(changes):
    assert found(asked(cluster(), **changes)) == {PASSES}


def test_faults_of_the_main_table_are_left_to_its_own_checks():
    over = Route("192.168.10.2/32", "eth2")
    built = cluster([msgspec.structs.replace(node(1), routes=(*node(1).routes, over)), node(2)])
    assert found(asked(built, interface="eth2")) == {PASSES, LEFT}
    without = cluster([msgspec.structs.replace(node(1), routes=node(1).routes[1:]), node(2)])
    assert found(asked(without, interface="", refusal="Network is unreachable")) == {PASSES, LEFT}
    own = tuple(msgspec.structs.replace(r, mtu=1400) if r.interface == "eth1" else r for r in node(1).routes)
    small = cluster([msgspec.structs.replace(node(1), routes=own), node(2)])
    assert found(asked(small, mtu=1400)) == {PASSES}


RULE = "32765: from 192.168.10.1 lookup 100"


def finding_of(built: Cluster, code: str):
    (finding,) = (f for f in effective_route.run(built) if f.code == code)
    return finding


def with_rules(built: Cluster, *rules: str) -> Cluster:
    assert isinstance(built.effective_routes, tuple)
    first, *others = built.effective_routes
    return msgspec.structs.replace(built, effective_routes=(msgspec.structs.replace(first, rules=rules), *others))


def test_a_gateway_is_named_with_the_rule_that_leads_to_it():
    built = with_rules(asked(cluster(), gateway="192.168.10.254", table="100"), "9: from all fwmark 0x2 lookup 9", RULE)
    finding = finding_of(built, "IC-EROUTE-009")
    assert finding.title == (
        "The kernel of rac1 sends packets to the gateway 192.168.10.254 by the rule `from 192.168.10.1 lookup 100`, "
        "for 192.168.10.2."
    )
    assert finding.next[-1].commands == ("ip route add 192.168.10.0/24 dev eth1 src 192.168.10.1 table 100",)
    passes = finding_of(built, PASSES[0])
    assert passes.title == "The kernels of rac1 and rac2 use the right NIC for 3 of 4 pairs of private addresses."
    assert [(o.network, o.nodes) for o in passes.observed] == [
        ("192.168.11.0/24", ("rac1", "rac2")), ("192.168.10.0/24", ("rac2",)),
    ]  # fmt: skip


def test_a_peer_that_is_its_own_gateway_is_a_warning():
    assert finding_of(asked(cluster(), gateway="192.168.10.2"), "IC-EROUTE-009").status is Status.WARN


def test_a_refusing_rule_is_named_and_its_removal_offered():
    rule = "100: from 192.168.10.1 to 192.168.10.0/24 prohibit"
    finding = finding_of(with_rules(asked(cluster(), interface="", refusal="Permission denied"), rule), "IC-EROUTE-006")
    assert finding.next[-1].commands == ("ip rule del from 192.168.10.1 to 192.168.10.0/24 prohibit",)


def test_a_way_without_an_answer_is_unknown_and_in_no_sum():
    built = asked(cluster())
    first, second = built.effective_routes
    built = msgspec.structs.replace(
        built, effective_routes=(msgspec.structs.replace(first, routes=first.routes[1:]), second)
    )
    assert finding_of(built, "IC-EROUTE-008").title == (
        "The routes in use for 1 pair of addresses on 192.168.10.0/24 on rac1 are not known."
    )
    assert finding_of(built, PASSES[0]).title.endswith("for 3 of 4 pairs of private addresses.")


def test_ways_of_a_nic_that_is_down_are_left_to_interfaces():
    down = with_interface(node(1), "eth1", operational_state="down")
    left = finding_of(asked(cluster([down, node(2)])), LEFT[0])
    assert (left.status, left.title) == (
        Status.SKIPPED, "1 pair of addresses on 192.168.10.0/24 is judged by interfaces: eth1 of rac1 is down.",
    )  # fmt: skip


def test_rules_are_read_without_those_of_each_linux():
    rules = "0:\tfrom all lookup local\n32765:\tfrom 192.168.10.1 lookup 100\n32766:\tfrom all lookup main\nError: x\n"
    text = f"{answer(DIRECT)}rules\n{rules}"
    assert parse_rules(text) == [RULE]
    assert [r.interface for r in parse_routes_in_use(text, QUERY)] == ["eth1"]


@pytest.mark.parametrize(
    ("rule", "applies"),
    [
        (RULE, True),
        ("1: from all to 192.168.10.0/24 lookup 100", True),
        ("1: from 192.168.10.1 iif lo lookup 100", True),
        ("1: from 192.168.10.1 iif eth0 lookup 100", False),
        ("1: from 192.168.10.9 lookup 100", False),
        ("1: from 192.168.10.1 lookup 101", False),
        ("1: not from all fwmark 0xca6c lookup 100", False),
        ("1: from x lookup", False),
    ],
)
def test_the_rule_of_a_route_fits_its_addresses_and_table(rule, applies):
    route = RouteInUse("n", "192.168.10.1", "rac2", "192.168.10.2", "eth1", "192.168.10.254", table="100")
    assert rule_for([rule], route) == (rule if applies else "")


@given(st.text(), st.text())
def test_no_rule_breaks_its_parser(text, ip):
    parse_rules(f"rules\n{text}")
    rule_for([text, f"1: from {text} lookup {text}"], RouteInUse("n", ip, "rac2", ip))


def test_a_learned_mtu_on_a_path_with_a_fault_is_information():
    built = asked(cluster(), mtu=1400, expires_s=590)
    broken = path(built.networks[0], "rac1", "rac2", Verdict.TOO_BIG)
    assert ("IC-EROUTE-002", Status.INFO) in found(with_paths(built, broken))


def test_unread_routes_are_unknown_and_unasked_ones_are_skipped():
    unread = msgspec.structs.replace(
        asked(cluster()),
        effective_routes=(NodeRoutes("rac1", Unknown("no ip there")), NodeRoutes("rac9", Unknown("x"))),
    )
    (finding,) = effective_route.run(unread)
    assert (finding.code, finding.status, finding.nodes) == ("IC-EROUTE-008", Status.UNKNOWN, ("rac1",))
    assert found(cluster()) == {("IC-EROUTE-001", Status.SKIPPED)}
    alone = msgspec.structs.replace(cluster(1), effective_routes=(NodeRoutes("rac1"),))
    assert found(alone) == {("IC-EROUTE-001", Status.SKIPPED)}


@given(st.text(), st.integers(), st.integers(), st.text())
def test_no_answer_breaks_the_check(interface, mtu, advmss, source):
    assert found(
        asked(cluster(), interface=interface, mtu=mtu, advmss=advmss, unbound_source=source, destination_ip="fd00::2")
    )
