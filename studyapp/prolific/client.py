"""Prolific's API, read only: the submissions of a study (https://docs.prolific.com/api-reference/submissions)."""

from __future__ import annotations

import http.client
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from relstudy.common.runtime.damaged_files import NO_JSON
from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.http import AGAIN, LIMITED, can_be_sent, exchange, is_private, retry_after

TOKEN_VARIABLE = "PROLIFIC_TOKEN"
"""Environment variable of the token; it stands in no file and no message."""
SERVER = "https://api.prolific.com"
LARGEST_REPLY = 8 << 20
PAGE_SIZE = 100
MOST_PAGES = 1000
LONGEST_WAIT = 60.0


@dataclass(frozen=True)
class Submission:
    """Somebody's taking part, as Prolific has it.

    Parameters
    ----------
    id : of the submission; links bring it as SESSION_ID
    participant : links bring it as PROLIFIC_PID
    status : in capitals with blanks, such as AWAITING REVIEW or TIMED OUT
    code : the completion code that was entered; empty: none
    started_at : as Prolific writes it; empty where it does not say
    """

    id: str
    participant: str
    status: str
    code: str = ""
    started_at: str = ""


def plain_status(status: str) -> str:
    """A status in one spelling; Prolific has several.

    Examples
    --------
    >>> plain_status("timed-out"), plain_status("AWAITING_REVIEW")
    ('TIMED OUT', 'AWAITING REVIEW')
    """
    return status.upper().replace("-", " ").replace("_", " ").strip()


@dataclass(frozen=True)
class ProlificClient:
    """The API with a token.

    Parameters
    ----------
    token : sent in a header; it is in no message and no repr
    server : the address before /api; https, or on this machine
    timeout : seconds without a byte after which a request is given up
    attempts : how often it is asked at most
    first_wait : seconds before the second attempt where the server names none; each later wait is twice as long
    wait : sleeps so many seconds
    """

    token: str = field(repr=False)
    server: str = SERVER
    timeout: float = 30.0
    attempts: int = 4
    first_wait: float = 1.0
    wait: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if not is_private(self.server) or "?" in self.server or "#" in self.server:
            raise RelstudyError(f"{self.server!r} is not allowed: the token is sent by https only, or to this machine")
        if not can_be_sent(self.token):
            raise RelstudyError(f"{TOKEN_VARIABLE}: a token has neither blanks nor special signs")

    @classmethod
    def from_environment(cls, server: str = SERVER) -> ProlificClient:
        """With the token of the environment.

        Raises
        ------
        RelstudyError
            if there is none
        """
        token = os.environ.get(TOKEN_VARIABLE, "").strip()
        if not token:
            raise RelstudyError(f"the environment variable {TOKEN_VARIABLE} is not set; Prolific's settings make one")
        return cls(token, server)

    def submissions(self, study: str) -> list[Submission]:
        """All submissions of a study, in the order in which Prolific gives them.

        Raises
        ------
        RelstudyError
            where the token is refused, the server does not answer, or says what nobody can read
        """
        submissions: dict[str, Submission] = {}
        for page in range(1, MOST_PAGES + 1):
            query = urllib.parse.urlencode({"study": study, "page": page, "page_size": PAGE_SIZE})
            reply = self._get(f"/api/v1/submissions/?{query}")
            results = reply.get("results")
            if not isinstance(results, list):
                raise RelstudyError(f"{self.server}: there is no list of results in the answer")
            read = [_submission(entry) for entry in results]
            count_before = len(submissions)
            submissions.update((submission.id, submission) for submission in read)
            if not read or not _has_next(reply) or len(submissions) == count_before:
                return list(submissions.values())
        raise RelstudyError(f"{self.server}: more than {MOST_PAGES * PAGE_SIZE:,} submissions are not read")

    def _get(self, path: str) -> dict[str, Any]:
        reason = ""
        for attempt in range(self.attempts):
            pause: float | None = None
            try:
                return self._once(path)
            except urllib.error.HTTPError as error:
                with error:
                    reason = self._refused(error)
                    pause = retry_after(error.headers.get("Retry-After"))
            except (OSError, http.client.HTTPException) as error:
                reason = f"no answer ({getattr(error, 'reason', None) or type(error).__name__})"
            if attempt + 1 < self.attempts:
                self.wait(min(LONGEST_WAIT, self.first_wait * 2**attempt if pause is None else pause))
        raise RelstudyError(f"{self.server}: {reason}; tried {self.attempts} times")

    def _once(self, path: str) -> dict[str, Any]:
        headers = {"Authorization": f"Token {self.token}", "Accept": "application/json", "User-Agent": "relstudy"}
        request = urllib.request.Request(self.server.rstrip("/") + path, headers=headers)
        with exchange(request, self.timeout) as response:
            said = response.read(LARGEST_REPLY + 1)
        if len(said) > LARGEST_REPLY:
            raise RelstudyError(f"{self.server}: the answer is longer than {LARGEST_REPLY:,} bytes")
        try:
            body = json.loads(said)
        except NO_JSON:
            raise RelstudyError(f"{self.server}: the answer is not JSON") from None
        if not isinstance(body, dict):
            raise RelstudyError(f"{self.server}: the answer is not a JSON object")
        return body

    def _refused(self, error: urllib.error.HTTPError) -> str:
        """Reason, as a phrase, to ask again; raises where that would not help."""
        if error.code in (401, 403):
            raise RelstudyError(f"{self.server} refuses the token in {TOKEN_VARIABLE} ({error.code})")
        if error.code not in (*AGAIN, *LIMITED):
            raise RelstudyError(f"{self.server} answers {error.code}; check the study's id")
        return f"it answers {error.code}"


def _submission(entry: Any) -> Submission:
    if not isinstance(entry, dict):
        raise RelstudyError("Prolific's answer holds a submission that is not an object")
    texts = {name: entry[name] for name in entry if isinstance(entry[name], str)}
    participant = texts.get("participant_id") or texts.get("participant", "")
    if not texts.get("id") or not participant or not texts.get("status"):
        raise RelstudyError("Prolific's answer holds a submission without id, participant_id or status")
    code = texts.get("entered_code") or texts.get("study_code", "")
    return Submission(texts["id"], participant, plain_status(texts["status"]), code, texts.get("started_at", ""))


def _has_next(reply: dict[str, Any]) -> bool:
    """True if there is a further page; its address is not followed, for the token goes to one server only."""
    links = reply.get("_links")
    following = links.get("next") if isinstance(links, dict) else reply.get("next")
    return bool(following.get("href") if isinstance(following, dict) else following)
