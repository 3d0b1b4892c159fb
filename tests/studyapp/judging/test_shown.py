"""A judge is given what people are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from relstudy.common.runtime.errors import RelstudyError
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.judging.prompt import Prompt, as_judged, captions_read, require_words
from tests.studyapp.items import write_items


def _sent(folder: Path, result: str) -> tuple[str, int]:
    """The words and the number of pictures that are sent of a result."""
    study = Study.load(folder)
    items = as_judged(Collection.load(folder), study)
    (message,) = Prompt.of_study(study, "text").messages(items["q"], items[result])
    parts = (
        message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
    )
    return "".join(part.get("text", "") for part in parts), sum(part["type"] == "image_url" for part in parts)


def test_a_judge_sees_of_a_card_what_is_listed_and_its_picture(tmp_path: Path) -> None:
    words, pictures = _sent(write_items(tmp_path / "s"), "a")
    assert "Rowing boat" in words and "Made by: Fjord & Sons" in words and "1 299 €" in words and pictures == 1
    assert "SECRETSYSTEM" not in words and "0.98765" not in words
    assert (
        "Small boats, still water." in words and "Ships on the sea are not meant." in words
    )  # what the query is after


def test_a_judge_reads_html_without_its_markup_and_films_by_their_captions(tmp_path: Path) -> None:
    folder = write_items(tmp_path / "s", hostile="<script>alert(1)</script>")
    html, _ = _sent(folder, "b")
    assert "A boat on the lake. calm Last words." in " ".join(html.split()) and "script" not in html.split("Lakes")[-1]
    film, pictures = _sent(folder, "e")
    assert "The sea." in film and "-->" not in film and pictures == 0


def test_a_film_without_words_is_refused_and_named(tmp_path: Path) -> None:
    folder = write_items(tmp_path / "s")
    file = folder / "collection.csv"
    file.write_text(file.read_text().replace("media/sea.vtt", ""))
    items = as_judged(Collection.load(folder), Study.load(folder))
    with pytest.raises(RelstudyError, match=r"1 of them have neither a transcript .* such as 'e'"):
        require_words(items, ["q", "d", "e"])
    require_words(items, ["q", "d"])


def test_captions_are_read_without_times_notes_and_tags(tmp_path: Path) -> None:
    file = tmp_path / "c.vtt"
    file.write_text(
        "\ufeffWEBVTT - title\n\nNOTE a note\n\n1\n00:00:01.000 --> 00:02.000 align:start\n<v Ann>Hello\nall\n"
    )
    assert captions_read(file) == "Hello all"
