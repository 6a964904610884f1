"""Facts about the packets that a node's kernel dropped, and why, as its event `skb:kfree_skb` shows them."""

from __future__ import annotations

from checks.model.facts.base import Fact


class DroppedPackets(Fact, frozen=True):
    """Packets that the kernel dropped at one place of its code for one reason."""

    code: str
    """The kernel's name of the reason: `NETFILTER_DROP`; empty where this kernel has no reasons."""
    location: str
    """The function that dropped them: `nf_hook_slow`; empty where the kernel shows none."""
    number: int
    nic: str = ""
    """The private NIC through which they came or were to go; empty where that is not known: the event does not have
    it, it follows from an event of the NIC about the same packet."""
    is_sent: bool = False
    """Whether they were on the way out; else they had arrived. Only with `nic`."""


class FollowedPackets(Fact, frozen=True):
    """Packets of racwire's own size at a private NIC."""

    nic: str
    number: int
    is_sent: bool = False
    """Whether they were given to the NIC; else it had received them."""


class KernelDrops(Fact, frozen=True):
    """What one node's kernel dropped of IP and ARP while it was watched."""

    name: str
    seconds: float
    """How long it was watched, less where it was stopped."""
    drops: tuple[DroppedPackets, ...] = ()
    followed: tuple[FollowedPackets, ...] = ()
    """The packets that were followed from a private NIC."""
    has_reasons: bool = True
    """Whether this kernel says why: Linux 5.17 and newer, and older ones to which it was added."""
    missed: int = 0
    """Events that found no room in the buffer."""
    is_stopped: bool = False
    """Whether it was stopped early, since there were more events than its limit."""

    def followed_at(self, nic: str, *, is_sent: bool) -> int:
        """Return how many packets were followed from a NIC that received them, or was to send them."""
        return sum(f.number for f in self.followed if f.nic == nic and f.is_sent is is_sent)
