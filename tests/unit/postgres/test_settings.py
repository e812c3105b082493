"""Quantities, versions, images, lines of pg_hba.conf, and what a class may say of poolers."""

from __future__ import annotations

from decimal import Decimal

import pytest

from freehold.postgres import hba, images, quantities, versions
from freehold.postgres.clusterclass import CLUSTER_CLASS
from freehold.postgres.recovery import RecoveryTarget
from freehold.postgres.versions import Hold
from tests.unit.postgres.specs import class_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1", 1), ("0", 0), ("500m", Decimal("0.5")), ("1k", 1000), ("1Ki", 1024), ("50Gi", 50 * 1024**3)),
        *(("1e3", 1000), ("1E3", 1000), ("1E", 10**18), ("1Ei", 1024**6), ("0.5Gi", 512 * 1024**2), ("+2", 2)),
        *((".5", Decimal("0.5")), ("1.", 1), ("100n", Decimal("1e-7")), ("1e-3", Decimal("0.001"))),
    ],
)
def test_quantities_have_a_value(text: str, value: Decimal | int) -> None:
    assert quantities.parse(text) == value


@pytest.mark.parametrize("text", ["", "Gi", "1 Gi", "-1", "1gi", "1Kib", "1e", "1.2.3", "٣"])
def test_other_texts_are_no_quantities(text: str) -> None:
    with pytest.raises(ValueError, match="is no quantity: write a number with a suffix"):
        quantities.parse(text)


@pytest.mark.parametrize(
    ("text", "bytes_"), [("128", 128 * 1024**2), ("128MB", 128 * 1024**2), ("1 GB", 1024**3), ("8kB", 8192), ("7B", 7)]
)
def test_sizes_of_postgresql_have_a_value(text: str, bytes_: int) -> None:
    assert quantities.size(text) == bytes_


@pytest.mark.parametrize(
    ("image", "tag", "major"),
    [
        ("ghcr.io/cloudnative-pg/postgresql:17.6", "17.6", 17),
        ("registry:5000/postgres:18-bookworm@sha256:" + "a" * 64, "18-bookworm", 18),
        ("postgres:16", "16", 16),
        ("registry:5000/postgres", "", None),
        ("postgres:latest", "latest", None),
        ("postgres:17beta1", "17beta1", 17),
    ],
)
def test_an_image_tells_its_version(image: str, tag: str, major: int | None) -> None:
    assert (images.tag(image), images.major(image)) == (tag, major)


@pytest.mark.parametrize(
    ("live", "wanted", "allowed", "hold"),
    [
        (17, 18, True, None),
        (17, 18, False, Hold.NOT_ALLOWED),
        (16, 18, True, Hold.TOO_FAR),
        (18, 17, True, Hold.DOWNGRADE),
    ],
)
def test_a_major_version_is_changed_upwards_one_at_a_time_and_when_allowed(
    live: int, wanted: int, allowed: bool, hold: Hold | None
) -> None:
    upgrade = versions.upgrade(live, wanted, allowed=allowed)
    assert upgrade is not None
    assert upgrade.hold is hold
    assert ("stays at" in str(upgrade)) is (hold is not None)


def test_there_is_no_upgrade_of_the_same_version_or_of_nothing() -> None:
    assert versions.upgrade(17, 17, allowed=True) is None
    assert versions.upgrade(None, 17, allowed=True) is None


@pytest.mark.parametrize(
    "line",
    [
        "local all all peer",
        "local   replication  postgres  scram-sha-256",
        "host all all 10.0.0.0/8 scram-sha-256",
        "hostssl all all 0.0.0.0/0 scram-sha-256",
        "hostnossl all all all reject",
        "host all all 10.0.0.1 255.255.255.255 md5",
        "host all all ::1/128 trust",
        "host all all samenet cert map=cnpg",
        "host all all .example.com md5",
        'host "my db" "o, p" db.example.com ldap ldapserver=l.example.com ldapprefix="cn="',
        "host app, other +admins 10.0.0.0/8 md5  # a note",
        "host all all ${podselector:apps} scram-sha-256",
        "hostgssenc all all all gss include_realm=0",
    ],
)
def test_rules_that_postgresql_reads_are_taken(line: str) -> None:
    assert hba.fault(line) is None


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("hosts all all all md5", "begin it with one of"),
        ("host all all 10.0.0.0/33 md5", "is no address"),
        ("host all all 10.0.0.1 md5", "is no address"),
        ("host all all 999.1.1.1 md5", "is no address"),
        ("host all all all md6", "is no authentication method"),
        ("host all all md5", "it is too short"),
        ("host all", "it is too short"),
        ("local all all", "it is too short"),
        ("host all all all md5 map", "is no option"),
        ("host all all all md5\nlocal all all trust", "one line"),
        ("# nothing", "holds no rule"),
        ("", "holds no rule"),
    ],
)
def test_rules_that_postgresql_does_not_read_are_told_with_the_remedy(line: str, why: str) -> None:
    assert why in (hba.fault(line) or "")


def test_a_class_that_sets_what_cloudnativepg_refuses_is_refused_itself() -> None:
    spec = class_of(
        {"postgresqlConfig": {"log_destination": "csvlog", "logging_collector": "on"}},
        {"connectionPooler": {"config": {"max_client_conn": "500", "admin_users": "me"}}},
    )
    assert [each.split(": ")[:2] for each in CLUSTER_CLASS.faults(spec)] == [
        ["spec.config.postgresqlConfig", "log_destination is CloudNativePG's own to set"],
        ["spec.config.postgresqlConfig", "logging_collector is CloudNativePG's own to set"],
        [
            "spec.cnpg.connectionPooler.config",
            "admin_users isn't a parameter that CloudNativePG lets be set",
        ],
    ]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("2026-09-30T02:15:00Z", "2026-09-30 02:15:00+00:00"),
        ("2026-09-30t02:15:00.5+02:00", "2026-09-30 02:15:00.500000+02:00"),
    ],
)
def test_times_are_written_as_postgresql_reads_them(value: str, written: str) -> None:
    assert RecoveryTarget(type="time", value=value).postgres_value == written
