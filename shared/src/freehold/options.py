"""Options of the command line that the webhook and the controllers have alike: both keep to the same rules."""

from __future__ import annotations

from typing import Annotated

import typer

from freehold import logs
from freehold.conflicts import Detail
from freehold.hosts import SNOWFLAKE_HOSTS

AllowedHosts = Annotated[str, typer.Option(help="Hosts that ProviderConfigs may point to, separated by commas.")]
WorkloadIdentityNamespaces = Annotated[
    str, typer.Option(help="Namespaces that may log in by our workload identity, separated by commas.")
]
SNOWFLAKE = ",".join(SNOWFLAKE_HOSTS)
"""The allowed hosts by default."""
AllowedPrivilegedRoles = Annotated[
    str, typer.Option(help="Privileged roles that resources may work with, separated by commas.")
]
ConflictDetail = Annotated[
    Detail, typer.Option(help="What is told of the owner of an object that a resource can't have.")
]
SqlStatements = Annotated[bool, typer.Option("--sql-statements", help="Run what SQLStatements hold.")]
SqlStatementWords = Annotated[
    str,
    typer.Option(help="Words that SQLStatements may begin with, separated by commas; any by default."),
]
SqlStatementDenied = Annotated[
    str, typer.Option(help='Words that they may not hold one after the other, as in "DROP DATABASE", likewise.')
]
HealthPort = Annotated[int, typer.Option(help="Port of /healthz, /readyz and /metrics.")]
LogLevel = Annotated[str, typer.Option(help="debug, info, warning or error.")]
LogFormat = Annotated[logs.Format, typer.Option(help="json or text.")]
