"""Which namespaces may log in as Freehold's own workload: they have all rights that an account gives to it."""

from __future__ import annotations

from collections.abc import Collection


def check(namespace: str, allowed: Collection[str]) -> str | None:
    """Why a ProviderConfig may not log in by workload identity; None when it may.

    Args:
        namespace: its namespace.
        allowed: the namespaces that the installation lists.
    """
    if namespace in allowed:
        return None
    return (
        f"namespace {namespace} may not log in by the workload identity of this installation of Freehold: use a Secret "
        "of your own, or ask who runs it to add the namespace to workloadIdentityNamespaces"
    )
