"""Every source that the code cites stands in full in docs/evidence/references.md."""

from __future__ import annotations

import re

import pytest

from tests.places import ROOT

NAME = r"(?:O')?[A-Z][\w-]+"
CITATION = re.compile(rf"{NAME}(?:(?:, | and |, \w\. ){NAME})*(?: et al\.| and others)?,? \(?(?:19|20)\d\d[a-c]?\b")
FOLDERS = ("analysis", "calibration", "mapping", "studyapp", "relstudy/api", "relstudy/common")
MONTHS = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}


def citations(text: str) -> set[str]:
    """Authors and year of every citation, on one line or over two."""
    found = re.findall(CITATION, re.sub(r"\s+#?\s*", " ", text))
    # "In Green 1995" at a sentence's start, and dates, are told from authors
    plain = {
        re.sub(r"^(?:In|See|As|From|By|Of|The|And|With) ", "", each).replace(",", " ,").replace("(", "")
        for each in found
    }
    plain = {re.sub(r" +,", ",", each) for each in plain}
    return {each for each in plain if each.split()[0] not in MONTHS}


def named(page: str) -> set[str]:
    return set(re.findall(r"^\*\*([^*]+?)\.\*\*", page, flags=re.MULTILINE))


def test_what_a_citation_is() -> None:
    text = "As in Ding, Li and\n    Li 2018, and by Rao and Wu (1988); on 3 May 2024; Liu et al. 2016."
    assert citations(text) == {"Ding, Li and Li 2018", "Rao and Wu 1988", "Liu et al. 2016"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_source_that_the_code_cites_is_on_the_page_of_references(folder: str) -> None:
    known = named((ROOT / "docs" / "evidence" / "references.md").read_text(encoding="utf-8"))
    missing = {
        f"{path.relative_to(ROOT)}: {each}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for each in citations(path.read_text(encoding="utf-8"))
        if each not in known
    }
    assert not missing


PRINTED = r"doi:|arXiv:|hdl:|jmlr|pp?\. \d|Technical report|University"
BOOK = r"\*[^*]+\*\.\s+[A-Z][\w ,]+\."  # a title, and its publisher


def test_each_source_has_an_address_or_where_it_was_printed() -> None:
    page = (ROOT / "docs" / "evidence" / "references.md").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\*\*)", page)[1:]
    assert len(entries) > 30
    for entry in entries:
        assert re.search(f"{PRINTED}|{BOOK}", entry), entry[:60]
