"""What an object holds, looked for before it is dropped."""

from __future__ import annotations

from collections.abc import Sequence

from freehold.kinds.content import Content
from freehold.lifecycle.decision import Stop, Subject
from freehold.lifecycle.removal import hindrance, in_the_way
from freehold.observation import Row
from freehold.snowflake.error_class import ErrorClass
from freehold.snowflake.errors import SnowflakeError
from freehold.snowflake.sight import Sight


async def hindrance_inside(sight: Sight, subject: Subject, *, force: bool) -> Stop | None:
    """What an object holds that stands in the way of a DROP.

    Args:
        sight: the object.
        subject: its resource.
        force: whether the user wants it dropped with all that is inside.

    Raises:
        SnowflakeError: it can't be looked for.
    """
    wanted = in_the_way(sight.kind, force=force)
    if not wanted:
        return None
    found = [(content, await names(sight, content)) for content in wanted]
    return hindrance(subject, found, complete=True) or hindrance(subject, found, complete=await sight.sees_all())


async def names(sight: Sight, content: Content) -> Sequence[str]:
    """The names of what an object holds that counts.

    Raises:
        SnowflakeError: it can't be looked for.
    """
    return [content.name(row) for row in await _rows(sight, content) if content.counts(row)]


async def _rows(sight: Sight, content: Content) -> Sequence[Row]:
    try:
        return await sight.query(content.query(sight.target))
    except SnowflakeError as error:
        # What an account doesn't have, it has none of.
        if error.error_class is not ErrorClass.UNSUPPORTED:
            raise
        return ()
