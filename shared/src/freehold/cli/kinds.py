"""`freehold kinds`, and the words that people have for kinds."""

from __future__ import annotations

from freehold.cli import console
from freehold.kinds.kind import Kind
from freehold.kinds.registry import KINDS


def kinds() -> None:
    """List the kinds: what they are called, what contains them, who runs them."""
    rows = [
        (
            kind.name,
            ", ".join(kind.resource.short_names),
            kind.object_type,
            kind.level.name.lower(),
            kind.domain.value,
            "yes" if kind.holds_data else "no",
        )
        for kind in KINDS.values()
    ]
    console.table(("KIND", "SHORT", "OBJECT", "INSIDE", "CONTROLLER", "HOLDS DATA"), rows)


def kind_of(word: str) -> Kind | None:
    """The kind that a person means as kubectl would: by kind, plural or short name, in any case."""
    for kind in KINDS.values():
        names = (kind.name, kind.resource.path.plural, *kind.resource.short_names)
        if word.lower() in (name.lower() for name in names):
            return kind
    return None
