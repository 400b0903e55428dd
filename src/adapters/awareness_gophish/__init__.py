"""Campaign results from GoPhish, read as the core speaks of them: its API, its webhook, the files that it exports.

`GophishTool` reads a running one, `read_export` what it told of one campaign in a file, which `is_export` recognises.
Submitted form fields, which may hold passwords, are let go of as soon as they are met.
"""

from awareness_gophish.exports import Export, ExportUnusable, is_export, read_export
from awareness_gophish.tool import GophishTool

__all__ = ["Export", "ExportUnusable", "GophishTool", "is_export", "read_export"]
