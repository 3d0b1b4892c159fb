"""[[groups]] of study.toml: raters who rate different blocks, and how many each group takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from relstudy.studyapp.config.study_parts import OF_CHOICES, Block, Question
from relstudy.studyapp.config.toml_checker import ID, TomlChecker


@dataclass(frozen=True)
class Group:
    """Raters who rate some of the blocks.

    Parameters
    ----------
    name : unique in the study
    blocks : names of the blocks that its raters are given
    quota : how many raters it takes; None: any number
    when : by id of a screening question, the answers that lead into this group; all of them must hold
    """

    name: str
    blocks: tuple[str, ...]
    quota: int | None = None
    when: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def fits(self, answers: Mapping[str, str]) -> bool:
        """True if the answers to the screening questions lead into this group.

        Examples
        --------
        >>> Group("a", ("base",), when={"job": ("nurse",)}).fits({"job": "Nurse "})
        True
        """
        said = {name: answer.strip().casefold() for name, answer in answers.items()}
        return all(said.get(name) in {answer.casefold() for answer in accepted} for name, accepted in self.when.items())


def read_groups(
    check: TomlChecker, data: list[dict[str, Any]], blocks: Sequence[Block], screening: Sequence[Question]
) -> tuple[Group, ...]:
    """[[groups]]: every block must be somebody's, and groups that are calibrated together share a base block."""
    names = [block.name for block in blocks]
    groups: list[Group] = []
    for index, entry in enumerate(data):
        path = ("groups", index)
        check.keys(entry, path, ("name", "blocks", "quota", "when"))
        name = check.text(entry, path, "name", None, ID)
        if name in {group.name for group in groups}:
            check.fault((*path, "name"), name, "another group has this name; names must differ")
        rated = check.texts(entry, path, "blocks") if "blocks" in entry else tuple(names)
        for block in rated:
            if block not in names:
                check.fault((*path, "blocks"), block, f"blocks of the study are allowed: {', '.join(names)}")
        if not rated:
            check.fault((*path, "blocks"), list(rated), "at least one block is needed")
        quota = check.whole(entry, path, "quota", 1, 1, 1_000_000) if "quota" in entry else None
        groups.append(Group(name, rated, quota, _read_when(check, entry, index, screening)))
    if groups:
        _require_all_blocks(check, groups, names)
        _require_common_base(check, groups, blocks)
    return tuple(groups)


def _read_when(
    check: TomlChecker, entry: dict[str, Any], index: int, screening: Sequence[Question]
) -> dict[str, tuple[str, ...]]:
    path = ("groups", index)
    questions = {question.id: question for question in screening}
    when = check.table(entry, path, "when")
    for name in when:
        answers = check.texts(when, (*path, "when"), name)
        if name not in questions:
            check.fault((*path, "when"), name, "the id of a screening question is allowed; [[screening]] adds one")
        elif questions[name].kind == "several":
            check.fault((*path, "when"), name, "a question with one answer is needed, and this one takes several")
        elif questions[name].kind in OF_CHOICES:
            for answer in answers:
                if answer not in questions[name].choices:
                    allowed = f"one of the choices {', '.join(questions[name].choices)} is allowed"
                    check.fault((*path, "when"), answer, allowed)
    return {name: tuple(answers) for name, answers in when.items() if isinstance(answers, list)}


def _require_all_blocks(check: TomlChecker, groups: Sequence[Group], names: Sequence[str]) -> None:
    for name in names:
        if not any(name in group.blocks for group in groups):
            check.fault(("groups", 0), None, f"the block {name!r} is in no group, so it would not be rated")


def _require_common_base(check: TomlChecker, groups: Sequence[Group], blocks: Sequence[Block]) -> None:
    """Raters are compared on a base block; without one in common, ratings of two groups cannot be put on one scale."""
    for scale in dict.fromkeys(block.scale.name for block in blocks if block.unique):
        base = {block.name for block in blocks if not block.unique and block.scale.name == scale}
        rated = {block.name for block in blocks if block.unique and block.scale.name == scale}
        users = [group for group in groups if rated & set(group.blocks)]
        common = base.intersection(*(group.blocks for group in users))
        for first, second in pairwise(users):
            if base and not common:
                allowed = (
                    f"groups {first.name!r} and {second.name!r} rate unique pairs on the scale {scale}, and not all "
                    f"groups that do share a base block to be calibrated by; give them the same of "
                    f"{', '.join(sorted(base))}"
                )
                check.fault(("groups", groups.index(second), "blocks"), None, allowed)
                break
