"""Warehouses: their types and what goes together in one, their states, and the tables attached to them."""
