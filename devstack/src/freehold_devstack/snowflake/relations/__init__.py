"""What tables and views share, and what is peculiar to the definition of a table."""
