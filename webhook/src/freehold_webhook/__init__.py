"""The validating admission webhook: it computes identities, claims them, and refuses a second owner."""
