"""The HTTP API of the reference, as an ASGI application over any implementation of the core's ports.

`create_app` is all that a server needs. Field names as callers see them stand in `wire` and nowhere else.
"""

from awareness_http.app import create_app

__all__ = ["create_app"]
