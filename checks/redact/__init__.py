"""Replace names and addresses by pseudonyms: the report stays true, and only the operator has the real names."""

from checks.redact.mapping_file import open_mapping
from checks.redact.network_pseudonyms import RedactionError
from checks.redact.originals import Identity
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.redactor import Redactor

__all__ = ["Identity", "Pseudonyms", "RedactionError", "Redactor", "open_mapping"]
