"""Services and SIDs that a listener serves."""

from __future__ import annotations

from collections.abc import Collection

from racwire_lab.oracle_net.connecting import ConnectRequest

UNKNOWN_SERVICE, UNKNOWN_SID, NO_NAME = 12514, 12505, 12504


def refusal(request: ConnectRequest, services: Collection[str], sid: str = "") -> int | None:
    """Return the code that refuses a request; None when its service or SID is served. Case does not matter."""
    if request.service:
        known = {service.casefold() for service in services}
        return None if request.service.casefold() in known else UNKNOWN_SERVICE
    if request.sid:
        return None if request.sid.casefold() == sid.casefold() else UNKNOWN_SID
    return NO_NAME
