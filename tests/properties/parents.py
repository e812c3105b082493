"""Resources that a spec refers to: made up where nobody has declared them."""

from __future__ import annotations

import random
import zlib
from collections.abc import Generator
from typing import TypeVar

from freehold.kinds.common import SnowflakeSpec
from freehold.kinds.kind import Kind
from freehold.kinds.model import Model
from freehold.kinds.names import Requested, parts_of
from freehold.kinds.property import Target
from freehold.kinds.references import references_of, with_names
from freehold.kinds.registry import KINDS
from freehold.kinds.secret_inputs import SecretKeyReference, secret_input
from tests.properties.specs import MARK, Draft, Maker

T = TypeVar("T")
M = TypeVar("M", bound=Model)
NAMESPACE = "default"


class Resources:
    """What each reference points at: one resource of its kind, always the same for the same name.

    Attributes:
        texts: the hostile text for each tame one in those that were asked for.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._drafts: dict[str, Draft] = {}

    def draft(self, asked: Requested) -> Draft:
        """A resource."""
        key = f"{asked.kind}/{asked.namespace}/{asked.name}"
        if key not in self._drafts:
            rng = random.Random(key)  # noqa: S311  # to be repeated, not a secret
            self._drafts[key] = Maker(KINDS[asked.kind], rng, f"{MARK}R{zlib.crc32(key.encode()):08X}N").spec()
        self.texts |= self._drafts[key].texts
        return self._drafts[key]

    def resolved(self, spec: SnowflakeSpec, *, hostile: bool) -> SnowflakeSpec:
        """A spec with names beside its references, and values of Secrets, which are as hostile as the Secrets' names.

        Raises:
            InvalidName: two references contradict one another.
        """
        asked = references_of(spec, NAMESPACE)
        named = with_names(spec, {each.field: self._answer(parts_of(each, KINDS), hostile) for each in asked})
        return _with_values(named)

    def targets(self, kind: Kind, spec: SnowflakeSpec, *, hostile: bool) -> tuple[Target, ...]:
        """What a spec stands for.

        Raises:
            InvalidName: two references contradict one another.
        """
        return tuple(kind.target_of(each) for each in self._answer(kind.names(spec, NAMESPACE, KINDS), hostile))

    def _answer(self, computation: Generator[Requested, SnowflakeSpec, T], hostile: bool) -> T:
        try:
            asked = next(computation)
            while True:
                draft = self.draft(asked)
                asked = computation.send(draft.hostile if hostile else draft.tame)
        except StopIteration as done:
            result: T = done.value
            return result


def _with_values(model: M) -> M:
    """A spec, or a model in it, with values in place of its references to Secrets."""
    found: dict[str, Model] = {}
    for name, each in model:
        if isinstance(each, SecretKeyReference):
            found[name] = secret_input(each, each.name, uid=name)
        elif isinstance(each, Model):
            found[name] = _with_values(each)
    return model.model_copy(update=found)
