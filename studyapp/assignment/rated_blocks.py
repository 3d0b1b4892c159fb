"""Blocks that have ratings keep the pairs and the scale on which those were given.

The database keeps them (settings, key "asked"), so that an edited study.toml cannot put old ratings on a new scale."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.tables.meaning.scales import Scale
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.config.study_parts import Block, ResultQuestion
from relstudy.studyapp.database.settings import read_setting, write_setting
from relstudy.studyapp.database.tables import assignments, raters, ratings

KEY = "asked"


def keep_rated_blocks(connection: sa.Connection, study: Study) -> None:
    """Remember what the blocks ask; what has ratings must be as it was (`require_rated_blocks`)."""
    kept = require_rated_blocks(connection, study)
    now = kept | {block.name: _question_of(block) for block in study.blocks}
    if now != kept:
        write_setting(connection, KEY, json.dumps(now))


def require_rated_blocks(connection: sa.Connection, study: Study) -> dict[str, Any]:
    """Questions of the blocks so far, by name.

    Raises
    ------
    RelstudyError
        where a block that has ratings is gone from study.toml, or asks on another scale or from another pool
    """
    stored = read_setting(connection, KEY)
    kept: dict[str, Any] = json.loads(stored) if stored else {}
    blocks = {block.name: block for block in study.blocks}
    changed = {name: asked for name, asked in kept.items() if name not in blocks or _differs(asked, blocks[name])}
    _require_groups(connection, study)
    counts = _count_ratings(connection) if changed else {}
    rated = [name for name in changed if name in counts]
    if rated:
        sentences = [_refusal(name, changed[name], blocks.get(name), counts[name]) for name in rated]
        raise RelstudyError(f"study.toml: {'; '.join(sentences)}")
    return {name: asked for name, asked in kept.items() if name in blocks or name in counts}


def _require_groups(connection: sa.Connection, study: Study) -> None:
    """A group that raters have begun in stays: without it nobody could say what they are asked."""
    begun = sa.select(raters.c.rater_group, sa.func.count()).where(
        raters.c.rater_group.is_not(None), raters.c.started_at.is_not(None)
    )
    names = {group.name for group in study.groups}
    for name, count in connection.execute(begun.group_by(raters.c.rater_group)):
        if name not in names:
            has = f"{count} rater{'s' if count > 1 else ''}"
            raise RelstudyError(
                f"study.toml: the group {name!r} is gone and has {has}; put it back (quota = 1 closes it)"
            )


def _question_of(block: Block) -> dict[str, Any]:
    scale = block.scale
    return {
        "pairs": block.pairs,
        "paradigm": block.paradigm,
        "scale": scale.name,
        "values": list(scale.values),
        "continuous": scale.continuous,
        **({"further": {each.id: _scale_of(each) for each in block.questions}} if block.questions else {}),
    }


def _scale_of(question: ResultQuestion) -> list[float] | None:
    """The values of a further question's scale; None where it is answered in words."""
    return None if question.scale is None else [*question.scale.values]


def _differs(asked: Mapping[str, Any], block: Block) -> bool:
    """True if a block asks something else than it did; a further question that is new takes nothing away."""
    now = _question_of(block)
    return any(now[key] != asked[key] for key in asked if key != "further") or bool(_changed_questions(asked, block))


def _changed_questions(asked: Mapping[str, Any], block: Block) -> list[str]:
    """Ids of further questions that are gone or have another scale."""
    now = {each.id: _scale_of(each) for each in block.questions}
    return [name for name, values in asked.get("further", {}).items() if name not in now or now[name] != values]


def _count_ratings(connection: sa.Connection) -> Mapping[str, int]:
    """Number of ratings in each block; practice does not count."""
    query = (
        sa.select(assignments.c.block, sa.func.count().label("number"))
        .join(ratings, ratings.c.assignment_id == assignments.c.id)
        .where(assignments.c.kind != "practice")
        .group_by(assignments.c.block)
    )
    return {row.block: row.number for row in connection.execute(query)}


def _refusal(name: str, asked: Mapping[str, Any], block: Block | None, count: int) -> str:
    has = f"{count} rating{'s' if count > 1 else ''}"
    if block is None:
        return f"block {name!r} is gone and has {has}; put it back (a block that has ratings keeps its name)"
    now = _question_of(block)
    if now["pairs"] != asked["pairs"] or now["paradigm"] != asked["paradigm"]:
        was = f"pairs = {asked['pairs']!r}" + (f", paradigm = {asked['paradigm']!r}" if asked["paradigm"] else "")
        return f"block {name!r} has {has} of other pairs than it names now; put {was} back, and name a new block"
    if asked["values"] == list(block.scale.values) and (names := _changed_questions(asked, block)):
        named = ", ".join(map(repr, names))
        return (
            f"block {name!r} has {has} with answers to {named}; put {'it' if len(names) == 1 else 'them'} back with "
            "the scale that was rated on, and ask anything else under a new id"
        )
    was_scale = Scale(asked["scale"], tuple(asked["values"]), continuous=asked["continuous"])
    return (
        f"block {name!r} asks on the scale {block.scale.name} ({_ends(block.scale)}) and has {has} on the scale "
        f"{was_scale.name} ({_ends(was_scale)}); put that scale back, and ask on another in a block of a new name"
    )


def _ends(scale: Scale) -> str:
    return f"{scale.low:g} to {scale.high:g}"
