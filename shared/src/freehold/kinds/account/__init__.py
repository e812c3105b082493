"""Kinds that the account controller runs."""
