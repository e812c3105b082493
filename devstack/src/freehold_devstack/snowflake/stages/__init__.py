"""Stages: their properties and the rules between them, their directory tables, and what DESCRIBE tells of them."""
