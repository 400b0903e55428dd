"""The rows of the table, each in a module of its own."""
