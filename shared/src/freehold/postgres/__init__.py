"""PostgreSQL on CloudNativePG: the three kinds, and all that is decided about them. Pure."""
