"""The users of a private link as a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from checks.model.link_traffic import LinkShare, LinkTraffic, LinkUser
from checks.model.wording import continued, counted, listed

_MOST = 4
"""Users that are named; the others are added up."""
_NOTABLE_PERCENT = 10
"""The part that is not known from which the sentence has the reason."""
_UNCLAIMED_PER_S = 100
"""Datagrams per second without a program from which they are mentioned: the probes of racwire are fewer. Ours."""


def link_traffic_text(use: LinkTraffic) -> str:
    """Return who fills a link: `eth1 of rac2 is 97 % full, receiving (as of 14:02:10): 61 % blocks and messages of
    prod, 30 % NFS from 192.168.10.200:2049, 9 % not known.` The whole percents add up to 100."""
    *known, rest = use.shares
    shown = [(round(share.percent), share) for share in known if round(share.percent) > 0]
    parts = [f"{percent} % {_name(use, share)}" for percent, share in shown[:_MOST]]
    if further := sum(percent for percent, _ in shown[_MOST:]):
        parts.append(f"{further} % {counted(len(shown) - _MOST, 'other user')}")
    unknown = max(0, 100 - sum(percent for percent, _ in shown))
    if unknown:
        parts.append(f"{unknown} % not known")
    are = "is" if len(use.nics) == 1 else "are"
    full = f"{min(use.percent_of_speed, 100):.0f} % full"
    head = f"{listed(use.nics)} of {use.node} {are} {full}, {_verb(use)} (as of {_clock(use)})"
    notes = " ".join(_notes(use)) if rest.percent >= _NOTABLE_PERCENT else ""
    return f"{head}: {', '.join(parts)}. {notes}".rstrip()


def _name(use: LinkTraffic, share: LinkShare) -> str:
    if share.user is LinkUser.DATABASE:
        return f"blocks and messages of {share.name or 'the database'}"
    way, back = ("from", "to") if use.receives else ("to", "from")
    if share.is_own_port:
        return f"{share.name or 'TCP'} {way} {share.remote_ip} {back} port {share.port} of {use.node}"
    end = f"[{share.remote_ip}]" if ":" in share.remote_ip else share.remote_ip
    return f"{share.name or 'TCP'} {way} {end}:{share.port}"


def _notes(use: LinkTraffic) -> Iterator[str]:
    """Yield why a part is not known."""
    for one in use.unread:
        yield f"Not read: {continued(one.reason)}"
    if not use.unread:
        yield f"What is not known is no TCP connection of {use.node}, and the instances did not count it."
    if use.unclaimed_per_s >= _UNCLAIMED_PER_S:
        yield (f"{use.node} received {use.unclaimed_per_s:,.0f} datagrams a second for ports where no program listens.")


def _verb(use: LinkTraffic) -> str:
    return "receiving" if use.receives else "sending"


def _clock(use: LinkTraffic) -> str:
    return use.as_of[11:19]
