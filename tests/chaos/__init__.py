"""The crash test: a real controller is killed at each of its requests, and the next one has to end where one that lives
would have ended."""
