"""The question a judge is asked of a pair, in the words people were asked in."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relstudy.common.errors import RelstudyError
from relstudy.common.scales import Scale, show_value
from relstudy.studyapp.collection.items import Item, image_type
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block
from relstudy.studyapp.config.texts import ENGLISH

ITEMS = ("query", "result")
PLACEHOLDERS = (*ITEMS, "question", "scale", "instructions", "answer")
CANNOT_SAY = "cannot say"
TOKENS_OF_PICTURE = 800
"""What a picture is counted as in an estimate of costs; models differ."""
LETTERS_OF_TOKEN = 4

DEFAULT = """You judge how well search results match queries, as people were asked to.

{instructions}

{question}

The scale: {scale}

The query:
{query}

The result:
{result}

{answer}"""
ANSWER = (
    'Answer with JSON alone: {{"grade": GRADE, "confidence": CONFIDENCE}}. GRADE is one of {grades}, or '
    f'"{CANNOT_SAY}" where you cannot tell. CONFIDENCE is a number from 0 to 1.'
)


@dataclass(frozen=True)
class Prompt:
    """A prompt for the pairs of a block.

    Parameters
    ----------
    template : with the placeholders {query} and {result}
    filled : what stands in place of the others
    """

    template: str
    filled: Mapping[str, str]

    @classmethod
    def of_study(cls, study: Study, paradigm: str, template: str | None = None, name: str = "the prompt") -> Prompt:
        """The prompt that asks what people were asked.

        Parameters
        ----------
        paradigm : image or text: which block's question and scale
        template : a researcher's own; None takes DEFAULT
        name : what messages call it

        Raises
        ------
        RelstudyError
            where the template lacks {query} or {result}, or has a placeholder that there is not
        """
        text = DEFAULT if template is None else template
        names = re.findall(r"(?<!\{)\{([a-z_]+)\}(?!\})", text)
        missing = [f"{{{each}}}" for each in ITEMS if each not in names]
        if missing:
            raise RelstudyError(f"{name}: {' and '.join(missing)} must be in it, where the pair's items go")
        unknown = [f"{{{each}}}" for each in names if each not in PLACEHOLDERS]
        if unknown:
            allowed = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
            raise RelstudyError(f"{name}: {unknown[0]} is no placeholder; there are: {allowed}")
        block = block_of(study, paradigm)
        filled = {
            "question": block.question,
            "scale": scale_in_words(block.scale),
            "instructions": study.instructions or study.texts.get("instructions.default", _INSTRUCTIONS),
            "answer": ANSWER.format(grades=", ".join(show_value(value) for value in block.scale.values)),
        }
        return cls(text, filled)

    @property
    def hash(self) -> str:
        """Of everything that is asked but the pair itself."""
        return text_hash("\x1f".join([self.template, *(self.filled[name] for name in sorted(self.filled))]))

    def messages(self, query: Item, result: Item) -> list[dict[str, Any]]:
        """The pair as messages of a chat: one of the user, its content a text, or texts and pictures in order."""
        parts: list[dict[str, Any]] = []
        for piece in re.split(r"(\{[a-z_]+\})", self.template):
            name = piece[1:-1]
            if piece == f"{{{name}}}" and name in ITEMS:
                parts += _parts_of(query if name == "query" else result)
            elif piece == f"{{{name}}}" and name in self.filled:
                parts.append(_text(self.filled[name]))
            elif piece:
                parts.append(_text(piece))
        joined: list[dict[str, Any]] = []
        for part in parts:
            if joined and part["type"] == joined[-1]["type"] == "text":
                joined[-1] = _text(joined[-1]["text"] + part["text"])
            else:
                joined.append(part)
        content = joined[0]["text"] if len(joined) == 1 and joined[0]["type"] == "text" else joined
        return [{"role": "user", "content": content}]

    def tokens(self, query: Item, result: Item) -> int:
        """About how many tokens a question has."""
        letters = len(self.template) + sum(map(len, self.filled.values()))
        pictures = sum(item.path is not None for item in (query, result))
        letters += sum(len(item.title) + len(item.text) for item in (query, result))
        return letters // LETTERS_OF_TOKEN + pictures * TOKENS_OF_PICTURE


_INSTRUCTIONS = ENGLISH["instructions.default"]


def block_of(study: Study, paradigm: str) -> Block:
    """The block whose question and scale pairs of this kind have: that of unique pairs before the base block."""
    blocks = [block for block in study.blocks if block.paradigm in (paradigm, None)]
    if not blocks:
        raise RelstudyError(f"{study.folder / 'study.toml'}: no block asks for queries of the kind {paradigm}")
    return next((block for block in blocks if block.unique), blocks[0])


def scale_in_words(scale: Scale) -> str:
    """The values of a scale with their labels.

    Examples
    --------
    >>> from relstudy.common.scales import SCALES
    >>> scale_in_words(SCALES["binary"])
    '0 (poor match), 1 (good match)'
    """
    labels = [f" ({scale.labels[value]})" if value in scale.labels else "" for value in scale.values]
    return ", ".join(show_value(value) + label for value, label in zip(scale.values, labels, strict=True))


def text_hash(text: str) -> str:
    """A short hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def content_hash(item: Item) -> str:
    """A short hash of what a judge sees of an item."""
    digest = hashlib.sha256(f"{item.kind}\x1f{item.title}\x1f{item.text}\x1f".encode())
    if item.path is not None:
        digest.update(item.path.read_bytes())
    return digest.hexdigest()[:16]


def _parts_of(item: Item) -> list[dict[str, Any]]:
    if item.path is None:
        return [_text("\n".join(each for each in (item.title, item.text) if each))]
    content = item.path.read_bytes()
    url = f"data:{image_type(content[:16])};base64,{base64.b64encode(content).decode()}"
    return [{"type": "image_url", "image_url": {"url": url}}]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}
