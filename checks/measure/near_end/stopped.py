"""The error that ends an order of the sender early."""

from __future__ import annotations


class StoppedError(Exception):
    """The sender must stop now. The message is the reason, as a clause without capital."""

    def __init__(self, reason: str, *, is_harm: bool = False) -> None:
        """`is_harm`: whether what was sent may do harm, or did: it does not arrive, or fills a memory."""
        super().__init__(reason)
        self.is_harm = is_harm
