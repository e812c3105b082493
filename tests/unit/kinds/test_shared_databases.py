"""What no database from a share can be made from."""

from __future__ import annotations

import pytest

from freehold import validation
from freehold.kinds.account.shareddatabase import SHARED_DATABASE


@pytest.mark.parametrize("share", ["ORG.ACC.S", 'org.acc."s; --"', "AB12345.S"])
def test_a_share_is_named_with_its_account(share: str) -> None:
    assert not _faults(share)


@pytest.mark.parametrize("share", ["S", "A.B.C.S", '"o r g".ACC.S', 'ORG."a;c".S'])
def test_what_names_no_account_is_told(share: str) -> None:
    assert _faults(share)[0].startswith("spec.fromShare: ")


def _faults(share: str) -> tuple[str, ...]:
    return validation.faults(SHARED_DATABASE, SHARED_DATABASE.spec.model_validate({"name": "D", "fromShare": share}))
