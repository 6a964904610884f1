"""The findings that the engine makes for any check: it was skipped, interrupted or broken, or its facts are missing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from checks.model.broken_dependency import error_text
from checks.model.check import Check, SkippedKind, UnknownKind
from checks.model.facts import Cluster, NotAsked, Unknown, Unread
from checks.model.finding import Finding, NextStep, Status, check_again, name_the_networks
from checks.model.journal import Journal
from checks.model.networks import NO_GRID_HOME, subnets_found
from checks.model.wording import continued, first_and_rest
from checks.run.check_discovery import BrokenPlugin
from checks.sources.database.statements import is_of_database

NOT_GATHERED = UnknownKind(
    "RW-ENGINE-001",
    "The facts that a check needs could not be gathered",
    "UNKNOWN is neither good nor bad: until the cause is fixed, this check has no verdict about the cluster.",
)
CHECK_BROKE = UnknownKind(
    "RW-ENGINE-002",
    "A check failed with an error",
    "The error is in the check, not in the cluster. The other checks are not affected.",
)
PLUGIN_BROKEN = UnknownKind(
    "RW-ENGINE-003", "An installed check could not be loaded", "The findings of that check are not known."
)
INTERRUPTED = UnknownKind("RW-ENGINE-004", "The run was interrupted before a check finished")
NOT_ASKED = SkippedKind(
    "RW-ENGINE-005",
    "A check was skipped, because the facts that it judges were not requested",
    "SKIPPED is neither good nor bad. It does not change the exit code.",
)
ONLY_IPV4 = SkippedKind(
    "RW-ENGINE-006",
    "A check did not examine a private network of IPv6",
    "The check judges counters or settings that the kernel has for IPv4 alone.",
)
_ELSEWHERE = NextStep("Run racwire on a node where Clusterware is up.", ("racwire check",))
KINDS = (NOT_GATHERED, CHECK_BROKE, PLUGIN_BROKEN, INTERRUPTED, NOT_ASKED, ONLY_IPV4)
"""The kinds of findings that the engine itself makes, for any check."""


def _of(check_id: str, finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, check=check_id)


def not_asked(check: Check, need: str, left_out: NotAsked) -> Finding:
    """Return the finding of a check whose facts were not requested."""
    return _of(
        check.id,
        NOT_ASKED.finding(
            left_out.reason,
            subject=f"{need} not requested",
            next=[NextStep("To include it:", left_out.commands)] if left_out.commands else (),
        ),
    )


def without_ipv6(check: Check, cluster: Cluster, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings of a check, and each private network of IPv6 as not examined where it judges IPv4 alone.

    Where all private networks are of IPv6, what passed is left out: it says nothing about them.
    """
    networks = () if isinstance(cluster.networks, Unknown) else cluster.networks
    of_ipv6 = [n for n in networks if ":" in n.subnet] if check.only_ipv4 else []
    if not of_ipv6:
        return tuple(findings)
    kept = [f for f in findings if f.status is not Status.PASS or len(of_ipv6) < len(networks)]
    left = [
        ONLY_IPV4.finding(
            f"{network.name} was not examined by {check.id}: {check.only_ipv4}.",
            subject=f"{network.name}: IPv6",
            network=network.name,
        )
        for network in of_ipv6
    ]
    return (*kept, *(_of(check.id, finding) for finding in left))


def not_gathered(check: Check, need: str, unknown: Unknown, cluster: Cluster, journal: Journal) -> Finding:
    """Return the finding of a check whose facts could not be gathered, with the queries of this node that failed."""
    node = cluster.local_node
    topics = {"clusterware": ("grid home",), "networks": ("grid home", "oifcfg getif")}
    topics |= dict.fromkeys(("database", "activity", "history"), _failed_queries(journal, node))
    _, rest = first_and_rest(unknown.reason)
    steps: Sequence[NextStep] = ()
    if need in ("clusterware", "networks"):
        # Without a usable Grid home or a right, the reason has its own remedy, and Clusterware may well be up here.
        is_up = isinstance(cluster.clusterware, Unknown) or unknown.right is not None
        steps = (*(() if is_up else (_ELSEWHERE,)), name_the_networks(subnets_found(cluster.read_nodes())))
    kind = NO_GRID_HOME if unknown == cluster.clusterware else NOT_GATHERED
    return _of(
        check.id,
        kind.finding(
            could_not_tell(check.id, unknown),
            subject=f"{need} not known",
            seen=(rest,) if rest else (),
            next=steps,
            evidence=[(node, topic) for topic in topics.get(need, ())],
            lacks=[unknown],
        ),
    )


def is_not_gathered(finding: Finding) -> bool:
    """Return whether a finding is the engine's, of a check whose facts could not be gathered."""
    return finding.code == NOT_GATHERED.code or (finding.code == NO_GRID_HOME.code and finding.check != "clusterware")


def could_not_tell(who: str, unknown: Unread) -> str:
    """Return the sentence that one or several checks have no verdict, with the reason."""
    return f"{who} could not tell: {continued(first_and_rest(unknown.reason)[0])}."


def _failed_queries(journal: Journal, node: str) -> tuple[str, ...]:
    """Return the topics of the statements that failed, or of all statements where none failed."""
    queried = [entry for entry in journal.entries if entry.node == node and is_of_database(entry.topic)]
    failed = [entry for entry in queried if entry.outcome != "ok"]
    return tuple(dict.fromkeys(entry.topic for entry in failed or queried))


def check_broke(check: Check, error: BaseException) -> Finding:
    """Return the finding of a check that raised an error."""
    return _of(
        check.id,
        CHECK_BROKE.finding(
            f"The check {check.id} failed with an error before it finished.",
            subject="check broke",
            seen=(error_text(error),),
            next=[NextStep("Report the error to the author of the check, with the report of this run as JSON.")],
        ),
    )


def plugin_broken(broken: BrokenPlugin) -> Finding:
    """Return the finding of an installed check that could not be loaded."""
    return _of(
        broken.name,
        PLUGIN_BROKEN.finding(
            f"The installed check {broken.name} could not be loaded.",
            subject="not loaded",
            seen=(broken.reason,),
            next=[NextStep("Update or remove the package that contains the check.")],
        ),
    )


def interrupted_check(check: Check) -> Finding:
    """Return the finding of a check that had not finished when the run was interrupted."""
    return _of(
        check.id,
        INTERRUPTED.finding(
            f"The run was interrupted before {check.id} finished.",
            subject="interrupted",
            next=[NextStep("Run the check again.", commands=check_again(check.id).commands)],
        ),
    )
