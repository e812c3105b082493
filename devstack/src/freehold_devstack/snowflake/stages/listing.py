"""LIST: https://docs.snowflake.com/en/sql-reference/sql/list."""

from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.object_types import Types
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.results import Result, number, text
from freehold_devstack.snowflake.stages.properties import is_external

_COLUMNS = (text("name"), number("size"), text("md5"), text("last_modified"))


@dataclass(frozen=True)
class ListFiles:
    """{ LIST | LS } @<stage> [PATTERN = '<regular expression>']."""

    stage: Name

    @property
    def form(self) -> Form:
        return Form("LIST", "STAGE", self.stage)

    def execute(self, context: Context) -> Result:
        stage = context.resolve(context.types["STAGE"], self.stage, "LIST")
        if is_external(stage):
            raise errors.unsupported("LIST of an external stage")
        context.require("READ", stage)
        # No stage here holds a file: nothing can be put there.
        return Result(_COLUMNS, [])


def parse_list(parser: Parser, _types: Types) -> Statement:
    parser.expect("@")
    if parser.at("~") or parser.at("%"):
        raise errors.unsupported("LIST of the stage of a user or table")
    stage = parser.name(parts=3)
    if parser.at("/"):
        raise errors.unsupported("LIST of a path")
    if parser.accept("PATTERN"):
        parser.expect("=")
        parser.string()
    return ListFiles(stage)
