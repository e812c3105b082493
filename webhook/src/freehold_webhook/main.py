"""The process `freehold-webhook`: its options, its start and its end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from freehold import logs, tracing
from freehold.claim_store import ClaimStore
from freehold.conflicts import Detail
from freehold.kube.client import Kube
from freehold.metrics import serve_health
from freehold.options import (
    SNOWFLAKE,
    AllowedHosts,
    AllowedPrivilegedRoles,
    ConflictDetail,
    HealthPort,
    LogFormat,
    LogLevel,
    SqlStatementDenied,
    SqlStatementWords,
    WorkloadIdentityNamespaces,
)
from freehold.script import Policy
from freehold_webhook.admission import BUDGET, Admission
from freehold_webhook.certificates import CertificateError, Certificates
from freehold_webhook.parents import Parents
from freehold_webhook.readiness import Readiness
from freehold_webhook.self_managed import SelfManaged
from freehold_webhook.server import Server


def main() -> None:
    """Entry point."""
    typer.run(run)


def run(
    certificate_dir: Annotated[Path, typer.Option(help="Folder of tls.crt and tls.key, such as a mounted Secret.")],
    self_managed_secret: Annotated[
        str,
        typer.Option(help="NAMESPACE/NAME of a Secret for certificates that we make; it fills certificate-dir."),
    ] = "",
    configuration_name: Annotated[str, typer.Option(help="Our ValidatingWebhookConfiguration.")] = "freehold",
    port: Annotated[int, typer.Option(help="Port of the admission server.")] = 9443,
    health_port: HealthPort = 8080,
    allowed_hosts: AllowedHosts = SNOWFLAKE,
    workload_identity_namespaces: WorkloadIdentityNamespaces = "",
    allowed_privileged_roles: AllowedPrivilegedRoles = "",
    conflict_detail: ConflictDetail = Detail.NAMESPACE,
    sql_statement_words: SqlStatementWords = "",
    sql_statement_denied: SqlStatementDenied = "",
    strict: Annotated[bool, typer.Option("--strict", help="Deny what can't be checked.")] = False,
    budget: Annotated[
        float, typer.Option(help="Seconds for a decision; less than timeoutSeconds of the configuration.")
    ] = BUDGET,
    drain: Annotated[float, typer.Option(help="Seconds of service after SIGTERM.")] = 5.0,
    log_level: LogLevel = "info",
    log_format: LogFormat = logs.Format.JSON,
) -> None:
    """Refuse a second owner of anything in Snowflake or PostgreSQL while it is being applied."""
    logs.configure(log_level, log_format)
    namespace, _, secret = self_managed_secret.partition("/")
    if self_managed_secret and not (namespace and secret):
        raise typer.BadParameter(f"--self-managed-secret is NAMESPACE/NAME, not {self_managed_secret!r}")
    if not secret:
        try:
            Certificates(certificate_dir)
        except CertificateError as error:
            raise typer.BadParameter(f"no certificate to begin with: {error}") from error
    with tracing.exported("freehold-webhook"):
        asyncio.run(
            serve(
                certificate_dir,
                (namespace, secret) if secret else None,
                configuration_name,
                port=port,
                health_port=health_port,
                allowed_hosts=allowed_hosts.split(","),
                workload_identity_namespaces=workload_identity_namespaces.split(","),
                allowed_privileged_roles=allowed_privileged_roles.split(","),
                conflict_detail=conflict_detail,
                statements=Policy.of(sql_statement_words, sql_statement_denied, enabled=True),
                strict=strict,
                budget=budget,
                drain=drain,
            )
        )


async def serve(
    certificate_dir: Path,
    self_managed: tuple[str, str] | None,
    configuration_name: str,
    *,
    port: int,
    health_port: int,
    allowed_hosts: Sequence[str],
    workload_identity_namespaces: Sequence[str],
    allowed_privileged_roles: Sequence[str],
    conflict_detail: Detail,
    statements: Policy,
    strict: bool,
    budget: float,
    drain: float,
) -> None:
    """Serve until SIGTERM or SIGINT. The arguments are the options of `run`."""
    async with Kube.from_environment() as kube, asyncio.TaskGroup() as background:
        parents = Parents(kube)
        readiness = Readiness(kube, configuration_name)
        admission = Admission(
            ClaimStore(kube),
            parents.get,
            allowed_hosts=allowed_hosts,
            workload_identity_namespaces=workload_identity_namespaces,
            allowed_privileged_roles=allowed_privileged_roles,
            conflict_detail=conflict_detail,
            statements=statements,
            budget=budget,
        )
        server = Server(admission, strict=strict)
        tasks = [background.create_task(parents.run())]

        def ready() -> str | None:
            return "shutting down" if server.draining else readiness.why_not

        async with serve_health(health_port, alive=lambda: None, ready=ready):
            if self_managed:
                ours = SelfManaged(kube, configuration_name, self_managed, certificate_dir)
                established = asyncio.Event()
                tasks.append(background.create_task(ours.run(established)))
                await established.wait()
            certificates = Certificates(certificate_dir)
            tasks += [background.create_task(each) for each in (certificates.watch(), readiness.run(certificates))]
            async with server.serve(port, certificates):
                await _told_to_stop()
                # Callers learn only by and by that we are no longer ready; until then they are answered.
                server.draining = True
                await asyncio.sleep(drain)
        for task in tasks:
            task.cancel()


async def _told_to_stop() -> None:
    """Wait for SIGTERM or SIGINT, which before this end the process at once."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()
