"""What errors say about the missing privilege, kind by kind: most kinds have no statement here that names them yet."""

import pytest

from freehold_devstack.snowflake.hints import Hints

OF_DATABASES = "USAGE or any other privilege granted on DATABASE N"
OF_TABLES = "at least one privilege granted on TABLE N"
OF_POLICIES = "at least one privilege granted on POLICY N"
OF_STAGES = "at least one privilege granted on STAGE N"


@pytest.mark.parametrize(
    ("kind", "needs"),
    [
        ("DATABASE", OF_DATABASES),
        ("APPLICATION", OF_DATABASES),
        ("APPLICATION PACKAGE", OF_DATABASES),
        ("SCHEMA", "USAGE or any other privilege granted on SCHEMA N"),
        ("OBJECT", OF_TABLES),
        ("TABLE", OF_TABLES),
        ("VIEW", OF_TABLES),
        ("DYNAMIC TABLE", OF_TABLES),
        ("MATERIALIZED VIEW", OF_TABLES),
        ("EXTERNAL TABLE", OF_TABLES),
        ("EVENT TABLE", OF_TABLES),
        ("ICEBERG TABLE", OF_TABLES),
        ("MASKING POLICY", OF_POLICIES),
        ("ROW ACCESS POLICY", OF_POLICIES),
        ("NETWORK POLICY", OF_POLICIES),
        ("STAGE", OF_STAGES),
        ("IMAGE REPOSITORY", OF_STAGES),
        ("ARTIFACT REPOSITORY", OF_STAGES),
        ("GIT REPOSITORY", OF_STAGES),
        ("ROLE", "at least one privilege granted on ROLE N"),
        ("DATABASE ROLE", "at least one privilege granted on ROLE N"),
        ("EXTERNAL VOLUME", "at least one privilege granted on VOLUME N"),
        ("RESOURCE MONITOR", "at least one privilege granted on RESOURCE MONITOR N"),
        ("USER", "USAGE granted on ACCOUNT FH1"),
        ("NETWORK RULE", "MONITOR granted on ACCOUNT FH1"),
        ("COLUMN", None),
    ],
)
def test_what_it_takes_to_see_an_object(kind: str, needs: str | None) -> None:
    assert Hints("R", "FH1").seen(kind, "N") == (f" Your primary role R must have {needs}." if needs else "")


def test_a_missing_privilege_on_a_view_is_one_on_a_table() -> None:
    assert Hints("R", "FH1").granted("SELECT", "VIEW", "D.S.V").endswith("must have SELECT granted on TABLE D.S.V.")


def test_older_servers_give_no_hint() -> None:
    assert Hints(None, "FH1").granted("USAGE", "DATABASE", "D") == Hints(None, "FH1").seen("USER", "U") == ""
