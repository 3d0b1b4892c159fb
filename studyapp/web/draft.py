"""A study that is being set up in the browser: what was chosen so far, and the study that this makes.

Every choice is one that a command takes; the study is made anew after each step, and is not served before it is opened.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from relstudy.common.runtime.errors import RelstudyError
from relstudy.common.runtime.file_lock import Held, locked
from relstudy.common.runtime.files import read_json, write_json, write_text
from relstudy.common.runtime.wording import as_argument, count_of, quoted, thousands
from relstudy.common.tables.formats.table_files import read_table
from relstudy.common.tables.meaning.scales import scale_named
from relstudy.common.tables.meaning.study_folder import ANSWERS
from relstudy.studyapp.collection.asked_study import QUALITY, make_study
from relstudy.studyapp.collection.from_folder import make_collection
from relstudy.studyapp.collection.items import Collection
from relstudy.studyapp.collection.results_table import read_results
from relstudy.studyapp.config.starter import starter_toml, with_examples, with_people, with_question, with_words
from relstudy.studyapp.config.study import Study
from relstudy.studyapp.monitoring.checkup import check_study
from relstudy.studyapp.systems import SYSTEMS
from relstudy.studyapp.web.hosted import NAME, RESERVED, STOPPED
from relstudy.studyapp.web.uploads import ARRAY, items_in, sources_in, without_named

DRAFT, UPLOADS, SCORES, VECTORS = "draft.json", "uploads", "scores", "vectors"
BEFORE = "before"
TAKEN_IN = ".upload-"
OURS = f"{TAKEN_IN}{secrets.token_hex(4)}-"
"""Prefix of what this server and its workers put into the host's folder for a while."""
_OF_A_SERVER = re.compile(rf"{re.escape(TAKEN_IN)}[0-9a-f]{{8}}-[a-z0-9_]+")
SEARCHES = "searches.txt"
MOST_NAMED = 5
"""Files and folders of items up to which each is named."""
IDS = ".ids.txt"
"""What the ids beside an array are called."""
SCALES = ("1-5", "yes-no", "binary", "1-9")
WAYS = ("personal", "open", "prolific")
PROLIFIC = "https://app.prolific.com/submissions/complete?cc="
OFFERED = {
    "colour": (True, "Similar colours"),
    "gift": (True, "Similar colours and textures (GIFT)"),
    "simplicity": (True, "Similar regions of the picture (SIMPLIcity)"),
    "bm25": (False, "Words in common, rare words count more (BM25)"),
    "keywords": (False, "Keywords in common"),
}
"""Built-in systems that a page offers: whether each compares pictures, else words; and how, for people."""
OF_PARADIGM = {"image": "colour", "text": "bm25"}
"""The system that needs nothing but the items, by how queries ask."""
LONGEST = 120.0
"""Seconds that a command may take."""
MOST_WORK = 240
"""Seconds of a processor that it may use, on all its threads."""
LEFT = 3600.0
"""Seconds after which uploads and previews of another server are leftovers."""
PLANNED = 20
"""Simulated studies of each size."""
WAITED = 3.0
"""Seconds that a request waits for the lock before it is refused."""
LOWER = 5
"""By how much a command is nicer than this process, which raters wait for."""
_PLANNING = threading.Lock()


@dataclass(frozen=True)
class Template:
    """A kind of study that people set up.

    Parameters
    ----------
    title : in a few words
    upload : what it is made of
    of_items : whether it is made of pictures or texts, for which systems propose pairs, and not of results
    scale : that it begins with
    side_by_side : whether two results are compared
    measure : how arrays of a system's own are compared
    """

    title: str
    upload: str
    of_items: bool = False
    scale: str = SCALES[0]
    side_by_side: bool = False
    measure: str = "cosine"


PROMPTS = "A folder for each model, together in one folder or zip, and a table or text file of the prompts, one a line."
TEMPLATES = {
    "answers": Template(
        "Answers of language models", "A table with a row for each question and a column of answers for each model."
    ),
    "search": Template(
        "Results that your search system found",
        "A table with a row for each query, system and result; or TREC runs with their documents and queries.",
    ),
    "yes-no": Template(
        "Results that your search system found: relevant, yes or no", "The same files as above.", scale="yes-no"
    ),
    "side-by-side": Template(
        "Results or answers of two systems, side by side",
        "The same files as above, for two systems or models: which is better?",
        side_by_side=True,
    ),
    "made-pictures": Template("Pictures that models made from texts", PROMPTS),
    "films": Template("Films or sounds that models made from texts", PROMPTS),
    "items": Template(
        "Your own pictures or texts",
        "Pictures, or texts (.txt, .md). People judge how well they match one another, or searches that you give.",
        of_items=True,
    ),
    "codes": Template(
        "Your own pictures, to check hash codes",
        "Pictures; your codes (.npy, a row for each picture, with NAME.ids.txt) come with the next step.",
        of_items=True,
        measure="hamming",
    ),
}


@dataclass(frozen=True)
class Draft:
    """What was chosen.

    Parameters
    ----------
    name : of the study, and of its folder
    template : one of TEMPLATES
    searches : what people search for among the items, of a study of items; none: items are compared with one another
    title, question, scale, side_by_side : what people read and are asked; "": what fits
    low, high : words for the lowest and highest grade of 1-5 or 1-9; "": the shipped ones
    raters : people expected; None: not known
    systems : built-in systems that propose pairs, of a study of items; none: those that apply
    models : columns of a table that hold a model's answers each; none: as they are recognised
    queries, results, base : numbers to draw, of a study of items
    contact, consent : texts for raters; "": the shipped ones
    ways : how raters get in
    completion : Prolific's completion code
    examples : query_id, result_id and grade of the pairs of the rating guide
    owner : whose draft it is: a word that this visitor's cookie holds
    """

    name: str
    template: str = ""
    searches: tuple[str, ...] = ()
    title: str = ""
    question: str = ""
    scale: str = SCALES[0]
    low: str = ""
    high: str = ""
    side_by_side: bool = False
    raters: int | None = None
    systems: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    queries: int = 50
    results: int = 10
    base: int = 20
    contact: str = ""
    consent: str = ""
    ways: tuple[str, ...] = WAYS[:2]
    completion: str = ""
    examples: tuple[tuple[str, str, float], ...] = ()
    owner: str = ""

    @property
    def kind(self) -> Template:
        """Its template."""
        return TEMPLATES[self.template]

    @classmethod
    def of(cls, folder: Path) -> Draft | None:
        """The draft in a folder; None if there is none, or it was opened."""
        if not (folder / STOPPED).is_file() or not (folder / DRAFT).is_file():
            return None
        content = read_json(folder / DRAFT)["draft"]
        examples = tuple((query, result, rating) for query, result, rating in content["examples"])
        lists = {name: tuple(content[name]) for name in ("systems", "models", "ways", "searches")}
        return cls(**content | lists | {"examples": examples})

    def checked(self) -> Draft:
        """Itself.

        Raises
        ------
        RelstudyError
            for a choice that there is not
        """
        if self.template not in TEMPLATES:
            raise RelstudyError("choose what people rate")
        if self.name in (*RESERVED, UPLOADS, BEFORE):
            raise RelstudyError(f"{self.name!r} cannot be the name of a study: relstudy uses that name itself")
        if not NAME.fullmatch(self.name):
            raise RelstudyError(
                f"{self.name!r} cannot be the name of a study: letters from a to z, digits, - and _ are allowed, and "
                "the first is a letter or a digit"
            )
        if self.scale not in SCALES:
            raise RelstudyError("choose a scale of the list")
        if not self.ways or not set(self.ways) <= set(WAYS):
            raise RelstudyError("choose how raters get in")
        if not set(self.systems) <= set(SYSTEMS):
            raise RelstudyError("choose systems of the list")
        if self.completion and not re.fullmatch(r"[A-Za-z0-9]{4,40}", self.completion):
            raise RelstudyError(f"{self.completion!r} is not a completion code: letters and digits are allowed")
        return self


@dataclass(frozen=True)
class Made:
    """What a draft made: what was understood, its systems, the built-in ones or columns of answers that can be chosen,
    and the commands that do the same."""

    said: tuple[str, ...]
    systems: tuple[str, ...]
    commands: tuple[str, ...]
    offered: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: Path) -> Made:
        """As it was kept beside the draft."""
        return cls(**{name: tuple(value) for name, value in read_json(folder / DRAFT)["made"].items()})


def remove_leftovers(host: Path) -> None:
    """Remove uploads and previews of processes that were ended; at the start and the end of a server its own, too."""
    for place in host.glob(f"{TAKEN_IN}*"):
        with suppress(OSError):  # another server removes it just now, or it is no folder of ours
            is_old = _OF_A_SERVER.fullmatch(place.name) and time.time() - place.lstat().st_mtime > LEFT
            if place.name.startswith(OURS) or is_old:
                shutil.rmtree(place)


def make_draft(draft: Draft, host: Path, take: Callable[[Path], None] | None = None) -> Made:
    """Make the study of a draft in the host's folder, in place of an earlier state of the same draft.

    Parameters
    ----------
    take : writes what was uploaded into the folder that it is given; None: as uploaded before

    Raises
    ------
    RelstudyError
        for what is wrong with choices or uploads, and where the name is taken; nothing is changed then
    """
    target = host / draft.checked().name
    refuse_anothers(draft, target)
    with tempfile.TemporaryDirectory(prefix=OURS, dir=host) as place:
        study = Path(place) / draft.name
        uploads = Path(place) / UPLOADS
        uploads.mkdir()
        try:
            if take is None:
                shutil.copytree(target / UPLOADS, uploads, dirs_exist_ok=True)
            else:
                take(uploads)
        except (FileNotFoundError, shutil.Error):
            raise RelstudyError(f"{draft.name} was thrown away in the meantime") from None
        try:
            made = (_of_items if draft.kind.of_items else _of_results)(draft, uploads, study)
            file = study / "study.toml"
            url = PROLIFIC + draft.completion if draft.completion else ""
            said = with_people(
                file.read_text(encoding="utf-8"), draft.contact, draft.consent, draft.ways, url, draft.title
            )
            if draft.low or draft.high:
                said = with_words(said, draft.scale, draft.low, draft.high).replace(QUALITY, "")
            drawn = read_table(study / "pairs.csv", "query_id", "result_id").frame
            taken = set(zip(drawn["query_id"], drawn["result_id"], strict=True))
            ids = set(read_table(study / "collection.csv", "item_id").frame["item_id"])
            kept = tuple(
                each
                for each in (draft.examples if draft.kind.of_items else ())
                if each[:2] not in taken and ids.issuperset(each[:2]) and each[2] in _grades(draft)
            )
            write_text(with_examples(said, kept), file)
            Study.load(study)
        except RelstudyError as error:
            raise RelstudyError(re.sub(rf"{re.escape(place)}/({UPLOADS}/)?", "", str(error))) from None
        uploads.rename(study / UPLOADS)
        write_json({"draft": asdict(replace(draft, examples=kept)), "made": asdict(made)}, study / DRAFT)
        (study / STOPPED).touch()
        with alone(host):
            refuse_anothers(draft, target)  # opened, thrown away or made by somebody else while this was at work
            if take is None and not target.exists():
                raise RelstudyError(f"{draft.name} was thrown away in the meantime")
            if target.exists():
                target.rename(Path(place) / BEFORE)  # which goes with the place
            study.rename(target)
    return made


def _grades(draft: Draft) -> tuple[float, ...]:
    scale = scale_named(draft.scale)
    assert scale is not None, "the scales of a draft are built in"
    return scale.values


def refuse_anothers(draft: Draft, target: Path) -> None:
    """Refuse a folder that is a study already, or somebody else's draft."""
    there = Draft.of(target) if target.exists() else draft
    if there is None:
        raise RelstudyError(f"there is a study {draft.name} already; choose another name")
    if there.owner != draft.owner:
        raise RelstudyError(f"somebody else is setting up {draft.name}, or left it unfinished; choose another name")


@contextmanager
def alone(host: Path) -> Iterator[None]:
    """A stretch in which no other process changes which folders of the host are drafts."""
    try:
        with locked(host, wait=WAITED):
            yield
    except Held:
        raise RelstudyError("another study is just being saved here; try again in a minute") from None


def discard(draft: Draft, host: Path) -> None:
    """Delete a draft, if it is one still and nobody else's."""
    folder = host / draft.name
    with alone(host):
        there = Draft.of(folder)
        if there is not None and there.owner == draft.owner:
            away = host / f"{OURS}{secrets.token_hex(4)}"
            folder.rename(away)  # a preview may be writing into it, and the name is free all the same
            shutil.rmtree(away, ignore_errors=True)


def open_draft(folder: Path) -> None:
    """Let the host serve it; what was uploaded is in the study now.

    Raises
    ------
    RelstudyError
        if it cannot be served as it is; nothing is changed then
    """
    wrong = [finding.words for finding in check_study(folder) if finding.state == "wrong"]
    if wrong:
        raise RelstudyError(wrong[0])
    shutil.rmtree(folder / UPLOADS, ignore_errors=True)
    (folder / DRAFT).unlink()
    (folder / STOPPED).unlink()


def _of_results(draft: Draft, uploads: Path, study: Path) -> Made:
    sources, beside = without_named(sources_in(uploads), uploads)
    roles = dict.fromkeys(draft.models, "answer") if len(draft.models) > 1 else {}
    table = read_results(sources, roles)
    asked = make_study(
        table, study, questions=[draft.question] if draft.question else [], scale=draft.scale, raters=draft.raters,
        side_by_side=draft.side_by_side, beside=beside, within=uploads,
    )  # fmt: skip
    given = [path.relative_to(uploads).parts for path in sources]
    names = dict.fromkeys(
        str(Path(*parts[1:])) if parts[0].endswith(".zip") and parts[1:] else parts[0] for parts in given
    )
    words = ["relstudy", "ask", *map(as_argument, names), "-o", draft.name]
    words += ["--columns", ",".join(f"answer={name}" for name in roles)] if roles else []
    words += ["--question", draft.question] if draft.question else []
    words += ["--side-by-side"] if draft.side_by_side else ["--scale", draft.scale]
    words += ["--raters", str(draft.raters)] if draft.raters else []
    counts = read_table(study / ANSWERS, "system").frame["system"].value_counts(sort=False)
    systems = tuple(f"{name}: {count_of(int(number), 'result')}" for name, number in counts.items())
    columns = (*table.models, *table.unused) if table.models else ()
    doubts, hidden = table.doubts(), {*table.doubts(), *table.way_out()}
    said = (*(each for each in table.sentences() if each not in hidden), asked.sentence())
    return Made(said, systems, (shlex.join(words),), columns, table.models, tuple(doubts))


def _of_items(draft: Draft, uploads: Path, study: Path) -> Made:
    given = sorted((uploads / SCORES).iterdir()) if (uploads / SCORES).is_dir() else []
    arrays = [path for path in given if path.name.endswith((ARRAY, IDS))]
    scored = [path for path in given if path not in arrays]
    study.mkdir()
    items = [path for path in items_in(uploads) if path.relative_to(uploads).parts[0] != SCORES]
    of_upload = Counter(path.relative_to(uploads).parts[0] for path in items)
    for path in uploads.iterdir():
        if path.name not in (*of_upload, SCORES):
            raise RelstudyError(f"{path.name} holds no pictures and no texts (.txt, .md); leave it out")
    for path in given:
        target = study / (VECTORS if path in arrays else SCORES) / path.name
        target.parent.mkdir(exist_ok=True)
        (shutil.copytree if path.is_dir() else shutil.copyfile)(path, target)
    notes = make_collection(items, study, convert=True, searches=draft.searches)
    if draft.searches:
        write_text("\n".join(draft.searches) + "\n", study / SEARCHES)
    collection = Collection.load(study)
    paradigms = collection.paradigms()
    has_pictures = any(item.kind == "image" for item in collection.items)
    has_words = any(item.role != "query" and (item.text or item.title or item.keywords) for item in collection.items)
    if draft.searches and not has_words:
        raise RelstudyError(
            "no built-in system finds pictures by words: give your system's results instead (Results that your search "
            "system found), or leave the searches out"
        )
    offered = tuple(
        name
        for name, (pictures, _) in OFFERED.items()
        if (has_pictures and not draft.searches if pictures else has_words)
    )
    write_text(with_question(starter_toml(draft.name, paradigms), draft.question, draft.scale), study / "study.toml")
    built_in = draft.systems or tuple(OF_PARADIGM[name] for name in paradigms)
    measured = [f"vectors:{VECTORS}/{path.name}:{draft.kind.measure}" for path in arrays if path.suffix == ARRAY]
    systems = (*built_in, *(f"{SCORES}/{path.name}" for path in scored), *measured)
    words = ["--systems", ",".join(systems), "--queries", str(draft.queries), "--results", str(draft.results)]
    pairs = min(draft.queries, queries_there(collection)) * min(draft.results, len(collection.items))
    words += [
        "--base",
        str(min(draft.base, max(pairs // 3, 1))),
        *(["--raters", str(draft.raters)] if draft.raters else []),
    ]
    drawn = _run(["sample", str(study), *words, "--json"])
    file = study / "study.toml"
    share = f"pairs_per_rater = {-(-drawn['unique_pairs'] // drawn['raters']) or 1}"
    write_text(re.sub(r"^pairs_per_rater = 100\b", share, file.read_text(encoding="utf-8"), flags=re.M), file)
    hours = drawn["rater_hours"]
    number, queries = len(collection) - len(draft.searches), thousands(sum(drawn["queries"].values()))
    said = (
        *(f"{name}: {count_of(many, 'item')}" for name, many in of_upload.items() if len(of_upload) <= MOST_NAMED),
        f"{count_of(number, 'item')} in all; "
        + (
            f"{queries} searches"
            if draft.searches
            else f"{queries} of them are queries, for which others are the results"
        ),
        *notes,
        f"{thousands(drawn['pairs'])} pairs to rate, {drawn['base_pairs']} of them by everyone",
        f"{thousands(hours['ratings'])} ratings by {count_of(drawn['raters'], 'person', 'people')}, about "
        f"{count_of(max(round(60 * hours['each']), 1), 'minute')} each",
        *drawn["notes"],
    )
    uploaded = " ".join(map(quoted, of_upload if len(of_upload) <= MOST_NAMED else ["FOLDER"]))
    commands = (
        f"relstudy new {draft.name} --from {uploaded}{f' --searches {SEARCHES}' if draft.searches else ''}",
        shlex.join(["relstudy", "sample", as_argument(draft.name), *words]),
    )
    lists = [path.name for path in items if path.suffix.lower() == ".txt" and _may_be_searches(path)]
    doubts = (f"{lists[0]} is one text. If it is a list of searches, put its lines into Searches.",) if lists else ()
    return Made(said, systems, commands, offered, (), doubts if len(lists) == 1 < len(items) else ())


def _may_be_searches(path: Path) -> bool:
    """True of a text whose name says so."""
    return bool(re.search(r"search|quer(y|ies)|topic|prompt|question", path.stem, re.I))


@contextmanager
def one_simulation() -> Iterator[None]:
    """A stretch in which this process simulates for nobody else.

    Raises
    ------
    RelstudyError
        if it does
    """
    if not _PLANNING.acquire(blocking=False):
        raise RelstudyError("another study is being simulated here; try again in a minute")
    try:
        yield
    finally:
        _PLANNING.release()


def queries_there(collection: Collection) -> int:
    """How many queries can be drawn."""
    return sum(len(collection.queries(kind)) for kind in collection.paradigms())


def differences_found(folder: Path) -> tuple[str, ...]:
    """What a study of a draft's size finds, in sentences of `relstudy plan`."""
    plan = _run(["plan", str(folder), "--studies", str(PLANNED), "--json"])
    collection = Collection.load(folder)
    there = queries_there(collection)
    few = (
        f"There are only {there} queries to draw; with these you find only larger differences."
        if (plan["queries"] or 0) > there
        else ""
    )
    return tuple(each for each in (plan["drawn_sentence"], plan["sentence"], few) if each)


def _run(words: list[str]) -> dict[str, Any]:
    """What a command prints as JSON, run in a process of its own."""
    command = [sys.executable, "-m", "relstudy", *words]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        _limit(process.pid)
        try:
            printed, errors = process.communicate(timeout=LONGEST)
        except subprocess.TimeoutExpired:
            process.kill()
            raise RelstudyError(f"{words[0]} took longer than {LONGEST:.0f} seconds and was ended") from None
    if process.returncode:
        said = errors.strip().splitlines() or [f"{words[0]} was ended"]
        raise RelstudyError(said[-1].removeprefix("relstudy: "))
    found: dict[str, Any] = json.loads(printed)
    return found


def _limit(process: int) -> None:
    """Let a command wait for this process, which raters wait for, and end where it outlives it, as far as the system
    allows that."""
    if hasattr(os, "setpriority"):
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process, min(os.getpriority(os.PRIO_PROCESS, 0) + LOWER, 19))
    if sys.platform == "linux":
        import resource

        with suppress(OSError):
            resource.prlimit(process, resource.RLIMIT_CPU, (MOST_WORK, MOST_WORK))
