"""The API's own language: the French names of the reference, and their translation from and to the core's.

The only place where a field of the API has its name. The types here are what bodies and queries are read by, what the
OpenAPI is generated from, and what answers are encoded from. No module here decides anything.

The types have no slots, because msgspec encodes those in the order of the alphabet and others in the order written.
"""
