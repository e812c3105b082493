"""Snowflake's answers and what they mean: data, each row declared once, and the look-up."""
