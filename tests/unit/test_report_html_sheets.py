"""The plain tables of the HTML report: for the network team and the DBA."""

import msgspec

from checks.model.facts import UnreadNode
from checks.report.html.evidence_sheets import cluster_sheets
from tests.fixtures.clusters import cluster, node, with_interface


def sheet(built, title):
    return next(sheet for sheet in cluster_sheets(built) if sheet.title == title)


def test_each_interface_is_listed_with_its_mac_address():
    built = cluster([node(1), with_interface(node(2), "eth2", mac_address="52:54:00:12:34:56")])
    interfaces = sheet(built, "Interfaces of every layer")
    rows = {row[0]: dict(zip(interfaces.columns, row, strict=True)) for row in interfaces.rows}
    assert rows["rac2 eth2"]["MAC"] == "52:54:00:12:34:56"
    assert rows["rac1 eth2"]["MAC"] == ""
    assert rows["rac2 eth2"]["Addresses"] == "192.168.11.2/24"


def test_the_reason_of_an_unread_node_continues_after_the_colon():
    built = msgspec.structs.replace(cluster(1), nodes=(node(1), UnreadNode("rac2", "User equivalence is missing.")))
    assert "rac2 could not be read: user equivalence is missing." in sheet(built, "Nodes").notes
