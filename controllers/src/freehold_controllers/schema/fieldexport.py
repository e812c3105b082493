"""FieldExports: a value of a status is written into one key of a ConfigMap or Secret, and taken out of it again.

Each key is written by server-side apply under a field manager of its FieldExport's own, never by force: the API server
itself keeps who owns a key, so nothing is overwritten or removed that somebody else has set.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from contextlib import suppress

from freehold import exports
from freehold.kinds.account.providerconfig import interval
from freehold.kinds.registry import KINDS
from freehold.kinds.utility.declaration import KUBERNETES
from freehold.kinds.utility.fieldexport import FIELD_EXPORT, TARGETS, FieldExportSpec, To
from freehold.kube.errors import AlreadyExists, Conflict, Forbidden, Invalid, NotFound
from freehold.kube.objects import SECRETS, Key, Object
from freehold.lifecycle.decision import Stop
from freehold.lifecycle.reasons import Reason
from freehold_controllers.reconciler import references
from freehold_controllers.reconciler.outcome import Stopped
from freehold_controllers.reconciler.utility import Pass, UtilityReconciler
from freehold_controllers.runtime.work import Done

BINDING = "freehold-exports"
"""Name of the RoleBinding by which a namespace lets values be written there, and of the ClusterRole that it binds."""

MANAGED_BY = {"app.kubernetes.io/managed-by": "freehold-fieldexport"}
"""Label of a ConfigMap or Secret that was made for an export, and goes when the last key does."""

ANNOTATIONS = "export.freehold.dev/"
"""Beginning of the annotations that say for people where a key comes from."""


class FieldExports(UtilityReconciler):
    """Reconciles FieldExports."""

    utility = FIELD_EXPORT

    async def bring_about(self, run: Pass) -> Done:
        if not self._services.field_exports:
            message = "this installation writes no exports: have fieldExports.enabled set in the values of its chart"
            raise Stopped(Stop(Reason.NOT_SUPPORTED, message))
        spec = run.spec(FieldExportSpec)
        # The claim before all else: a key has one writer, and who isn't that has no business with the value.
        await run.own(FIELD_EXPORT.identities(spec, run.found.namespace, KUBERNETES), "Kubernetes")
        text = await self._value(run, spec)
        await _Target(run, spec.to).write(text, f"{spec.from_.path} of {_source(run, spec)}")
        to = spec.to
        await run.ended(
            f"{spec.from_.path} is in key {to.key} of {to.kind} {to.name}",
            {"last_exported_value_hash": hashlib.sha256(text.encode()).hexdigest(), "target": _place(to)},
        )
        return Done(every=interval(spec.refresh_interval))

    async def let_go(self, run: Pass) -> None:
        if self._services.read_only:
            raise Stopped(Stop(Reason.READ_ONLY, "the controllers run in mode ReadOnly: the key stays"))
        # What was never written to needs no right to be cleared.
        if not run.abandoned and run.found.status.get("target"):
            await _Target(run, run.spec(FieldExportSpec).to).clear()
        await run.release()

    async def _value(self, run: Pass, spec: FieldExportSpec) -> str:
        """The value as text. What was exported stays for as long as there is none."""
        source = _source(run, spec)
        self._services.following.follow(run.key, source, closely=True)
        path = KINDS[source.kind].resource.path
        found = await self._services.get_for(run.key)(path, source.namespace, source.name)
        if found is None:
            raise _wait(f"{source} doesn't exist: apply it, or make a FieldExport of another one")
        ready = references.ready_now(found)
        if ready is None or ready.status != "True":
            raise _wait(f"{source} isn't ready{f': {ready.reason}' if ready else ''}; what was exported before stays")
        value = exports.value_at(found.status, exports.segments(spec.from_.path))
        if value is None:
            raise _wait(f"{source} has no {spec.from_.path} yet: it is exported once there is one, or correct the path")
        return exports.text_of(value)


class _Target:
    """The key that a FieldExport writes."""

    def __init__(self, run: Pass, to: To) -> None:
        self._run = run
        self._services = run.services
        self._kube = run.services.kube
        self._namespace = run.found.namespace
        self._to = to
        self._path = TARGETS[to.kind]
        self._label = run.holder.label
        self._owner = str(run.holder)
        # Of the resource's name, not its uid: applied again, it finds what it has written.
        self._manager = f"freehold-export-{run.holder.label}"

    def __str__(self) -> str:
        return f"{self._to.kind} {self._namespace}/{self._to.name}"

    async def write(self, text: str, origin: str) -> None:
        """Have the key hold a text.

        Raises:
            Stopped: it is somebody else's, or can't be written.
        """
        value = base64.b64encode(text.encode()).decode() if self._path == SECRETS else text
        try:
            found = await self._get()
            data = _data(found)
            if found and self._to.key in data:
                self._require_ours(found)
                if data[self._to.key] == value:
                    return
            if self._services.read_only:
                raise Stopped(Stop(Reason.READ_ONLY, f"key {self._to.key} of {self} would be written"))
            await self._run.note(target=_place(self._to))
            found = found or await self._create()
            annotation = {f"{ANNOTATIONS}{self._label}": f"{self._to.key}: {origin}, by {self._owner}"}
            # Without force: a key that somebody has set since it was looked at stays his.
            await self._apply(found, {self._to.key: value}, annotation)
        except Forbidden as error:
            raise self._refused(error) from error
        except Invalid as error:
            # What the API server says may quote the value.
            message = f"{self} doesn't take the value: it is immutable, full, or takes no key of this name"
            raise Stopped(Stop(Reason.TERMINAL_ERROR, message)) from error

    async def clear(self) -> None:
        """Take the key out, where it is ours, and the object, where it was made for exports and holds nothing else.

        Raises:
            Stopped: that isn't allowed.
        """
        try:
            found = await self._get()
            if found is None:
                return
            if any(each.get("manager") == self._manager for each in found.metadata.get("managedFields", ())):
                found = await self._apply(found, {}, {})
            if _is_left_over(found):
                with suppress(NotFound):
                    version = found.resource_version
                    await self._kube.delete(
                        self._path, found.name, self._namespace, uid=found.uid, resource_version=version
                    )
        except Forbidden as error:
            raise self._refused(error) from error

    async def _get(self) -> Object | None:
        try:
            return await self._kube.get(self._path, self._to.name, self._namespace)
        except NotFound:
            return None

    async def _create(self) -> Object:
        """Make the object, empty: only of one that was made so, it is known that it is ours to delete."""
        metadata = {"name": self._to.name, "namespace": self._namespace, "labels": MANAGED_BY}
        body = {"apiVersion": self._path.api_version, "kind": self._path.kind, "metadata": metadata}
        try:
            return await self._kube.create(self._path, body, self._namespace, field_manager=self._services.manager)
        except AlreadyExists as error:
            raise Conflict(error.status, error.reason, error.message) from error

    async def _apply(self, found: Object, data: Mapping[str, str], annotations: Mapping[str, str]) -> Object:
        # The uid, so that nothing is made anew that was deleted meanwhile.
        metadata = {"name": found.name, "namespace": found.namespace, "uid": found.uid, "annotations": annotations}
        body = {"apiVersion": self._path.api_version, "kind": self._path.kind, "metadata": metadata, "data": data}
        return await self._kube.apply(
            self._path, found.name, found.namespace, body, field_manager=self._manager, force=False
        )

    def _require_ours(self, found: Object) -> None:
        owners = [each.get("manager", "") for each in found.metadata.get("managedFields", ()) if self._holds(each)]
        if owners == [self._manager]:
            return
        others = ", ".join(each for each in owners if each != self._manager) or "nobody that is known"
        message = (
            f"key {self._to.key} of {self} was set by {others}, and is left alone: remove the key to have it exported, "
            "or export to another one"
        )
        raise Stopped(Stop(Reason.CONFLICT_DETECTED, message))

    def _holds(self, entry: Mapping[str, Mapping[str, Mapping[str, object]]]) -> bool:
        """Whether an entry of managedFields is about our key."""
        return f"f:{self._to.key}" in entry.get("fieldsV1", {}).get("f:data", {})

    def _refused(self, error: Forbidden) -> Stopped:
        message = (
            f"Freehold may not write {self}: bind the ClusterRole {BINDING} to the service account of its schema "
            f"controller by a RoleBinding {BINDING} in namespace {self._namespace} ({error.reason})"
        )
        # Nothing tells us of a RoleBinding.
        return Stopped(Stop(Reason.TERMINAL_ERROR, message, soon=True, slowly=True))


def _data(found: Object | None) -> Mapping[str, str]:
    data: Mapping[str, str] = (found.raw.get("data") if found else None) or {}
    return data


def _is_left_over(found: Object) -> bool:
    held = _data(found) or found.raw.get("binaryData")
    return not held and MANAGED_BY.items() <= found.labels.items()


def _place(to: To) -> str:
    return f"{to.kind} {to.name} {to.key}"


def _source(run: Pass, spec: FieldExportSpec) -> Key:
    resource = spec.from_.resource
    return Key(resource.kind, run.found.namespace, resource.name)


def _wait(message: str) -> Stopped:
    return Stopped(Stop(Reason.DEPENDENCY_NOT_READY, message, passing=True))
