"""Statuses: the API server prunes what a schema doesn't know, without a word, so all that we write must come back."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml

from freehold.kinds.common import Status
from freehold.kinds.model import Model, model_in
from freehold.kinds.resource import Resource
from freehold.kinds.resources import RESOURCES
from freehold.kube.client import Kube
from freehold_controllers.reconciler.status import write

SAMPLES = Path(__file__).parents[3] / "docs/samples"
VALUES: dict[type, Any] = {str: "x", int: 1, bool: True, datetime: "2026-11-30T12:00:00Z"}


def filled(model: type[Model]) -> dict[str, Any]:
    """A value for each field of a model, and of the models in it."""
    return {info.alias or name: _value(info.annotation) for name, info in model.model_fields.items()}


def _value(annotation: Any) -> Any:
    inside = [each for each in get_args(annotation) if each is not type(None)]
    if annotation in VALUES:
        return VALUES[annotation]
    if get_origin(annotation) is Literal:
        return inside[0]
    if get_origin(annotation) is list:
        return [_value(inside[0])]
    if get_origin(annotation) is dict:
        return {"key": _value(inside[1])}
    if isinstance(annotation, type) and (model := model_in(annotation)):
        return filled(model)
    return _value(inside[0])


@pytest.mark.parametrize("resource", [each for each in RESOURCES if each.status], ids=lambda each: each.kind)
async def test_whatever_a_status_can_hold_comes_back_as_it_was_written(
    kube: Kube, namespace: str, resource: Resource
) -> None:
    model = resource.status
    assert model is not None
    assert issubclass(model, Status)
    manifest = yaml.safe_load((SAMPLES / f"{resource.kind.lower()}.yaml").read_text())
    fresh = await kube.create(resource.path, {**manifest, "metadata": {"name": "x"}}, namespace)
    assert fresh.status == {"observedGeneration": -1}
    wanted = model.model_validate(filled(model))
    await write(kube, resource.path, fresh, wanted, "freehold-test")
    stored = await kube.get(resource.path, "x", namespace)
    assert stored.status == wanted.model_dump(mode="json", by_alias=True)
    assert await write(kube, resource.path, stored, wanted, "freehold-test") is stored
