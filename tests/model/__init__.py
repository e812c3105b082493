"""The model test: users, strangers, faults and restarts at random, and what must hold whatever they do."""
