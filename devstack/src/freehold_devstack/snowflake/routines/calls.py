"""The user-defined functions that a body calls."""

from freehold_devstack.snowflake import errors
from freehold_devstack.snowflake.context import Context
from freehold_devstack.snowflake.parser import Name, print_name


def check_called(context: Context, function: Name) -> None:
    """Refuse a body that calls what is not there, or what the role that makes it must not call.

    Which of several functions of the name is meant only the call can tell; the rights on any of them will do.

    Raises:
        SqlError: 002140 for a function that only Snowflake could provide, 002141 for any other that is not there or
            not seen, 003001 for one that the role lacks USAGE on.
    """
    if function[-1].startswith("SYSTEM$"):
        raise errors.unknown_function(function[-1])
    container = context.container(context.types["FUNCTION"], function, "CREATE")
    found = [each for each in context.catalog.members("FUNCTION", container.id) if each.name == function[-1]]
    seen = [each for each in found if context.sees(each)]
    if not seen:
        raise errors.unknown_user_function(print_name(function))
    if not any(context.authority.holds("USAGE", each, primary_only=True) for each in seen):
        raise context.insufficient("USAGE", seen[0])
