"""The pages, each file one of them."""
