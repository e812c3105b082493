"""Kinds that the schema controller runs."""
