"""The check `clusterware`: is it installed, is it the right home, does it answer, are all nodes active?"""

import msgspec
import pytest

from checks.model.facts import ActiveVersion, ClusterMember, GridHome, StaleHome, ToolMessage, Unknown
from checks.model.finding import Status
from checks.plugins.clusterware import clusterware
from tests.fixtures.clusters import cluster
from tests.fixtures.clusters import clusterware as facts


def found(built):
    return {f.code: f for f in clusterware.run(built)}


def with_facts(**changes):
    return msgspec.structs.replace(cluster(2), clusterware=msgspec.structs.replace(facts(), **changes))


def test_a_healthy_cluster_passes_with_its_version():
    finding = found(cluster(4))["IC-GRID-001"]
    assert finding.title == "Clusterware 19.0.0.0.0 is up on rac1, and all 4 nodes are active."


def test_a_source_that_names_another_home_is_reported():
    home = GridHome("/u01/new", "running ocssd.bin", "grid", (StaleHome("/u01/old", "/etc/oracle/olr.loc", "gone"),))
    finding = found(with_facts(grid_home=home))["IC-GRID-002"]
    assert (finding.status, finding.title) == (
        Status.WARN,
        "/etc/oracle/olr.loc on rac1 names the Grid home /u01/old, which is not the one in use.",
    )


def test_a_tool_without_an_answer_is_unknown_with_its_reason():
    finding = found(with_facts(misscount_s=Unknown("crsctl did not end within 10 s.")))["IC-GRID-003"]
    assert finding.status is Status.UNKNOWN
    assert finding.title == "crsctl get css misscount gave no answer on rac1."
    assert finding.seen == ("crsctl did not end within 10 s.",)


def test_a_stack_that_is_down_is_one_finding_although_every_tool_fails():
    down = Unknown("Clusterware is not running on this node.")
    codes = found(
        with_facts(
            services=(ToolMessage("CRS-4639", "Could not contact Oracle High Availability Services"),),
            members=down, configuration=down, version=down, misscount_s=down,
        )
    )  # fmt: skip
    assert {code: f.status for code, f in codes.items()} == {"IC-GRID-004": Status.FAIL}
    assert codes["IC-GRID-004"].seen == ("CRS-4639: Could not contact Oracle High Availability Services",)


def test_a_rolling_patch_is_a_warning():
    finding = found(with_facts(version=ActiveVersion("19.0.0.0.0", "ROLLING PATCH", "1")))["IC-GRID-005"]
    assert (finding.status, finding.title) == (Status.WARN, "The cluster is in the upgrade state ROLLING PATCH.")


def test_an_inactive_node_fails_and_is_named():
    members = (ClusterMember("rac1", 1, status="Active"), ClusterMember("rac2", 2, status="Inactive"))
    assert found(with_facts(members=members))["IC-GRID-006"].nodes == ("rac2",)


@pytest.mark.parametrize(("named", "status"), [((), Status.UNKNOWN), (("192.168.10.0/24",), Status.SKIPPED)])
def test_without_a_home_the_result_is_unknown_unless_the_networks_were_named(named, status):
    built = msgspec.structs.replace(
        cluster(2), clusterware=Unknown("No Grid home was found. Looked in ..."), named_networks=named
    )
    assert found(built)["IC-GRID-007"].status is status


@pytest.mark.parametrize(
    ("version", "place"),
    [
        ("11.2.0.4.0", "$GRID_HOME/log/rac2/alertrac2.log"),
        ("19.0.0.0.0", "$ORACLE_BASE/diag/crs/rac2/crs/trace/alert.log"),
    ],
)
def test_the_alert_log_of_an_inactive_node_is_named_as_its_release_has_it(version, place):
    members = (ClusterMember("rac1", 1, status="Active"), ClusterMember("rac2", 2, status="Inactive"))
    finding = found(with_facts(members=members, version=ActiveVersion(version)))["IC-GRID-006"]
    assert f"less {place}" in [command for step in finding.next for command in step.commands]
