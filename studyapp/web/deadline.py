"""A deadline for requests, which Waitress has only for silence."""

from __future__ import annotations

from waitress.channel import HTTPChannel


class DeadlineChannel(HTTPChannel):
    """A connection whose request must be there whole within `channel_timeout` of its first byte.

    Waitress closes those that are silent for so long; who sends a byte now and then would stay for ever.
    """

    began: float | None = None
    last_activity: float

    def received(self, data: bytes) -> bool:
        """Take what has come; time runs from the request's first byte until it is whole."""
        wanted = bool(super().received(data))
        if self.request is None:
            self.began = None
        else:
            self.began = self.last_activity if self.began is None else self.began
            self.last_activity = self.began
        return wanted
