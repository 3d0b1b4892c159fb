"""The consent text: the study's own, or a standard one that names what this study stores of somebody who comes so."""

from __future__ import annotations

import hashlib

from relstudy.common.wording import listed
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import PLATFORM_RULES
from relstudy.studyapp.config.texts import Texts
from relstudy.studyapp.web.rendering import paragraphs


def consent_paragraphs(study: Study, texts: Texts, way: str) -> tuple[str, ...]:
    """What somebody agrees to who comes by this way (one of ENTRY_RULES)."""
    return (
        paragraphs(study.consent)
        if study.consent
        else (*paragraphs(texts("consent.default")), _stored(study, texts, way))
    )


def consent_hash(said: tuple[str, ...]) -> str:
    """SHA-256 of a consent text: its paragraphs, with an empty line between them, as UTF-8.

    Examples
    --------
    >>> consent_hash(("One.", "Another."))[:12]
    '1a8690c2563a'
    """
    return hashlib.sha256("\n\n".join(said).encode()).hexdigest()


def _stored(study: Study, texts: Texts, way: str) -> str:
    """What is stored beside the ratings, in sentences."""
    if way in PLATFORM_RULES:
        names = [study.entry.id_parameter, *study.entry.keep_parameters]
        said = [texts("consent.stored.platform", names=listed(names))]
    else:
        said = [texts("consent.stored.personal" if way == "personal" else "consent.stored.cookie")]
    said.append(texts("consent.stored.times"))
    if study.screening:
        said.append(texts("consent.stored.screening"))
    if study.questions:
        said.append(texts("consent.stored.questions"))
    if study.withdrawal:
        said.append(texts(f"consent.stored.withdrawal.{study.withdrawal}"))
    if study.keep_until is not None:
        said.append(texts("consent.stored.until", date=study.keep_until))
    return " ".join(said)
