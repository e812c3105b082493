"""Kinds: what each custom resource is, said once."""
