"""The practice database grants its user the privileges that `racwire grants` prints, and nothing else."""

from checks.sources.database.statements import statements
from racwire_lab.database.served_databases import granted_objects


def test_the_practice_user_can_read_everything_in_the_grants_script() -> None:
    assert granted_objects() == {grant for statement in statements().values() for grant in statement.grants}
