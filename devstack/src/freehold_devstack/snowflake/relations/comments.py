"""COMMENT ON COLUMN of tables and views.

https://docs.snowflake.com/en/sql-reference/sql/comment
"""

from dataclasses import dataclass

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.access import OWNERSHIP
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.errors import SqlError
from freehold_devstack.snowflake.object_type import Form, Statement
from freehold_devstack.snowflake.parser import Name, Parser
from freehold_devstack.snowflake.relations.column_changes import alter_columns, set_comment
from freehold_devstack.snowflake.results import DONE, Result


@dataclass(frozen=True)
class CommentOnColumn:
    """COMMENT [IF EXISTS] ON COLUMN <relation>.<column> IS '<text>'."""

    name: Name
    if_exists: bool
    text: str

    @property
    def form(self) -> Form:
        return Form("COMMENT", "COLUMN", self.name)

    def execute(self, context: Context) -> Result:
        try:
            relation = context.resolve_relation(self.name[:-1], "COMMENT", "TABLE")
        except SqlError as error:
            if self.if_exists and error.number == errors.MISSING:
                return DONE
            raise
        context.require(OWNERSHIP, relation)
        return alter_columns([(self.name[-1], set_comment(self.text))], owner_only=True)(context, relation) or DONE


def parse_comment_on_column(parser: Parser, *, if_exists: bool) -> Statement:
    """Take the rest of COMMENT ON COLUMN."""
    name = parser.name(parts=4)
    if len(name) == 1:
        parser.expect(".")
    parser.expect("IS")
    return CommentOnColumn(name, if_exists, parser.string())
