"""Campaign results from GoPhish, read as the core speaks of them.

`read_export` takes what GoPhish tells of one campaign. Submitted form fields, which may hold passwords, are let go of
as soon as they are met.
"""

from awareness_gophish.exports import Export, ExportUnusable, read_export

__all__ = ["Export", "ExportUnusable", "read_export"]
