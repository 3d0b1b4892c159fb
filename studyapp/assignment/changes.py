"""What a change of the study does to what exists, in words."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from relstudy.studyapp.config.study import Study

_NOT_ASKED = ("folder", "text", "judges")  # raters see nothing of them


@dataclass(frozen=True)
class Changes:
    """What a new version of a study changes for those who are at work on the one before.

    Parameters
    ----------
    version : number of the version that follows; None where the files say what is served already
    first : nothing was served before
    settings : what of study.toml is another, such as "[entry] completion_url"
    items : how many items of pairs that were there look otherwise
    added : new pairs, by pool (base, unique, practice, check)
    removed : ids of pairs that leave
    removed_ratings : ratings that those pairs have, and that stay
    trimmed, withdrawn : pages in raters' hands that lose a pair, or are taken back
    base_raters : raters at work who get base pages that they did not have
    finished : raters who have finished, and get nothing
    """

    version: int | None = None
    first: bool = False
    settings: tuple[str, ...] = ()
    items: int = 0
    added: tuple[tuple[str, int], ...] = ()
    removed: tuple[str, ...] = ()
    removed_ratings: int = 0
    trimmed: int = 0
    withdrawn: int = 0
    base_raters: int = 0
    finished: int = 0

    @property
    def takes(self) -> bool:
        """Whether something is taken from raters who are at work, or from what was rated."""
        return bool(self.removed_ratings or self.trimmed or self.withdrawn)

    @property
    def any(self) -> bool:
        """Whether anything of what is served changes."""
        return bool(self.settings or self.items or self.added or self.removed or self.trimmed or self.withdrawn)

    def sentences(self) -> list[str]:
        """One sentence for each thing that changes.

        Examples
        --------
        >>> Changes(2, added=(("base", 4),), base_raters=3, finished=1).sentences()
        ['4 new base pairs: 3 raters at work get them last; 1 who finished does not']
        >>> Changes(2, removed=("p1",), removed_ratings=2).sentences()
        ['1 pair leaves the study (p1); its ratings, which stay and are exported: 2']
        """
        said = [f"study.toml: {', '.join(self.settings)}"] if self.settings else []
        if self.items:
            said.append(f"{_count(self.items, 'item')} will look otherwise than before")
        said += [f"{_count(count, f'new {pool} pair')}{self._who_gets(pool)}" for pool, count in self.added]
        if self.removed:
            named = ", ".join(self.removed[:5]) + (", ..." if len(self.removed) > 5 else "")
            leave = f"{_count(len(self.removed), 'pair')} leave{'s' * (len(self.removed) == 1)} the study ({named})"
            whose = "its" if len(self.removed) == 1 else "their"
            said.append(f"{leave}; {whose} ratings, which stay and are exported: {self.removed_ratings}")
        if self.trimmed:
            said.append(f"pages in raters' hands that lose a pair: {self.trimmed}")
        if self.withdrawn:
            said.append(f"pages in raters' hands that are taken back before they were answered: {self.withdrawn}")
        return said

    def _who_gets(self, pool: str) -> str:
        if pool == "unique":
            return ": they join the pool"
        if pool == "practice":
            return ": raters who have begun do not get them"
        if pool != "base":
            return ""
        if not self.base_raters:
            at_work = ": raters who begin from now on get them"
        else:
            at_work = f": {_count(self.base_raters, 'rater')} at work get{'s' * (self.base_raters == 1)} them last"
        do = "does" if self.finished == 1 else "do"
        return at_work + (f"; {self.finished} who finished {do} not" if self.finished else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def differing_settings(old: Study, new: Study) -> tuple[str, ...]:
    """What of study.toml is another than it was, in the file's own names."""
    names = []
    for field in fields(Study):
        before, now = getattr(old, field.name), getattr(new, field.name)
        if field.name in _NOT_ASKED or before == now:
            continue
        if field.name == "blocks":
            names += _differing_blocks(before, now)
        elif field.name == "entry":
            names += [f"[entry] {part.name}" for part in fields(now) if _differs(before, now, part.name)]
        else:
            names.append(field.name)
    return tuple(names)


def _differing_blocks(before: Any, now: Any) -> list[str]:
    old, new = ({block.name: block for block in blocks} for blocks in (before, now))
    names = [f"block {name!r} is new" for name in new if name not in old]
    names += [f"block {name!r} is gone" for name in old if name not in new]
    for name in [name for name in new if name in old]:
        parts = [part.name for part in fields(new[name]) if _differs(old[name], new[name], part.name)]
        names += [f"block {name!r}: {part}" for part in parts]
    return names or ["the order of the blocks"]


def _differs(before: Any, now: Any, name: str) -> bool:
    return bool(getattr(before, name) != getattr(now, name))
