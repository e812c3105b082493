"""Sizes of compute: one canonical spelling for the many that Snowflake accepts and prints.

SHOW prints `2X-Large`, DDL takes `XXLARGE`, `X2LARGE` and `'2X-LARGE'` ("CREATE WAREHOUSE"). `2XLARGE`, which other
tools offer, is refused by Snowflake itself and is understood here all the same.
"""

from __future__ import annotations

from typing import Literal

from freehold.kinds.values import Word

Size = Literal[
    "XSMALL", "SMALL", "MEDIUM", "LARGE", "XLARGE", "XXLARGE", "XXXLARGE", "X4LARGE", "X5LARGE", "X6LARGE",
    "X-Small", "Small", "Medium", "Large", "X-Large", "2X-Large", "3X-Large", "4X-Large", "5X-Large", "6X-Large",
    "X-SMALL", "X-LARGE", "2X-LARGE", "3X-LARGE", "4X-LARGE", "5X-LARGE", "6X-LARGE", "X2LARGE", "X3LARGE",
    "2XLARGE", "3XLARGE", "4XLARGE", "5XLARGE", "6XLARGE",
]  # fmt: skip

SIZE = Word(
    spellings={
        "X-SMALL": "XSMALL",
        "X-LARGE": "XLARGE",
        "X2LARGE": "XXLARGE",
        "2X-LARGE": "XXLARGE",
        "2XLARGE": "XXLARGE",
        "X3LARGE": "XXXLARGE",
        "3X-LARGE": "XXXLARGE",
        "3XLARGE": "XXXLARGE",
        **{f"{n}X-LARGE": f"X{n}LARGE" for n in (4, 5, 6)},
        **{f"{n}XLARGE": f"X{n}LARGE" for n in (4, 5, 6)},
    }
)
"""Compares and writes sizes; as a string literal."""
