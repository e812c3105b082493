"""Tasks: their clauses, schedules and rules, and the graphs that they form."""
