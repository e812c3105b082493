"""The demo: Freehold on a real cluster, owning objects in an account, step by step, with every step checked."""
