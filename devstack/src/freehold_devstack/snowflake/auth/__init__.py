"""Who is logging in: what a client sends, one module for each way to prove it, and the policies that may forbid it."""
