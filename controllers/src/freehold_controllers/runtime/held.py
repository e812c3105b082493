"""Keys that are held back until their group can go on. The first of each group tries, for all; the others follow."""

from __future__ import annotations

from collections.abc import Iterable

from freehold.kube.objects import Key


class Held:
    """Keys that are held, by group."""

    def __init__(self) -> None:
        self._keys: dict[str, dict[Key, None]] = {}
        self._groups: dict[Key, str] = {}

    def group(self, key: Key) -> str | None:
        """The group for which a key is held; None when it isn't."""
        return self._groups.get(key)

    def add(self, key: Key, group: str) -> bool:
        """Hold a key, which is held for no other group; answers whether it is the one that tries."""
        self._groups[key] = group
        keys = self._keys.setdefault(group, {})
        keys[key] = None
        return next(iter(keys)) == key

    def remove(self, key: Key) -> Key | None:
        """Hold a key no longer, if it was held; answers with the one that tries from now on, where it was the one."""
        group = self._groups.pop(key, None)
        if group is None:
            return None
        keys = self._keys[group]
        tried = next(iter(keys)) == key
        del keys[key]
        if not keys:
            del self._keys[group]
            return None
        return next(iter(keys)) if tried else None

    def release(self, group: str) -> Iterable[Key]:
        """Hold no key of a group any longer; answers with those that were held."""
        keys = self._keys.pop(group, {})
        for key in keys:
            del self._groups[key]
        return keys
