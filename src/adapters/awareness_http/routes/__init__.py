"""The routes: each turns a checked request into one use case, and its outcome into a wire type."""
