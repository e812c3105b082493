"""Everything that derives from the kind declarations: CRDs, permissions, documentation."""
