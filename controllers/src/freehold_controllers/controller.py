"""A controller's process: its options, and how its parts are put together, the same for both Snowflake domains."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from freehold import logs, tracing
from freehold.claim_store import ClaimStore
from freehold.claims import CLAIM
from freehold.conflicts import Detail
from freehold.kinds.account.providerconfig import PROVIDER_CONFIG
from freehold.kinds.kind import Domain
from freehold.kinds.registry import KINDS, kinds_of
from freehold.kinds.resource import GroupResource
from freehold.kinds.resources import UTILITIES
from freehold.kube.client import Kube
from freehold.kube.objects import LEASES, NAMESPACES, Key, Object
from freehold.kube.turns import LABEL as TURN
from freehold.kube.turns import LeaseTurns
from freehold.login_policy import LoginPolicy
from freehold.options import (
    SNOWFLAKE,
    AllowedHosts,
    AllowedPrivilegedRoles,
    ConflictDetail,
    HealthPort,
    LogFormat,
    LogLevel,
    SqlStatementDenied,
    SqlStatements,
    SqlStatementWords,
    WorkloadIdentityNamespaces,
)
from freehold.script import Policy
from freehold.snowflake.client import Snowflake
from freehold.snowflake.guard import Guard
from freehold_controllers.limits import AccountLimits
from freehold_controllers.reconciler.attempts import Attempts
from freehold_controllers.reconciler.following import Following
from freehold_controllers.reconciler.inventory import Inventory
from freehold_controllers.reconciler.managed import provider_name
from freehold_controllers.reconciler.provider import Providers
from freehold_controllers.reconciler.reconcile import Reconciler
from freehold_controllers.reconciler.secret import Secrets
from freehold_controllers.reconciler.services import Services
from freehold_controllers.reconciler.sweeping import sweeping
from freehold_controllers.reconciler.tally import Tally
from freehold_controllers.runtime.lines import Priority
from freehold_controllers.runtime.process import Beside, Process, Settings
from freehold_controllers.runtime.watches import Wake, Watch, works_with_nothing
from freehold_controllers.runtime.work import Reconcile, Result
from freehold_controllers.sharing import Sharing

Reconcilers = Mapping[GroupResource, Callable[[Services], Reconcile]]
"""Reconcilers of a domain's resources that are no kinds of Snowflake objects."""


class Mode(StrEnum):
    """Whether anything is written to Snowflake."""

    READ_WRITE = "ReadWrite"
    READ_ONLY = "ReadOnly"


def start(domain: Domain, others: Reconcilers | None = None, *, sweeps: bool = False) -> None:
    """Run a domain's controller with the options of the command line.

    Args:
        domain: the kinds that it reconciles.
        others: what it reconciles beside them.
        sweeps: whether it is the one that removes claims which bind nobody.
    """

    def run(
        namespace: Annotated[str, typer.Option(help="Namespace of the installation, where the Lease lives.")],
        watch_namespaces: Annotated[
            str, typer.Option(help="Namespaces to work in, separated by commas; all by default.")
        ] = "",
        identity: Annotated[str, typer.Option(help="This process among its equals, for example the pod.")] = "",
        installation_id: Annotated[str, typer.Option(help="Id of the installation in query tags.")] = "freehold",
        allowed_hosts: AllowedHosts = SNOWFLAKE,
        workload_identity_namespaces: WorkloadIdentityNamespaces = "",
        workload_identity_token: Annotated[
            Path | None, typer.Option(help="File of our workload identity's token, which is renewed in place.")
        ] = None,
        allowed_privileged_roles: AllowedPrivilegedRoles = "",
        conflict_detail: ConflictDetail = Detail.NAMESPACE,
        health_port: HealthPort = 8080,
        lease_duration: Annotated[int, typer.Option(help="Seconds until others take over from a lost process.")] = 15,
        resync_interval: Annotated[int, typer.Option(help="Seconds between observations without a reason.")] = 300,
        statement_timeout: Annotated[
            int, typer.Option(min=1, help="Seconds that a statement may run before Snowflake ends it.")
        ] = 60,
        mode: Annotated[
            Mode, typer.Option(help="ReadOnly plans into status and metrics, and sends nothing that writes.")
        ] = Mode.READ_WRITE,
        field_exports: Annotated[
            bool, typer.Option("--field-exports", help="Write what FieldExports ask for into ConfigMaps and Secrets.")
        ] = False,
        sql_statements: SqlStatements = False,
        sql_statement_words: SqlStatementWords = "",
        sql_statement_denied: SqlStatementDenied = "",
        log_level: LogLevel = "info",
        log_format: LogFormat = logs.Format.JSON,
    ) -> None:
        """Make Snowflake match the custom resources of one domain."""
        logs.configure(log_level, log_format)
        settings = Settings(
            name=f"freehold-{domain.value}",
            namespace=namespace,
            instance=identity or f"{socket.gethostname()}-{os.getpid()}",
            works_in=frozenset(filter(None, watch_namespaces.split(","))),
            health_port=health_port,
            lease_duration=timedelta(seconds=lease_duration),
            resync=timedelta(seconds=resync_interval),
        )
        with tracing.exported(settings.name):
            asyncio.run(
                serve(
                    domain,
                    others or {},
                    settings,
                    installation_id,
                    statement_timeout=timedelta(seconds=statement_timeout),
                    sweeps=sweeps,
                    mode=mode,
                    policy=LoginPolicy(
                        allowed_hosts=tuple(allowed_hosts.split(",")),
                        workload_identity_namespaces=frozenset(workload_identity_namespaces.split(",")),
                        token_file=workload_identity_token,
                    ),
                    allowed_privileged_roles=frozenset(allowed_privileged_roles.split(",")),
                    conflict_detail=conflict_detail,
                    field_exports=field_exports,
                    statements=Policy.of(sql_statement_words, sql_statement_denied, enabled=sql_statements),
                )
            )

    typer.run(run)


async def serve(
    domain: Domain,
    others: Reconcilers,
    settings: Settings,
    installation: str,
    *,
    statement_timeout: timedelta,
    sweeps: bool,
    mode: Mode,
    policy: LoginPolicy,
    allowed_privileged_roles: frozenset[str],
    conflict_detail: Detail,
    field_exports: bool,
    statements: Policy,
) -> None:
    """Run until SIGTERM or SIGINT. The arguments are those of `start` and the options of the command line."""
    following, inventory, attempts = Following(), Inventory(), Attempts(statement_timeout)
    read_only = mode is Mode.READ_ONLY
    kube = Kube.from_environment()
    # As long as membership lasts: who takes over from a lost process soon has its turns, too.
    turns = LeaseTurns(kube, settings.namespace, settings.instance, settings.lease_duration)
    sharing = Sharing()
    snowflake = Snowflake(installation, statement_timeout=statement_timeout, guard=Guard(turns), budget=sharing.budgets)
    async with kube, snowflake:
        watches = [
            *_watches(domain, others, following, inventory, attempts, AccountLimits(sharing.budgets), snowflake),
            # Without those of log-ins, of which there may be more than a page: members count as of one moment.
            Watch(LEASES, namespace=settings.namespace, label_selector=f"!{TURN}", wakes=sharing.note),
        ]
        process = Process(kube, settings, watches, tells=sharing.tell)
        configs = process.reflectors[PROVIDER_CONFIG.kind].store
        secrets = Secrets(process, following)
        services = Services(
            kube=kube,
            namespace=settings.namespace,
            manager=settings.name,
            store=ClaimStore(kube),
            snowflake=snowflake,
            providers=Providers(configs, secrets, following, policy),
            secrets=secrets,
            recorder=process.recorder,
            following=following,
            inventory=inventory,
            reflectors=process.reflectors,
            attempts=attempts,
            allowed_privileged_roles=allowed_privileged_roles,
            conflict_detail=conflict_detail,
            require_active=_refuse if read_only else process.member.require_active,
            read_only=read_only,
            field_exports=field_exports,
            statements=statements,
        )
        reconciler = Reconciler(services)
        by_kind: dict[str, Reconcile] = {kind.name: reconciler for kind in kinds_of(domain)}
        by_kind |= {path.kind: reconciles(services) for path, reconciles in others.items()}
        beside: list[Beside] = [turns.sweeping] if sweeps else []
        if sweeps and not read_only:
            beside.append(partial(sweeping, services, settings.resync, settings.covers))
        snowflake.breakers.listen(partial(_breaker_moved, process, snowflake, verifies=PROVIDER_CONFIG.path in others))
        await process.run(partial(_reconcile, by_kind), *beside)


def _breaker_moved(process: Process, snowflake: Snowflake, provider: str, *, verifies: bool) -> None:
    """Go on with what a breaker has held back, once it is closed, and have its ProviderConfig tell how it is.

    Args:
        process: the controller.
        snowflake: the client.
        provider: the ProviderConfig, `<namespace>/<name>`.
        verifies: whether this controller is the one that reconciles ProviderConfigs.
    """
    if verifies:
        process.wake([(Key(PROVIDER_CONFIG.kind, *provider.split("/")), Priority.RETRY)])
    if snowflake.breakers.cause(provider) is None:
        process.release(provider)


def _refuse() -> None:
    """Whatever may have slipped through: the last thing that is asked before a statement that writes."""
    raise RuntimeError("a statement that writes was about to be sent in mode ReadOnly")


async def _reconcile(by_kind: Mapping[str, Reconcile], key: Key, not_before: float) -> Result:
    return await by_kind[key.kind](key, not_before)


def _itself(found: Object) -> str:
    return str(found.key)


def _watches(
    domain: Domain,
    others: Reconcilers,
    following: Following,
    inventory: Inventory,
    attempts: Attempts,
    limits: AccountLimits,
    snowflake: Snowflake,
) -> list[Watch]:
    """Everything that may bear on a resource of the domain; Secrets are watched one by one, as they are needed."""

    def claims(before: Object | None, after: Object | None) -> Iterable[Wake]:
        inventory.note(before, after)
        if before is not None and after is None:
            attempts.forget(before.uid)
        return following.wakes(before, after)

    tally = Tally()

    def resources(before: Object | None, after: Object | None) -> Iterable[Wake]:
        tally.note(before, after)
        return following.wakes(before, after)

    def configs(before: Object | None, after: Object | None) -> Iterable[Wake]:
        limits.note(before, after)
        if before is not None and after is None:
            snowflake.forget(f"{before.namespace}/{before.name}")
        return resources(before, after)

    own = {kind.resource.path for kind in kinds_of(domain)} | others.keys()
    kinds = [kind.resource.path for kind in KINDS.values()]
    return [
        # A log-in may hang by itself: it waits for nothing that works with it, nor the other way round.
        Watch(PROVIDER_CONFIG.path, reconciled=PROVIDER_CONFIG.path in own, wakes=configs, group=_itself),
        *(Watch(path, reconciled=path in own, wakes=resources, group=provider_name) for path in kinds),
        *(
            Watch(
                each.resource.path,
                reconciled=each.resource.path in own,
                wakes=resources,
                group=provider_name if each.uses_provider else works_with_nothing,
            )
            for each in UTILITIES.values()
        ),
        Watch(CLAIM.path, wakes=claims),
        Watch(NAMESPACES, wakes=following.wakes),
    ]
