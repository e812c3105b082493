"""`freehold plan`: what manifests would change, in the account or without one."""
