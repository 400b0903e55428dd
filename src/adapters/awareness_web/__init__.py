"""The portal: where people log in with the password that was mailed, choose their own, and see how they did.

`create_portal` makes it an ASGI application of its own, `is_portal_path` says which paths are its, and
`return_address_at` where identity providers send people back.
"""

from __future__ import annotations

from awareness_web.app import create_portal
from awareness_web.origins import return_address_at
from awareness_web.paths import is_portal_path

__all__ = ["create_portal", "is_portal_path", "return_address_at"]
