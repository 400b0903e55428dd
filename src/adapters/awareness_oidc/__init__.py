"""OpenID Connect for the core: asks a company's identity provider who somebody is, and believes what is proven.

`OidcSignOn` is the whole of it.
"""

from __future__ import annotations

from awareness_oidc.fetching import Limits
from awareness_oidc.sign_on import OidcSignOn

__all__ = ["Limits", "OidcSignOn"]
