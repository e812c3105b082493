"""Functions whose handler is written in Python."""

from __future__ import annotations

from collections.abc import Iterator

from freehold.identifiers import split_in_schema
from freehold.kinds import handlers, routines, sources
from freehold.kinds.clauses import clause
from freehold.kinds.common import Name, Reference
from freehold.kinds.fields import keyword, unsupported
from freehold.kinds.observers import column
from freehold.kinds.property import Place
from freehold.kinds.resource import Rule


class FunctionPythonSpec(routines.FunctionSpec):
    """A function whose handler is written in Python."""

    is_aggregate: bool | None = keyword(
        "AGGREGATE", place=Place.BEFORE_TYPE, observe=column("is_aggregate"), source="show.is_aggregate"
    )
    """Whether it makes one value of many rows. The handler is a class then."""
    runtime_version: str = handlers.runtime_version()
    """Version of Python, such as "3.12". Quote it, so that 3.10 isn't read as 3.1."""
    comment: str | None = routines.comment("user-defined function")
    """A note for people."""
    imports: list[handlers.Import] | None = handlers.imports()
    """Files on stages that the source may import, such as @DB.SCHEMA.STAGE/code.zip. They are read when the function
    is made: another file of the same name changes nothing."""
    packages: list[handlers.Package] | None = handlers.packages()
    """Packages that it needs, such as numpy or pandas==2.2.3, from Snowflake's channel."""
    snowpark_package: str | None = unsupported("list it in packages, as snowflake-snowpark-python or with a version")
    """The package of Snowpark, which functions can do without."""
    artifact_repository: str | None = clause("ARTIFACT_REPOSITORY", write=handlers.repository, check=split_in_schema)
    """Repository that packages come from, by its fully-qualified name. Snowflake doesn't tell it afterwards."""
    handler: str = handlers.handler()
    """Function, or class with a method, that is called: `run`, `module.run`, `Table`."""
    external_access_integrations: list[Name] | None = handlers.external_access_integrations()
    """Integrations that let it reach hosts outside of Snowflake."""
    external_access_integration_refs: list[Reference] | None = unsupported(
        "this release has no kind ExternalAccessIntegration; use externalAccessIntegrations with names"
    )
    """ExternalAccessIntegrations, in place of their names."""
    secrets: list[handlers.SecretUse] | None = handlers.secrets()
    """Secrets that it may read, which one of the integrations must let through."""
    body: str | None = sources.body(required=False)
    """The source; by default it is among the imports."""


_REFUSED = frozenset({"DECFLOAT"})


def _faults(spec: FunctionPythonSpec) -> Iterator[str]:
    yield from routines.faults(spec)
    yield from routines.refused_types(spec, "Python", _REFUSED, "use NUMBER or FLOAT")
    yield from handlers.faults(spec.secrets or ())
    if spec.is_aggregate and routines.returns_table(spec):
        yield (
            "spec.returns: an aggregate function returns one value, and no table: name a data type, or leave "
            "isAggregate out"
        )


FUNCTION_PYTHON = routines.routine(
    FunctionPythonSpec,
    "FUNCTION",
    "PYTHON",
    words="LANGUAGE PYTHON",
    short_name="fpy",
    faults=lambda spec: tuple(_faults(spec)),
    rules=(
        Rule("has(self.body) || has(self.imports)", "set body, or imports with the file that holds the handler"),
        Rule(
            "!has(self.isAggregate) || !self.isAggregate || !has(self.volatility) || self.volatility == 'VOLATILE'",
            "an aggregate function can't be IMMUTABLE: leave volatility out",
            "volatility",
        ),
    ),
    advice=handlers.advice,
)
