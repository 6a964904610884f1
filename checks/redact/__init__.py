"""Pseudonyms for names and addresses: what a report says stays true, and whom it is about stays with the operator."""

from checks.redact.blocks import RedactionError
from checks.redact.mapping_file import held
from checks.redact.originals import Identity
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.redactor import Redactor

__all__ = ["Identity", "Pseudonyms", "RedactionError", "Redactor", "held"]
