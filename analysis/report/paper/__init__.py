"""The tables and figures of Shirahatti and Barnard 2005 as printed, for a study of one's own.

`relstudy report --paper-tables` loads this room by name; what it uses is named here.
"""

from relstudy.analysis.report.paper.claims import as_json as claims_as_json
from relstudy.analysis.report.paper.claims import summary as claims_summary
from relstudy.analysis.report.paper.fits import methods_of
from relstudy.analysis.report.paper.page import missing, paper_page, table_of_claims
from relstudy.analysis.report.paper.reading import paper_study

__all__ = [
    "claims_as_json",
    "claims_summary",
    "methods_of",
    "missing",
    "paper_page",
    "paper_study",
    "table_of_claims",
]
