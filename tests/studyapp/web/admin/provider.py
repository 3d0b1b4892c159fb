"""A stub of an OpenID Connect provider, on a port of this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey


@dataclass
class Provider:
    """It lets everybody in as `email`, and keeps to the protocol but for what a test changes."""

    email: str = "anna@example.org"
    verified: object = True
    claims: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "k1"}))
    signed_by: RSAKey | OctKey | None = None
    algorithm: str = "RS256"
    asked: list[dict[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                return

            def do_GET(self) -> None:
                if self.path.startswith("/authorize"):  # a person who is asked nothing
                    self.answer(302, provider.authorize(self.path, whole=True))
                else:
                    self.answer(*provider.told(urlsplit(self.path).path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                fields = {name: values[0] for name, values in parse_qs(body).items()}
                self.answer(*provider.token(fields, self.headers.get("Authorization", "")))

            def answer(self, status: int, content: Any) -> None:
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", content)
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(json.dumps(content).encode() if not isinstance(content, bytes) else content)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def told(self, path: str) -> tuple[int, Any]:
        if path in self.answers:
            return self.answers[path]  # type: ignore[no-any-return]
        if path == "/.well-known/openid-configuration":
            return 200, {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/keys",
                "end_session_endpoint": f"{self.issuer}/logout",
                "id_token_signing_alg_values_supported": ["RS256"],
                **self.metadata,
            }
        if path == "/keys":
            return 200, {"keys": [self.key.as_dict(private=False, use="sig")]}
        return 404, {}

    def authorize(self, address: str, *, whole: bool = False) -> str:
        """The address, or the path, that the browser is sent back to once the person has signed on."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        self.asked.append(asked)
        code = secrets.token_hex(8)
        self.codes[code] = asked
        back = asked["redirect_uri"] if whole else urlsplit(asked["redirect_uri"]).path
        return f"{back}?code={code}&state={asked['state']}"

    def token(self, fields: dict[str, str], authorization: str) -> tuple[int, Any]:
        """The answer to a code, which counts once, for its client, its address and its verifier."""
        asked = self.codes.pop(fields.get("code", ""), None)
        expected = "Basic " + base64.b64encode(b"relstudy:s3cret").decode()
        challenge = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
        faults = {
            "code": asked is None,
            "client": authorization != expected and (bool(authorization) or fields.get("client_id") != "relstudy"),
            "verifier": asked is not None
            and base64.urlsafe_b64encode(challenge).decode().rstrip("=") != asked.get("code_challenge"),
            "address": asked is not None and fields.get("redirect_uri") != asked["redirect_uri"],
        }
        self.refused += [name for name, is_fault in faults.items() if is_fault]
        if asked is None or any(faults.values()):
            return 400, {"error": "invalid_grant"}
        now = int(time.time())
        claims = {
            "iss": self.issuer,
            "sub": "1",
            "aud": asked["client_id"],
            "iat": now,
            "exp": now + 300,
            "nonce": asked.get("nonce", ""),
            "email": self.email,
            "email_verified": self.verified,
            **self.claims,
        }
        signed = jwt.encode(
            {"alg": self.algorithm, "kid": "k1"}, claims, self.signed_by or self.key, algorithms=[self.algorithm]
        )
        return self.answers.get("/token", (200, {"access_token": "a", "token_type": "Bearer", "id_token": signed}))  # type: ignore[no-any-return]
