"""All layouts: of ratings, judgments, preferences and scores, and of what systems found or answered."""

from __future__ import annotations

from tests.analysis.inspection.layouts import LAYOUTS as RATED
from tests.analysis.inspection.layouts import Layout
from tests.analysis.inspection.more_layouts import MORE
from tests.analysis.inspection.result_layouts import RESULTS

LAYOUTS = (
    *RATED,
    *MORE,
    *(
        Layout(name, file, text, "right", "results", first, count)
        for name, (file, text, first, count) in RESULTS.items()
    ),
)
