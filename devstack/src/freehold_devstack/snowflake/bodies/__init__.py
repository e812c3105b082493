"""What stands inside a definition: the query of a view, the expression of a policy, a function, a task or a default.

The text is kept as it was written; it is only read for what it refers to and what comes out of it.
"""

from freehold_devstack.snowflake.bodies.expressions import Expression, parse_expression
from freehold_devstack.snowflake.bodies.outputs import Output, Relations
from freehold_devstack.snowflake.bodies.queries import Query, parse_query
from freehold_devstack.snowflake.bodies.reading import Place

__all__ = ["Expression", "Output", "Place", "Query", "Relations", "parse_expression", "parse_query"]
