"""Which clusters are swept, and when."""

from __future__ import annotations

import pytest

from freehold.postgres.cluster_status import CredentialSweep
from freehold.postgres.sweep import done, due


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        (None, False),
        (CredentialSweep(), True),
        (CredentialSweep(completed=False, cluster_uid="c-1"), True),
        (done("c-1"), False),
        (done("c-0"), True),
    ],
    ids=["never-restored", "restored", "cut-off", "swept", "made-anew"],
)
def test_a_cluster_is_swept_once_and_only_where_data_was_restored(
    marker: CredentialSweep | None, *, expected: bool
) -> None:
    assert due(marker, "c-1") is expected
