"""Property tests over all kinds: specs at random, derived from the declarations, and what must hold of each."""
