"""The descriptions of paths between nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.wording import between, continued, counted, hub, listed, sides

NODES = ("rac1", "rac2", "rac3", "rac4")


def ways(text):
    return {tuple(w.split(">")) for w in text.split()}


@pytest.mark.parametrize(
    ("nodes", "lost", "expected"),
    [
        (NODES[:2], "rac1>rac2 rac2>rac1", "between rac1 and rac2, both ways"),
        (NODES[:2], "rac2>rac1", "from rac2 to rac1"),
        (NODES, "rac1>rac3 rac2>rac3 rac4>rac3", "from every other node to rac3"),
        (NODES, "rac3>rac1 rac3>rac2", "from rac3 to rac1 and rac2"),
        (NODES, "rac1>rac3 rac3>rac1 rac2>rac3 rac3>rac2 rac4>rac3 rac3>rac4",
         "between rac3 and every other node, both ways"),
        (NODES, "rac1>rac3 rac3>rac1 rac3>rac4 rac4>rac3", "between rac3 and each of rac1 and rac4, both ways"),
        (NODES, "rac1>rac2 rac2>rac1 rac1>rac4 rac4>rac1 rac2>rac4 rac4>rac2",
         "between rac1, rac2 and rac4, both ways"),
        (NODES, "rac2>rac1 rac1>rac2 rac2>rac3 rac3>rac2 rac2>rac4 rac4>rac2 rac1>rac3 rac4>rac3",
         "between rac2 and every other node, both ways; from rac1 and rac4 to rac3"),
        (NODES, "rac1>rac2 rac2>rac1 rac3>rac4", "between rac1 and rac2, both ways; from rac3 to rac4"),
    ],
)  # fmt: skip
def test_paths_are_described_in_plain_words(nodes, lost, expected):
    assert between(ways(lost), nodes) == expected


def test_paths_between_all_nodes_have_a_short_description():
    assert between({(a, b) for a in NODES for b in NODES if a != b}, NODES) == "between all nodes, both ways"


def test_without_all_nodes_probed_the_text_does_not_claim_every_node():
    assert between(ways("rac1>rac3 rac2>rac3"), NODES[:3], complete=False) == "from every other node probed to rac3"
    everyone = {(a, b) for a in NODES for b in NODES if a != b}
    assert between(everyone, NODES, complete=False) == "between all nodes probed, both ways"


def test_many_paths_without_a_pattern_are_counted():
    assert between(ways("rac1>rac2 rac2>rac3 rac3>rac4 rac4>rac1"), NODES) == "over 4 of 12 paths"


def test_paths_within_the_sides_of_a_divided_network_are_named():
    nodes = ["rac1", "rac2", "rac3", "rac4", "rac5"]
    groups = (nodes[:2], nodes[2:])
    within = {(a, b) for group in groups for a in group for b in group if a != b}
    assert between(within, nodes) == "between rac1 and rac2; between rac3, rac4 and rac5, both ways"


def test_a_common_node_needs_a_third_node_to_be_recognized():
    assert hub({("rac1", "rac2")}, NODES[:2]) == ""
    assert hub(ways("rac1>rac3 rac3>rac2"), NODES) == "rac3"


def test_lists_and_counts_are_written_as_text():
    assert [listed([]), listed("a"), listed("ab"), listed("abc")] == ["", "a", "a and b", "a, b and c"]
    assert [counted(1, "node"), counted(12400, "block")] == ["1 node", "12,400 blocks"]


@pytest.mark.parametrize(
    ("sentence", "after_a_colon"),
    [
        ("User equivalence to rac2 is missing.", "user equivalence to rac2 is missing."),
        ("No node has a port on this network.", "no node has a port on this network."),
        ("Clusterware may hang there.", "Clusterware may hang there."),
        ("NetworkManager does not tell.", "NetworkManager does not tell."),
        ("The", "The"),
        ("", ""),
    ],
)
def test_a_continued_sentence_begins_in_lower_case_unless_with_a_name(sentence, after_a_colon):
    assert continued(sentence) == after_a_colon


SIX = (*NODES, "rac5", "rac6")


def across(*groups):
    return {(a, b) for one in groups for other in groups if one is not other for a in one for b in other}


@pytest.mark.parametrize(
    ("nodes", "groups", "expected"),
    [
        (NODES, (NODES[:2], NODES[2:]), "between rac1 and rac2 on one side and rac3 and rac4 on the other, both ways"),
        (SIX, (("rac1", "rac3", "rac5"), ("rac2", "rac4", "rac6")),
         "between rac1, rac3 and rac5 on one side and rac2, rac4 and rac6 on the other, both ways"),
        (SIX, (SIX[:2], SIX[2:4], SIX[4:]),
         "between the groups rac1 and rac2; rac3 and rac4; rac5 and rac6, both ways"),
    ],
)  # fmt: skip
def test_nodes_on_several_sides(nodes, groups, expected):
    assert sides(across(*groups), nodes) == groups
    assert between(across(*groups), nodes) == expected


def test_what_is_no_division_is_not_called_one():
    whole = across(NODES[:2], NODES[2:])
    assert sides(whole - {("rac1", "rac3")}, NODES) == ()
    assert sides(whole | {("rac1", "rac2")}, NODES) == ()
    assert sides(across(NODES[:1], NODES[1:]), NODES) == ()
    assert sides(set(), NODES) == ()


@given(st.sets(st.tuples(st.sampled_from(NODES), st.sampled_from(NODES))))
def test_the_sides_are_all_nodes_once_and_no_direction_is_within_one(pairs):
    found = sides(pairs, NODES)
    if found:
        assert sorted(n for side in found for n in side) == sorted(NODES)
        assert across(*found) == pairs
