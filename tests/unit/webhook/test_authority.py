"""What the Secret of self-managed certificates should hold, as time passes and things get lost."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.verification import PolicyBuilder, Store

from freehold_webhook.authority import (
    AUTHORITY_KEY,
    AUTHORITY_LIFETIME,
    AUTHORITY_RENEWAL,
    BUNDLE,
    LEAF,
    LEAF_KEY,
    LEAF_LIFETIME,
    LEAF_RENEWAL,
    SETTLING,
    maintained,
)

NAMES = ["freehold-webhook.freehold.svc"]
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MOMENT = timedelta(minutes=1)


@pytest.fixture(scope="module")
def fresh() -> dict[str, bytes]:
    return maintained({}, NAMES, NOW)


def bundle(data: dict[str, bytes]) -> list[x509.Certificate]:
    return x509.load_pem_x509_certificates(data[BUNDLE])


def leaf(data: dict[str, bytes]) -> x509.Certificate:
    return x509.load_pem_x509_certificate(data[LEAF])


def verify(data: dict[str, bytes], trusted: dict[str, bytes], name: str = NAMES[0], at: datetime = NOW) -> None:
    """Verify one Secret's leaf as a client does that trusts the other's bundle."""
    policy = PolicyBuilder().store(Store(bundle(trusted))).time(at)
    policy.build_server_verifier(x509.DNSName(name)).verify(leaf(data), [])


def test_an_authority_of_ten_years_signs_a_leaf_of_ninety_days(fresh: dict[str, bytes]) -> None:
    verify(fresh, fresh)
    [authority] = bundle(fresh)
    for certificate, days in ((authority, 3650), (leaf(fresh), 90)):
        key = certificate.public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey)
        assert isinstance(key.curve, ec.SECP256R1)
        assert certificate.not_valid_after_utc == NOW + timedelta(days=days)


@pytest.mark.parametrize("later", [timedelta(0), LEAF_LIFETIME - LEAF_RENEWAL])
def test_nothing_changes_while_nothing_is_due(fresh: dict[str, bytes], later: timedelta) -> None:
    assert maintained(fresh, NAMES, NOW + later) == fresh


@pytest.mark.parametrize("later", [LEAF_LIFETIME - LEAF_RENEWAL + MOMENT, LEAF_LIFETIME + MOMENT])
def test_a_leaf_that_is_due_is_replaced_below_the_same_authority(fresh: dict[str, bytes], later: timedelta) -> None:
    renewed = maintained(fresh, NAMES, NOW + later)
    assert (renewed[BUNDLE], renewed[AUTHORITY_KEY]) == (fresh[BUNDLE], fresh[AUTHORITY_KEY])
    assert leaf(renewed).not_valid_after_utc == NOW + later + LEAF_LIFETIME
    verify(renewed, fresh, at=NOW + later)


def test_a_new_authority_is_trusted_before_it_signs_and_the_old_one_after(fresh: dict[str, bytes]) -> None:
    due = NOW + AUTHORITY_LIFETIME - AUTHORITY_RENEWAL + MOMENT
    old = maintained(fresh, NAMES, due - 2 * MOMENT)
    announced = maintained(old, NAMES, due)
    assert announced[LEAF] == old[LEAF]
    assert bundle(announced)[1:] == bundle(old)
    leaf_due = due + LEAF_LIFETIME - LEAF_RENEWAL
    renewed = maintained(announced, NAMES, leaf_due)
    verify(renewed, announced, at=leaf_due)
    with pytest.raises(x509.verification.VerificationError):
        verify(renewed, old, at=leaf_due)
    verify(announced, renewed, at=leaf_due)


def test_a_leaf_that_is_due_waits_until_a_new_authority_has_settled(fresh: dict[str, bytes]) -> None:
    due = NOW + AUTHORITY_LIFETIME - AUTHORITY_RENEWAL + MOMENT
    old = maintained(fresh, NAMES, due - LEAF_LIFETIME + LEAF_RENEWAL - MOMENT)
    announced = maintained(old, NAMES, due)
    assert announced[LEAF] == old[LEAF]
    assert maintained(announced, NAMES, due + SETTLING - MOMENT) == announced
    assert maintained(announced, NAMES, due + SETTLING)[LEAF] != old[LEAF]


def test_an_authority_that_has_expired_is_trusted_no_more(fresh: dict[str, bytes]) -> None:
    late = NOW + AUTHORITY_LIFETIME + MOMENT
    renewed = maintained(fresh, NAMES, late)
    assert len(bundle(renewed)) == 1
    verify(renewed, renewed, at=late)


@pytest.mark.parametrize("broken", [None, b"", b"nonsense"])
@pytest.mark.parametrize("part", [LEAF, LEAF_KEY])
def test_a_leaf_that_is_missing_or_broken_is_replaced_below_the_same_authority(
    fresh: dict[str, bytes], part: str, broken: bytes | None
) -> None:
    repaired = maintained(with_part(fresh, part, broken), NAMES, NOW)
    assert repaired[BUNDLE] == fresh[BUNDLE]
    verify(repaired, fresh)


@pytest.mark.parametrize("broken", [None, b"nonsense"])
def test_without_its_key_an_authority_is_followed_by_a_new_one_and_still_trusted(
    fresh: dict[str, bytes], broken: bytes | None
) -> None:
    repaired = maintained(with_part(fresh, AUTHORITY_KEY, broken), NAMES, NOW)
    assert repaired[LEAF] == fresh[LEAF]
    assert bundle(repaired)[1:] == bundle(fresh)
    verify(fresh, repaired)


def test_pieces_of_different_pairs_are_replaced(fresh: dict[str, bytes]) -> None:
    other = maintained({}, NAMES, NOW)
    for part in (LEAF, LEAF_KEY):
        repaired = maintained(with_part(fresh, part, other[part]), NAMES, NOW)
        assert repaired[LEAF] not in (fresh[LEAF], other[LEAF])
        verify(repaired, fresh)


def test_a_leaf_for_other_names_is_replaced(fresh: dict[str, bytes]) -> None:
    moved = maintained(fresh, ["other.freehold.svc", "10.0.0.1"], NOW)
    verify(moved, fresh, "other.freehold.svc")
    with pytest.raises(x509.verification.VerificationError):
        verify(moved, fresh)


def with_part(data: dict[str, bytes], part: str, content: bytes | None) -> dict[str, bytes]:
    """The data with one part replaced, or without it."""
    rest = {key: value for key, value in data.items() if key != part}
    return rest if content is None else {**rest, part: content}
