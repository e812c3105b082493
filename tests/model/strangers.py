"""What others do in the account: statements with the roles that send them."""

from __future__ import annotations

from collections.abc import Mapping

from tests.model.account import OURS, Account
from tests.model.objects import Thing

ADMIN = "ACCOUNTADMIN"

DEEDS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "alters": (("ALTER {type} {name} SET COMMENT = 'theirs'", ADMIN),),
    "drops": (("DROP {type} {name}", ADMIN),),
    "undrops": (("UNDROP {type} {name}", ADMIN),),
    "drops and undrops": (("DROP {type} {name}", ADMIN), ("UNDROP {type} {name}", ADMIN)),
    "creates": (("CREATE {type} {name}{body} COMMENT = 'theirs'", ADMIN),),
    "creates in our role": (("CREATE {type} {name}{body} COMMENT = 'theirs'", OURS),),
    "replaces": (("DROP {type} {name}", ADMIN), ("CREATE {type} {name}{body} COMMENT = 'theirs'", ADMIN)),
    "replaces in our role": (("CREATE OR REPLACE {type} {name}{body} COMMENT = 'theirs'", OURS),),
    "takes ownership": (("GRANT OWNERSHIP ON {type} {name} TO ROLE S REVOKE CURRENT GRANTS", ADMIN),),
    "hides it from us": (
        ("GRANT OWNERSHIP ON {type} {name} TO ROLE S REVOKE CURRENT GRANTS", ADMIN),
        ("REVOKE RESOLVE ALL ON ACCOUNT FROM ROLE R", ADMIN),
    ),
    "gives ownership back": (("GRANT OWNERSHIP ON {type} {name} TO ROLE R REVOKE CURRENT GRANTS", ADMIN),),
    "renames": (("ALTER {type} {name} RENAME TO {away}", ADMIN),),
    "renames back": (("ALTER {type} {away} RENAME TO {name}", ADMIN),),
    "fills": (
        ("CREATE SCHEMA {inside}", ADMIN),
        ("CREATE TABLE {inside} (ID INT)", ADMIN),
        ("CREATE WAREHOUSE {own}", ADMIN),
        ("GRANT OWNERSHIP ON WAREHOUSE {own} TO ROLE {name}", ADMIN),
    ),
    "empties": (
        ("DROP SCHEMA {inside}", ADMIN),
        ("DROP TABLE {inside}", ADMIN),
        ("GRANT OWNERSHIP ON WAREHOUSE {own} TO ROLE ACCOUNTADMIN", "{last}"),
        ("DROP WAREHOUSE {own}", ADMIN),
    ),
    "adds a column": (('ALTER TABLE {name} ADD COLUMN "THEIRS" DATE', ADMIN),),
    "drops a column": (('ALTER TABLE {name} DROP COLUMN "NOTE"', ADMIN),),
    "widens a column": (('ALTER TABLE {name} ALTER COLUMN "NOTE" SET DATA TYPE VARCHAR(30)', ADMIN),),
    "blinds us": (("REVOKE RESOLVE ALL ON ACCOUNT FROM ROLE R", ADMIN),),
    "lets us see": (("GRANT RESOLVE ALL ON ACCOUNT TO ROLE R", ADMIN),),
    "forbids us to create": (("REVOKE CREATE {type} ON ACCOUNT FROM ROLE R", ADMIN),),
    "lets us create": (("GRANT CREATE {type} ON ACCOUNT TO ROLE R", ADMIN),),
}
"""By what it is; of the statements those do nothing that the kind of the object doesn't have."""

REPLACEMENTS = ("replaces", "replaces in our role", "drops and undrops", "drops", "takes ownership")
"""What does the most harm between two looks."""


def act(account: Account, deed: str, thing: Thing) -> None:
    """Have others do something to an object, as far as Snowflake lets them."""
    last = thing.parts[-1]
    words = {
        "type": thing.type,
        "name": thing.name,
        "away": Thing(thing.kind, (*thing.parts[:-1], f"{last}_AWAY")).name,
        "inside": Thing(thing.kind, (*thing.parts, "THEIRS")).name,
        "own": f'"OF_{last}"',
        "last": last,
        "body": ' ("ID" NUMBER(38,0))' if thing.kind == "Table" else "",
    }
    for statement, role in DEEDS[deed]:
        account.sql(statement.format(**words), role.format(**words))
