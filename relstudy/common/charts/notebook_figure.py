"""A matplotlib Figure that a notebook shows by itself, whether or not pyplot was ever imported."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

DPI = 110


class NotebookFigure(Figure):
    """A Figure; as a cell's last value it is a picture."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=DPI, facecolor="white")
        return buffer.getvalue()
