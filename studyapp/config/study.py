"""study.toml -> Study: what is asked of whom.

Checked on load; every fault names the line, the value and what is allowed.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.files import decoded
from relstudy.common.runtime.wording import quoted
from relstudy.common.tables.meaning.scales import Scale
from relstudy.common.tables.meaning.study_folder import answers_file, is_side_by_side
from relstudy.studyapp.config.groups import Group, read_groups
from relstudy.studyapp.config.language import Language, language_of
from relstudy.studyapp.config.outcomes import OUTCOMES
from relstudy.studyapp.config.study_parts import (
    WITHDRAWALS,
    AnalysisSettings,
    Block,
    CollectionSettings,
    Display,
    Entry,
    Example,
    JudgeSettings,
    KnownPair,
    Limits,
    Qualification,
    Question,
    ResultQuestion,
    SignOnSettings,
    WebhookSettings,
)
from relstudy.studyapp.config.study_toml import (
    check_looks,
    read_analysis,
    read_blocks,
    read_collection,
    read_displays,
    read_entry,
    read_examples,
    read_judges,
    read_known,
    read_limits,
    read_qualification,
    read_questions,
    read_scales,
    read_screening,
    read_sso,
    read_texts,
    read_webhook,
)
from relstudy.studyapp.config.toml_checker import ID, LANGUAGE, PUBLIC, TomlChecker, line_numbers

TABLES = (
    *("study", "handout", "entry", "scales", "display", "blocks", "practice", "attention", "examples", "qualification"),
    *("screening", "groups", "limits", "questions", "texts", "judges", "analysis", "looks", "webhook", "sso"),
    "collection",
)
OF_STUDY = (
    *("id", "title", "language", "languages", "contact", "url", "consent", "instructions", "thanks", "paused"),
    *("minutes", "withdrawal", "keep_until"),
)
"""Settings of [study]."""


@dataclass(frozen=True)
class Study:
    """All of study.toml, checked.

    Examples
    --------
    >>> study = Study.parse('[study]\\nid = "colours"\\ntitle = "Colours"\\n')
    >>> [(block.name, block.scale.name, block.results_per_page) for block in study.blocks]
    [('base', '1-5', 4), ('unique', '1-5', 4)]
    """

    folder: Path
    id: str
    title: str
    language: str
    contact: str
    url: str
    consent: str
    instructions: str
    thanks: str
    paused: bool
    minutes: float
    withdrawal: str
    keep_until: date | None
    lease_minutes: float
    seed: int
    entry: Entry
    blocks: tuple[Block, ...]
    practice: tuple[KnownPair, ...]
    attention: tuple[KnownPair, ...]
    examples: tuple[Example, ...]
    qualification: Qualification | None
    screening: tuple[Question, ...]
    groups: tuple[Group, ...]
    limits: Limits
    questions: tuple[Question, ...]
    texts: dict[str, str]
    judges: JudgeSettings
    analysis: AnalysisSettings
    webhook: WebhookSettings
    sso: SignOnSettings
    languages: tuple[Language, ...] = ()
    displays: dict[str, Display] = field(default_factory=dict)
    collection: CollectionSettings = field(default_factory=CollectionSettings)
    text: str = field(default="", repr=False, compare=False)

    def block(self, name: str) -> Block:
        """The block of that name."""
        return next(block for block in self.blocks if block.name == name)

    def in_language(self, language: Language) -> Study:
        """The study as raters read it in a language: its words where the language has them, all else as it is."""

        def scale_of(scale: Scale) -> Scale:
            plain = {value: language.texts.get(f"scale.{label}", label) for value, label in scale.labels.items()}
            return replace(scale, labels={**plain, **language.labels.get(scale.name, {})})

        def block_of(block: Block) -> Block:
            further = tuple(
                each if each.scale is None else replace(each, scale=scale_of(each.scale)) for each in block.questions
            )
            question = language.blocks.get(block.name, block.question)
            return replace(block, question=question, scale=scale_of(block.scale), questions=further)

        words, asked = language.words, language.questions
        return replace(
            self,
            title=words.get("title", self.title),
            consent=words.get("consent", self.consent),
            instructions=words.get("instructions", self.instructions),
            thanks=words.get("thanks", self.thanks),
            language=language.code,
            texts={**language.texts, **(self.texts if language.code == self.language else {})},
            blocks=tuple(map(block_of, self.blocks)),
            questions=tuple(replace(each, text=asked.get(each.id, each.text)) for each in self.questions),
            screening=tuple(replace(each, text=asked.get(each.id, each.text)) for each in self.screening),
        )

    def blocks_of(self, group: str | None) -> tuple[Block, ...]:
        """The blocks that a rater of this group is given; all of them if there are no groups."""
        names = next((entry.blocks for entry in self.groups if entry.name == group), None)
        return self.blocks if names is None else tuple(block for block in self.blocks if block.name in names)

    def pools_of_groups(self, scale: str) -> set[tuple[str, ...]]:
        """The different sets of unique blocks that groups rate on a scale; one where all draw from the same pool."""
        names = {block.name for block in self.blocks if block.unique and block.scale.name == scale}
        pools = {tuple(name for name in group.blocks if name in names) for group in self.groups}
        return {tuple(sorted(pool)) for pool in pools if pool}

    @property
    def scales(self) -> tuple[Scale, ...]:
        """Every scale in use, in order of first use."""
        return tuple({block.scale.name: block.scale for block in self.blocks}.values())

    @property
    def graded(self) -> tuple[Scale, ...]:
        """Every scale of ratings; which of two is better is not a grade, as a side is another result for each rater."""
        compared = {block.scale.name for block in self.blocks if block.is_comparison}
        return tuple(scale for scale in self.scales if scale.name not in compared)

    @property
    def named_items(self) -> list[str]:
        """Ids of the items that study.toml names: of practice, attention checks and examples."""
        known = [name for pair in (*self.practice, *self.attention) for name in pair.item_ids]
        return known + [name for each in self.examples for name in (each.query_id, each.result_id)]

    @property
    def result_questions(self) -> dict[str, ResultQuestion]:
        """Further questions about results, by id, of all blocks.

        Examples
        --------
        >>> toml = '[study]\\nid = "a"\\ntitle = "A"\\n[[blocks]]\\nname = "all"\\n'
        >>> asks = '[[blocks.questions]]\\nid = "trust"\\ntext = "Do you trust it?"\\nscale = "1-5"\\n'
        >>> list(Study.parse(toml + asks).result_questions)
        ['trust']
        """
        return {question.id: question for block in reversed(self.blocks) for question in block.questions}

    def question_called(self, name: str | None) -> ResultQuestion | None:
        """The further question of that id; None for None, the blocks' own question.

        Raises
        ------
        RelstudyError
            where no block asks it
        """
        if name is not None and name not in self.result_questions:
            some = ", ".join(self.result_questions)
            there = f"there are {some}" if some else "there is none; [[blocks.questions]] adds one"
            raise RelstudyError(f"no block asks the further question {name!r}; {there}")
        return None if name is None else self.result_questions[name]

    @property
    def outcomes_without_way_back(self) -> tuple[str, ...]:
        """Possible outcomes of raters from a platform that have neither code nor address in [entry.outcomes].

        Examples
        --------
        >>> crowd = Study.parse('[study]\\nid = "a"\\ntitle = "A"\\n[entry]\\nrules = ["prolific"]\\n')
        >>> crowd.outcomes_without_way_back
        ('no_consent', 'set_aside', 'full', 'undecided', 'paused', 'closed')
        """
        ways = self.possible_outcomes if self.entry.platform_rule else ()
        return tuple(name for name in ways if not self.entry.outcomes.get(name))

    @property
    def possible_outcomes(self) -> tuple[str, ...]:
        """Names of the outcomes, of OUTCOMES, that are possible for raters who do not complete."""
        return tuple(name for name, outcome in OUTCOMES.items() if outcome.possible(self))

    @classmethod
    def load(cls, folder: str | Path) -> Study:
        """Read FOLDER/study.toml.

        Raises
        ------
        RelstudyError
            when the file is absent, is no TOML, or has faults (all are listed)
        """
        path = Path(folder) / "study.toml"
        try:
            text = decoded(path.read_bytes(), str(path), "file")
        except FileNotFoundError:
            raise RelstudyError(f"{path}: file not found; `relstudy new {quoted(folder)}` writes one") from None
        except OSError as error:
            raise RelstudyError(f"{path}: cannot be read ({error.strerror})") from None
        return cls.parse(text, file=str(path), folder=Path(folder))

    @classmethod
    def parse(cls, text: str, file: str = "study.toml", folder: Path = Path(".")) -> Study:
        """Check the text of a study.toml; `file` is the name used in errors."""
        try:
            data = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise RelstudyError(f"{file}: this is not TOML: {error}") from None
        return replace(_read(TomlChecker(file, line_numbers(text)), data, folder), text=text)


def _read(check: TomlChecker, data: dict[str, Any], folder: Path) -> Study:
    check.keys(data, (), TABLES)
    if "study" not in data:
        check.fault(("study",), None, "add the section [study], with id and title")
        data["study"] = {"id": "x", "title": "x"}
    head = check.table(data, (), "study")
    at = ("study",)
    check.keys(head, at, OF_STUDY)
    handout = check.table(data, (), "handout")
    check.keys(handout, ("handout",), ("lease_minutes", "seed"))
    scales = read_scales(check, check.table(data, (), "scales"))
    blocks = read_blocks(check, check.tables(data, "blocks"), scales)
    screening = read_screening(check, check.tables(data, "screening"))
    practice = read_known(check, check.tables(data, "practice"), "practice", blocks)
    language = check.text(head, at, "language", "en", LANGUAGE)
    check_looks(check, check.table(data, (), "looks"))
    if "looks" in data and (answers_file(folder) is not None or is_side_by_side(folder)):
        check.fault(("looks",), None, "answers and preferences are compared without looks; take this section out")
    study = Study(
        folder=folder,
        id=check.text(head, at, "id", None, ID),
        title=check.text(head, at, "title", None),
        language=language,
        contact=check.text(head, at, "contact", ""),
        url=check.text(head, at, "url", "", PUBLIC).rstrip("/"),
        consent=check.text(head, at, "consent", ""),
        instructions=check.text(head, at, "instructions", ""),
        thanks=check.text(head, at, "thanks", ""),
        paused=check.yes(head, at, "paused", False),
        minutes=check.number(head, at, "minutes", 0, 0, 10_000),
        withdrawal="" if (offered := check.one_of(head, at, "withdrawal", "no", WITHDRAWALS)) == "no" else offered,
        keep_until=check.day(head, at, "keep_until"),
        lease_minutes=check.number(handout, ("handout",), "lease_minutes", 30, 0.01, 100_000),
        seed=check.whole(handout, ("handout",), "seed", 0, 0, 2**31 - 1),
        entry=read_entry(check, check.table(data, (), "entry")),
        blocks=blocks,
        practice=practice,
        attention=read_known(check, check.tables(data, "attention"), "attention", blocks),
        examples=read_examples(check, check.tables(data, "examples"), blocks),
        qualification=read_qualification(check, data, len(practice)),
        screening=screening,
        groups=read_groups(check, check.tables(data, "groups"), blocks, screening),
        limits=read_limits(check, check.table(data, (), "limits")),
        questions=read_questions(check, check.tables(data, "questions")),
        texts=read_texts(check, check.table(data, (), "texts")),
        judges=read_judges(check, check.table(data, (), "judges")),
        analysis=read_analysis(check, check.table(data, (), "analysis")),
        webhook=read_webhook(check, check.table(data, (), "webhook")),
        displays=read_displays(check, check.table(data, (), "display")),
        sso=read_sso(check, check.table(data, (), "sso"), str(head.get("url", ""))),
        languages=_read_languages(check, head, language, folder),
        collection=read_collection(check, check.table(data, (), "collection")),
    )
    if study.entry.failed_checks_allowed is not None and not study.attention:
        check.fault(
            ("entry", "failed_checks_allowed"),
            None,
            "attention checks are counted, and the study has none; [[attention]] adds one",
        )
    if study.entry.group_parameter and not study.groups:
        check.fault(("entry", "group_parameter"), None, "it names groups, and the study has none; [[groups]] adds one")
    check.raise_faults()
    return study


def _read_languages(check: TomlChecker, head: dict[str, Any], own: str, folder: Path) -> tuple[Language, ...]:
    """The languages that raters may choose from; `own`, the study's, comes first."""
    at = ("study",)
    others = [code for code in (check.texts(head, at, "languages") if "languages" in head else ()) if code != own]
    languages = [language_of(own, folder, own=True)]
    for code in dict.fromkeys(others):
        if not re.fullmatch(LANGUAGE, code):
            check.fault((*at, "languages"), code, "codes of languages are allowed, such as de or pt-BR")
            continue
        try:
            languages.append(language_of(code, folder))
        except RelstudyError as error:
            check.fault((*at, "languages"), code, str(error))
    return tuple(languages)
