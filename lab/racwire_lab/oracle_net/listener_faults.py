"""Faults of a listener or server that can be switched on and off while it runs."""

from __future__ import annotations

from dataclasses import dataclass

from racwire_lab.database.backend import OracleError


@dataclass
class Faults:
    """Faults that any thread may set and reset at any time; each affects the events after that."""

    refuse: int | None = None
    """Code with which the listener refuses each connection: 12514, 12528, 12541, ..."""
    hang_at_connect: bool = False
    """Whether connections are accepted and never answered."""
    hang_at_login: bool = False
    """Whether each client is greeted, and its request for a session is never answered."""
    login_error: OracleError | None = None
    """The error of each login with a correct password: ORA-01033, ORA-01045, ORA-28000, ..."""
    login_warning: OracleError | None = None
    """The warning of each login that succeeds: ORA-28002, ORA-28011."""
    requires_encryption: bool = False
    """Whether the server requires native network encryption, as SQLNET.ENCRYPTION_SERVER=REQUIRED does: thin mode of
    python-oracledb then refuses the server (DPY-3001)."""
    closes_at_login: bool = False
    """Whether the server closes each connection at the first request of a login, as
    SQLNET.ALLOW_WEAK_CRYPTO_CLIENTS=FALSE does to thin mode (python-oracledb, issue 296)."""
    verifier_type: int | None = None
    """Type of password verifier that each user is offered instead of its own. Thin mode refuses 10G, 0x939 (DPY-3015).
    """
    drop_after: int | None = None
    """Number of responses still to be sent; then each session is dropped instead of its next response. Counts down."""
