"""The steps that only people can do: agree on the outage, keep access by console, sign off."""

from __future__ import annotations

from checks.change.plan.change_plan import ChangeKind, Gate, Step
from checks.change.plan.command_block import REPORT, VERIFY_AND_READ, Commands, Who
from checks.change.steps import backup_commands, other_systems
from checks.change.steps.draft import SAFE_ORDER, Draft, briefly
from checks.change.steps.stack_commands import noted
from checks.model.own_command import joined
from checks.model.wording import listed

_AS_BEFORE = "The cluster is as it was before the change. The report was read and filed."


def agree(draft: Draft) -> Step:
    """Return the step that agrees on the outage window."""
    databases = ", ".join(d.name for d in draft.databases)
    what = f"Every database of this cluster{f' ({databases})' if databases else ''} will be down on all nodes at once."
    network = "the network team and the operators of the hypervisor" if draft.guests else "the network team"
    return Step(
        id="agree",
        title="agree",
        what=f"Agree on a window with a full outage. {what} Inform the DBAs, the owners of the applications, and "
        f"{network}. Inform the operators of Data Guard and GoldenGate that redo and trails will stop during the "
        "outage.",
        why="An MTU cannot be changed node by node: while nodes have different MTUs, large packets between them are "
        f"lost, blocks are lost, and nodes are evicted ({SAFE_ORDER}).",
        commands=tuple(other_systems.questions(draft)),
        expected="Every person who can veto the change has agreed to it.",
        attest=f"The DBAs, the application owners and {network} agreed to the window with its full outage. The "
        f"operators of Data Guard and GoldenGate are prepared. {other_systems.ANSWERED}"
        f"{other_systems.storage(draft)}",
        attest_asks="who agreed, and the time of the window",
        if_rolled_back="Nothing has been changed: abandon the change.",
    )


def console_access(draft: Draft) -> Step:
    """Return the step that ensures access to every node without the private network."""
    return Step(
        id="console-access",
        title="console access",
        what="Log in on the console of every node (ILOM, iDRAC, iLO, or the console of the hypervisor) and stay logged "
        "in. Make sure that your own ssh sessions use the public network.",
        why="A NIC may drop its link for some seconds when its MTU is set. After a wrong setting the NIC may stay "
        "unreachable: then only the console gives access.",
        commands=(
            Commands(
                Who.ANY_USER,
                ("ss -Htn state established '( sport = :22 )'",),
                note="The gate reads them too.",
                place=f"each of {briefly(draft.nodes)}",
                purpose="to list the addresses of open ssh logins",
                optional=True,
            ),
        ),
        expected="No ssh session uses a private address, and no node name resolves to a private address.",
        gates=(Gate("ssh-apart"),),
        attest=f"An operator is logged in on the console of {briefly(draft.nodes)}, and the console works without the "
        "private network.",
        if_rolled_back="Nothing has been changed: abandon the change.",
    )


def sign_off(draft: Draft) -> Step:
    """Return the step that verifies everything once more and signs the change off."""
    back = draft.kind is ChangeKind.ROLLBACK
    return Step(
        id="sign-off",
        title="sign off",
        what=joined(VERIFY_AND_READ, "" if back else "Watch the databases during the next full load all the same."),
        why="Another person may have undone a part of the change since the last verification. The report shows the "
        "next operator each action and its author, the results of the gates, and the overridden gates.",
        commands=(
            REPORT,
            *backup_commands.drop(draft.databases, draft.id),
        ),
        expected=f"Every layer still has MTU {draft.after}, {'as before the change' if back else 'as planned'}, now "
        "and for the next boot. Clusterware is up on every node. The report is filed with the change.",
        gates=(Gate("running-mtu"), Gate("kept-mtu"), Gate("stack-up")),
        attest=("The report was read and filed. The applications work." if not back else _AS_BEFORE)
        + f" {other_systems.BACK}"
        + _not_compared(draft),
        attest_asks="where the report is filed",
        if_rolled_back="All nodes are stopped again, get the old MTU back, and are started: another full outage.",
    )


def _not_compared(draft: Draft) -> str:
    """Return the statement on what no gate compares, since the plan does not hold it."""
    parts = [(noted(database), database.name) for database in draft.databases]
    named = [f"{listed(what)} of {name}" for what, name in parts if what]
    return f" As noted in the step stack-down: {listed(named)}." if named else ""
