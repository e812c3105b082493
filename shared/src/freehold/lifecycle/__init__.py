"""What to do about the object of a resource, from its first CREATE to its DROP: decided by pure functions, which the
controllers carry out and `freehold plan` tells of."""
