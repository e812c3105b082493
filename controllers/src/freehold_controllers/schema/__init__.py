"""The schema domain: schemas and what lives inside them."""
