"""A study that is being served somewhere, asked by a token."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote, urlsplit

import pandas as pd

from relstudy.common.errors import RelstudyError

LOOPBACK = ("localhost", "127.0.0.1", "::1")


class _NoRedirection(urllib.request.HTTPRedirectHandler):
    """A redirection would carry the token to wherever it leads."""

    def redirect_request(self, *_arguments: Any) -> None:
        return None


class RemoteStudy:
    """A served study; `relstudy.study` makes one.

    Parameters
    ----------
    url : the study's address
    token : as `relstudy token` printed it
    seconds : how long an answer is waited for
    """

    def __init__(self, url: str, token: str, seconds: float = 60.0) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("https", "http") or not parts.hostname:
            raise RelstudyError(f"{url!r} is no address; one that begins with https:// is needed")
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            raise RelstudyError(f"{url} is not encrypted, and the token could be read on the way; https:// is needed")
        self.url = url.rstrip("/")
        self._token = token
        self._seconds = seconds
        self._opener = urllib.request.build_opener(_NoRedirection)

    def __repr__(self) -> str:
        return f"RemoteStudy({self.url!r})"

    def status(self) -> dict[str, Any]:
        """What `relstudy status --json` prints."""
        status: dict[str, Any] = json.loads(self._ask("/api/status"))
        return status

    def ratings(self, since: str = "") -> pd.DataFrame:
        """The ratings as `relstudy export` writes them, ready for `relstudy.calibrate`.

        Parameters
        ----------
        since : only those rated later than this time, such as 2026-01-31T12:00:00+00:00

        Returns
        -------
        One row per rating; none and no columns where nothing was rated
        """
        body = self._ask(f"/api/ratings?since={quote(since)}" if since else "/api/ratings")
        return pd.DataFrame([json.loads(line) for line in body.splitlines()])

    def invite(self, count: int) -> pd.DataFrame:
        """Make personal links.

        Returns
        -------
        rater_id, link and completion_code; links are told this once
        """
        made = json.loads(self._ask("/api/invites", {"count": count}))
        return pd.DataFrame(made["invites"], columns=["rater_id", "link", "completion_code"])

    def _ask(self, path: str, given: dict[str, Any] | None = None) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        body = None if given is None else json.dumps(given).encode()
        request = urllib.request.Request(self.url + path, data=body, headers=headers)
        try:
            with self._opener.open(request, timeout=self._seconds) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            raise RelstudyError(f"{self.url} refuses: {_reason(error)}") from None
        except OSError as error:
            raise RelstudyError(f"{self.url} cannot be reached: {getattr(error, 'reason', error)}") from None


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["error"])
    except (ValueError, KeyError, TypeError):
        return f"{error.code} {error.reason}"


def study(url: str, token: str) -> RemoteStudy:
    """A study that is being served, to ask for its status and ratings, or to invite people.

    Parameters
    ----------
    url : the study's address, with its path
    token : as `relstudy token STUDY NAME --make` printed it; an editor's for invitations

    Raises
    ------
    RelstudyError
        where the address is none, or not encrypted and elsewhere than on this machine
    """
    return RemoteStudy(url, token)
