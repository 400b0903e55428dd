"""Whether an ID token can be believed (OpenID Connect Core 1.0 §3.1.3.7): who signed it, for whom, when, for what.

joserfc verifies the signature, Authlib the claims. Only signatures with a public key are taken: with `none` nobody has
signed, and with HS256 everybody could who reads the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from authlib.oidc.core import CodeIDToken
from joserfc import jws, jwt
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jwk import Key

from awareness_core.errors import SignInUnproven
from awareness_core.identity_providers import Identity

TOKEN: Final = "token"  # noqa: S105 (a reason)

_ALGORITHMS: Final = (
    *("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"),
    *("ES256", "ES384", "ES512", "EdDSA", "Ed25519"),
)
_LEEWAY_SECONDS: Final = 60
_LONGEST_CLAIM: Final = 320


class NoKeyFits(Exception):
    """The token names a key, or was signed with one, that is not among those known: they may have been changed."""


def verified_claims(
    id_token: str,
    keys: Sequence[Key],
    *,
    issuer: str,
    client_id: str,
    nonce: str,
    access_token: str | None,
    now: datetime,
) -> Mapping[str, Any]:
    """What the token says. Raises `NoKeyFits`, and `SignInUnproven` for one that is not to be believed."""
    token = _verified(id_token, keys)
    claims = CodeIDToken(
        token.claims,
        token.header,
        options={
            "iss": {"essential": True, "value": issuer},
            "aud": {"essential": True, "value": client_id},
        },
        params={"nonce": nonce, "client_id": client_id, "access_token": access_token},
    )
    try:
        claims.validate(now=int(now.timestamp()), leeway=_LEEWAY_SECONDS)
    except JoseError as error:
        # By name alone: what a claim holds is a person's, or an attacker's.
        raise _refused(f"its claims are wrong ({_named(error)})") from None
    except (ValueError, TypeError, AttributeError, KeyError):
        raise _refused("its claims are not of the kinds that they must be") from None
    return dict(claims)


def identity_of(claims: Mapping[str, Any]) -> Identity:
    """Who somebody is, as verified claims say. Some providers spell booleans as texts."""
    verified = claims.get("email_verified")
    if isinstance(verified, str):
        verified = verified.lower() == "true"
    return Identity(
        email=_text(claims.get("email")),
        email_verified=verified if isinstance(verified, bool) else None if verified is None else False,
        hosted_domain=_text(claims.get("hd")),
    )


def _verified(id_token: str, keys: Sequence[Key]) -> jwt.Token:
    try:
        header = jws.extract_compact(id_token.encode("ascii")).headers()
    except (JoseError, ValueError, TypeError, RecursionError):
        raise _refused("it is no signed token") from None
    if header.get("alg") not in _ALGORITHMS:
        raise _refused("it is signed in a way that is not taken, or not at all")
    kid = header.get("kid")
    candidates = keys if kid is None else [key for key in keys if key.kid == kid]
    for key in candidates:
        try:
            return jwt.decode(id_token, key, algorithms=_ALGORITHMS)
        except BadSignatureError:
            continue
        except (JoseError, ValueError, TypeError, RecursionError) as error:
            if kid is not None:
                raise _refused(f"it cannot be read ({type(error).__name__})") from None
    if candidates and kid is not None:
        raise _refused("its signature is wrong")
    raise NoKeyFits


def _refused(why: str) -> SignInUnproven:
    return SignInUnproven(f"the ID token is refused: {why}", reason=TOKEN)


def _named(error: JoseError) -> str:
    claim = getattr(error, "claim", None)
    return f"{type(error).__name__}: {claim}" if isinstance(claim, str) else type(error).__name__


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) <= _LONGEST_CLAIM else None
