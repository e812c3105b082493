"""What admission says, written for the person at kubectl: one line that ends in what to do."""

from __future__ import annotations

import json

from freehold.claims import Holder
from freehold.kinds.fields import SpecField


def not_checked(asker: Holder, why: str) -> str:
    """What could not be checked.

    Args:
        asker: the resource that is applied.
        why: what is missing.
    """
    return f"not checked whether {asker} may own its object: {why}"


def immutable(field: SpecField, before: object, after: object) -> str:
    """Why a field can't be changed.

    Args:
        field: the field.
        before: its value; None when it isn't set.
        after: what it should become.
    """
    return (
        f"spec.{field.name} can't change from {_shown(before)} to {_shown(after)}: the object would have to be dropped "
        f"and created again. Put {_shown(before)} back, or delete the resource and apply it anew"
    )


def _shown(value: object) -> str:
    return "unset" if value is None else json.dumps(value, default=str, ensure_ascii=False)
