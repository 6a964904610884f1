"""Replace names and addresses by pseudonyms: the report stays true, and only the operator knows the real names."""

from checks.redact.blocks import RedactionError
from checks.redact.mapping_file import held
from checks.redact.originals import Identity
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.redactor import Redactor

__all__ = ["Identity", "Pseudonyms", "RedactionError", "Redactor", "held"]
