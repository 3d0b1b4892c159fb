"""A study that is being served somewhere, asked by a token."""

from __future__ import annotations

import http.client
import json
import re
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote

import pandas as pd

from relstudy.common.options.argument_checks import check_arguments
from relstudy.common.runtime.control_characters import without_controls
from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.http import address, can_be_sent, exchange, is_private


class RemoteStudy:
    """A served study; `relstudy.study` makes one.

    Parameters
    ----------
    url : the study's address
    token : as `relstudy admin token` printed it
    seconds : how long an answer is waited for
    """

    def __init__(self, url: str, token: str, seconds: float = 60.0) -> None:
        parts = address(url)
        if parts is None or parts.username is not None or parts.query or parts.fragment:
            raise RelstudyError("this is not a study's address; one such as https://example.org/studies/mine is needed")
        if not is_private(url):
            raise RelstudyError(f"{url} is not encrypted, and the token could be read on the way; https:// is needed")
        if not can_be_sent(token):
            raise RelstudyError("this is not a token; `relstudy admin token STUDY NAME --make` prints one")
        self.url = url.rstrip("/")
        self._token = token
        self._seconds = seconds

    def __repr__(self) -> str:
        return f"RemoteStudy({self.url!r})"

    def status(self) -> dict[str, Any]:
        """The output of `relstudy admin status --json`; of many ratings as it was at `counted_at`, a little earlier."""
        return self._read(self._ask("/api/status"))

    def ratings(self, since: str = "") -> pd.DataFrame:
        """The ratings as `relstudy export` writes them, ready for `relstudy.calibrate`.

        Parameters
        ----------
        since : only those rated later than this time with its offset, such as 2026-01-31T12:00:00+00:00. A rating that
            was being stored while another was read can be missed so; `changes` misses none

        Returns
        -------
        One row per rating; none and no columns where nothing was rated
        """
        check_arguments(RemoteStudy.ratings, locals())
        body = self._ask(f"/api/ratings?since={quote(since)}" if since else "/api/ratings")
        return pd.DataFrame([self._read(line) for line in body.splitlines()])

    def changes(self, after: str = "start") -> pd.DataFrame:
        """Events of the ratings since a cursor: each once and none missed, whoever rates meanwhile.

        Parameters
        ----------
        after : the `cursor` of the last event that was read; "start" for everything

        Returns
        -------
        One row per event, in an order into which nothing is put later: event (rated, changed, set_aside, taken_back,
        withdrawn, finished, forgotten, answer), cursor, rater_id (of forgotten instead rater_sha256, the SHA-256 of
        the code; of answer none) and, of rated and changed, the rating; no rows and no columns where nothing has
        happened

        Raises
        ------
        RelstudyError
            where the cursor is none of this study's: a backup that is put back begins the feed again
        """
        check_arguments(RemoteStudy.changes, locals())
        events: list[dict[str, Any]] = []
        while True:
            part = [self._read(line) for line in self._ask(f"/api/ratings?after={quote(after)}").splitlines()]
            if not part:
                return pd.DataFrame(events)
            events += part
            after = str(part[-1].get("cursor"))

    def invite(self, count: int) -> pd.DataFrame:
        """Make personal links.

        Returns
        -------
        rater_id, link and completion_code; links are told this once
        """
        check_arguments(RemoteStudy.invite, locals())
        made = self._read(self._ask("/api/invites", {"count": count})).get("invites")
        if not isinstance(made, list) or not all(isinstance(each, dict) for each in made):
            raise self._no_study()
        return pd.DataFrame(made, columns=["rater_id", "link", "completion_code"])

    def _ask(self, path: str, given: dict[str, Any] | None = None) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        body = None if given is None else json.dumps(given).encode()
        request = urllib.request.Request(self.url + path, data=body, headers=headers)
        until = time.monotonic() + self._seconds
        try:
            while True:
                try:
                    with exchange(request, self._seconds, whole=False) as answer:
                        return bytes(answer.read())
                except urllib.error.HTTPError as error:
                    pause = _pause(error)
                    if body is not None or pause is None or time.monotonic() + pause > until:
                        raise
                    error.close()
                time.sleep(pause)
        except urllib.error.HTTPError as error:
            raise RelstudyError(f"{self.url} refuses: {without_controls(_reason(error))}") from None
        except OSError as error:
            raise RelstudyError(f"{self.url} cannot be reached: {getattr(error, 'reason', error)}") from None
        except (http.client.HTTPException, ValueError) as error:
            raise RelstudyError(f"{self.url} broke off its answer: {type(error).__name__}") from None

    def _read(self, text: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(text)
        except NO_JSON:
            answer = None
        if not isinstance(answer, dict):
            raise self._no_study()
        return answer

    def _no_study(self) -> RelstudyError:
        return RelstudyError(f"{self.url} answers what no study does; is its address, with its path, right?")


def _pause(error: urllib.error.HTTPError) -> int | None:
    """Seconds after which a study that is busy wants to be asked again; None where it does not say."""
    stated = error.headers.get("Retry-After", "")
    return int(stated) if error.code == 503 and re.fullmatch(r"[0-9]{1,4}", stated) else None


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read())["error"])
    except (OSError, http.client.HTTPException, *NO_JSON, KeyError, TypeError):
        return f"{error.code} {error.reason}"


def study(url: str, token: str) -> RemoteStudy:
    """A study that is being served, to ask for its status and ratings, or to invite people.

    Parameters
    ----------
    url : the study's address, with its path
    token : as `relstudy admin token STUDY NAME --make` printed it; an editor's for invitations

    Raises
    ------
    RelstudyError
        where the address is none, or not encrypted and elsewhere than on this machine, or the token is none

    Examples
    --------
    >>> study("http://127.0.0.1:8000", "the-token-that-was-printed")
    RemoteStudy('http://127.0.0.1:8000')
    """
    check_arguments(study, locals())
    return RemoteStudy(url, token)
