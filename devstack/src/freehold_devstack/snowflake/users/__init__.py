"""What users are made of: their values, the rules between them, what is shown of them, and their access tokens."""
