"""Sign-on of researchers by their institution: OpenID Connect (with Authlib), or a header of the proxy in front.

Who signs on is known by an e-mail address. study.toml says whose are let in; accounts.json holds their roles, as those
of everybody else.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from flask import Flask, request
from flask import session as flask_session
from flask.typing import ResponseReturnValue

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.http import LOOPBACK, address
from relstudy.studyapp.config.accounts import is_name
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import SignOnSettings

PROXIED = "relstudy.proxied"
"""Set in a request's environment where its connection is the trusted proxy's; no header can set it."""
SECONDS = 10.0  # for an answer of the provider
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a key that only the provider has."""
_STATES = "_state_sso_"


class SignOnError(Exception):
    """A sign-on that did not work; its text is a name of texts.py."""


@dataclass
class SignOn:
    """The sign-on of one study.

    Parameters
    ----------
    settings : of study.toml
    back : address that the provider sends people back to
    client : Authlib's; None where a proxy says who it is
    """

    settings: SignOnSettings
    back: str
    client: Any = field(default=None, repr=False)

    @property
    def kind(self) -> str:
        """ "oidc" or "header": a session that was begun in one way ends with it."""
        return "header" if self.settings.header else "oidc"

    def stands(self, kind: str, name: str) -> bool:
        """True if somebody who signed on in a way is let in by it still."""
        return kind == self.kind and self.settings.admits(name) and (kind == "oidc" or self.named_by_proxy() == name)

    def named_by_proxy(self) -> str:
        """E-mail address in the proxy's header; empty if there is none, or somebody else has sent it."""
        if not (self.settings.header and request.environ.get(PROXIED)):
            return ""
        return request.headers.get(self.settings.header, "").strip().lower()

    def admitted(self, email: str) -> str:
        """The name of the account of an e-mail address.

        Raises
        ------
        SignOnError
            where it is not let in
        """
        email = email.strip().lower()
        if not (is_name(email) and self.settings.admits(email)):
            raise SignOnError("sso.refused")
        return email

    def begin(self) -> ResponseReturnValue:
        """Lead to the provider, with PKCE; state, nonce and verifier wait in this browser's session."""
        for key in [key for key in flask_session if str(key).startswith(_STATES)]:
            del flask_session[key]
        with _provider():
            self._require_issuer()
            response: ResponseReturnValue = self.client.authorize_redirect(self.back, nonce=secrets.token_urlsafe(24))
        return response

    def finish(self) -> str:
        """The e-mail address that the provider vouches for, to this browser and for this visit."""
        if "error" in request.args:
            raise SignOnError("sso.denied")
        with _provider():
            self._require_issuer()
            token = self.client.authorize_access_token(
                claims_options={
                    "iss": {"essential": True, "value": self.settings.issuer},
                    "aud": {"essential": True, "value": self.settings.client_id},
                }
            )
        claims = token.get("userinfo") or {}
        if claims.get("email_verified") is not True or not isinstance(claims.get("email"), str):
            raise SignOnError("sso.refused")
        return str(claims["email"])

    def leave(self) -> str:
        """Address at which people log out at the provider too; empty where it has none."""
        end = str(self.client.server_metadata.get("end_session_endpoint", "")) if self.client is not None else ""
        given = {"client_id": self.settings.client_id, "post_logout_redirect_uri": self.back.removesuffix("/sso/back")}
        return f"{end}{'&' if '?' in end else '?'}{urlencode(given)}" if address(end) else ""

    def _require_issuer(self) -> None:
        """The provider must be who study.toml says (OpenID Connect Discovery 1.0, 4.3)."""
        metadata = self.client.load_server_metadata()
        if metadata.get("issuer") != self.settings.issuer:
            metadata.clear()
            raise SignOnError("sso.provider")
        offered = metadata.get("id_token_signing_alg_values_supported") or ALGORITHMS
        metadata["id_token_signing_alg_values_supported"] = [each for each in offered if each in ALGORITHMS]


def sign_on_of(study: Study, app: Flask, base: str = "") -> SignOn | None:
    """The sign-on of a study; None where its study.toml has no [sso].

    Parameters
    ----------
    base : the study's public address, where its host says it

    Raises
    ------
    RelstudyError
        where the secret is not in the environment, or Authlib is not installed
    """
    settings = study.sso
    if not settings:
        return None
    back = f"{base or study.url}/admin/sso/back"
    if settings.header:
        return SignOn(settings, back)
    secret = os.environ.get(settings.secret_variable, "").strip()
    if settings.secret_variable and not secret:
        raise RelstudyError(
            f"the environment variable {settings.secret_variable}, which study.toml names for the secret of [sso], is "
            "empty"
        )
    return SignOn(settings, back, _client(settings, secret, app))


def require_proxy(study: Study, trusted_proxy: str | None) -> None:
    """Refuse a header that nobody can be trusted to have written."""
    if study.sso and study.sso.header and not trusted_proxy:
        raise RelstudyError(
            f"study.toml lets researchers in by the header {study.sso.header} ([sso]), which anybody could send: name "
            "the proxy that writes it with --trusted-proxy"
        )


def _client(settings: SignOnSettings, secret: str, app: Flask) -> Any:
    try:
        from authlib.integrations.flask_client import FlaskOAuth2App, OAuth
        from authlib.integrations.requests_client import OAuth2Session
    except ImportError:
        raise RelstudyError('[sso] needs a further package: pip install "relstudy[sso]"') from None
    near = (parts := address(settings.issuer)) is not None and parts.hostname in LOOPBACK

    class Session(OAuth2Session):
        def request(self, *arguments: Any, **options: Any) -> Any:
            """No redirection is followed, and this machine is asked without a proxy."""
            self.trust_env = not near
            return super().request(*arguments, **{**options, "timeout": SECONDS, "allow_redirects": False})

    class Client(FlaskOAuth2App):
        client_cls = Session

    class Clients(OAuth):
        oauth2_client_cls = Client

    return Clients(app).register(
        "sso",
        client_id=settings.client_id,
        client_secret=secret or None,
        server_metadata_url=f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={
            "scope": "openid email",
            "code_challenge_method": "S256",
            **({} if secret else {"token_endpoint_auth_method": "none"}),
        },
    )


@contextlib.contextmanager
def _provider() -> Iterator[None]:
    """Within, errors of a provider, or of somebody who claims to be one, are a sign-on that did not work."""
    try:
        yield
    except SignOnError:
        raise
    except Exception as error:
        import requests
        from authlib.common.errors import AuthlibBaseError
        from joserfc.errors import JoseError

        if isinstance(error, requests.RequestException):
            raise SignOnError("sso.away") from error
        if isinstance(error, AuthlibBaseError | JoseError):
            raise SignOnError("sso.failed") from error
        if isinstance(error, ValueError | KeyError | TypeError | RuntimeError):  # an answer that is none
            raise SignOnError("sso.provider") from error
        raise
