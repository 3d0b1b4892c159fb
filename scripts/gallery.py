"""The gallery: six finished studies on public ratings by people (docs/gallery).

    python scripts/gallery.py [STUDY ...] [--data FOLDER] [--out docs/gallery] [--queries N]

FOLDER holds the plain tables (default: ../shared/data; docs/how-to/public-human-data.md says where they come from). Of
each study a page is written, with the question, the commands, the first lines of what they print, and what others
published, and the report that the last command makes. --queries takes the first N queries alone, for a quick look.
"""

from __future__ import annotations

import argparse
import html
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from relstudy.common.tables.meaning.inclusion_probabilities import PAIR

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
DOCS = Path(__file__).resolve().parent.parent / "docs" / "gallery"
COMMANDS = (
    "relstudy calibrate ratings.csv -o judged",
    "relstudy fit scores.csv -j judged/judgments.csv -o mappings",
    "relstudy score scores.csv -j judged/judgments.csv --mappings mappings -o figures --report report.html",
)
REPORTS = "reports"
"""The folder of the reports: beside the pages they would have the names that these get on the site."""
IN_README = "tifa160"
WIDE = 900
"""Pixels of the window in which the systems are pictured."""
SHOWN = 14
"""Lines of the last command on the page."""


@dataclass(frozen=True)
class Tables:
    """A study's tables: ratings (one row a rating), and scores with a column for each system."""

    ratings: pd.DataFrame
    scores: pd.DataFrame

    def plain(self) -> pd.DataFrame:
        """Each pair's mean rating as given, beside the systems' scores."""
        given = self.ratings.assign(mean=pd.to_numeric(self.ratings["rating"], errors="coerce"))
        return given.groupby(PAIR, as_index=False)["mean"].mean().merge(self.scores, on=PAIR)

    def correlation(self, system: str, method: str) -> str:
        """Of a system's scores with the mean ratings as given, to three digits."""
        return f"{self.plain()[[system, 'mean']].corr(method=method).iloc[0, 1]:.3f}"  # type: ignore[arg-type]


@dataclass(frozen=True)
class Study:
    """A finished study.

    Parameters
    ----------
    title : of its page
    question : what it asks, in a sentence or two
    source : where the tables come from, and their licence
    tables : reads them
    published : what others published, each with what it is of and the same from these tables; empty where nothing is
    remark : how the two go together, or why there is nothing beside
    how : what the last command says besides
    """

    title: str
    question: str
    source: str
    tables: Callable[[Path], Tables]
    published: Callable[[Tables, Path], list[tuple[str, str, str]]] = lambda tables, data: []
    remark: str = ""
    how: str = ""

    @property
    def commands(self) -> list[str]:
        """What is typed, one a line."""
        *first, last = COMMANDS
        return [*first, f"{last} {self.how}".rstrip()]


def _ratings(folder: Path) -> pd.DataFrame:
    read = pd.read_csv(folder / "ratings.csv", dtype=str, keep_default_na=False)
    return read[[*PAIR, "rater_id", "rating", "scale"]]


def _tifa160(data: Path) -> Tables:
    folder = data / "tifa160_likert"
    tifa = pd.read_csv(folder / "system_scores_tifa_release.csv")[
        [*PAIR, "bleu", "clipscore_vitb32", "tifa_mplug-large"]
    ]
    dsg = pd.read_csv(folder / "system_scores_dsg_release.csv")[[*PAIR, "dsg|pali-17b"]]
    return Tables(_ratings(folder), tifa.merge(dsg, on=PAIR).rename(columns={"dsg|pali-17b": "dsg_pali-17b"}))


TIFAS = (
    ("bleu", "0.1833", "0.1879"),
    ("clipscore_vitb32", "0.3318", "0.2314"),
    ("tifa_mplug-large", "0.5967", "0.4717"),
)
"""Systems with the correlations that TIFA's notebook prints, to four digits; what it calls Spearman is Pearson's."""


def _tifa160_published(tables: Tables, data: Path) -> list[tuple[str, str, str]]:
    rows = [("dsg_pali-17b, Spearman", "0.571", tables.correlation("dsg_pali-17b", "spearman"))]
    rows += [("dsg_pali-17b, Kendall", "0.458", tables.correlation("dsg_pali-17b", "kendall"))]
    released = pd.read_csv(data / "tifa160_likert" / "system_scores_tifa_release.csv")
    for system, *printed in TIFAS:
        for method, published in zip(("pearson", "kendall"), printed, strict=True):
            found = released[[system, "tifa_human_avg"]].corr(method=method).iloc[0, 1]
            rows.append((f"{system}, {method.capitalize()} with TIFA's own means", published, f"{found:.4f}"))
    return rows


def _agh(data: Path) -> Tables:
    read = pd.read_csv(data / "agh_video_99raters" / "ratings.csv", dtype=str, keep_default_na=False)
    numbers = read["video"].str.extract(r"_scene_\d+_(?P<first_number>\d+)_(?P<second_number>\d+)\.")
    scores = read[PAIR].join(numbers).drop_duplicates(PAIR).dropna()
    common = read["in_common_set"].map({"True": "base"}).fillna("unique")
    return Tables(read[[*PAIR, "rater_id", "rating", "scale"]].assign(block=common), scores)


def _agh_published(tables: Tables, data: Path) -> list[tuple[str, str, str]]:
    contents, clips = tables.ratings["query_id"].nunique(), tables.ratings["result_id"].nunique()
    return [("contents, as its reader's test has them", "20", str(contents)), ("clips", "320", str(clips))]


def _diras(data: Path) -> Tables:
    folder = data / "diras_chatreport"
    judges = pd.read_csv(folder / "judges.csv")
    probability = judges["gpt4_confidence"].where(judges["gpt4_guess"] == "yes", 1 - judges["gpt4_confidence"])
    return Tables(_ratings(folder), judges[[*PAIR, "embedding_cosine"]].assign(gpt4=probability))


def _viescore(data: Path) -> Tables:
    folder = data / "viescore_judges"
    ratings = _ratings(folder)
    ratings = ratings[ratings["rater_id"].str.startswith("generate")]
    judges = pd.read_csv(folder / "judges.csv")
    named = judges[judges["judge"].isin(["gpt4o_1shot", "gemini_0shot", "llava_0shot", "blip2_0shot"])]
    scores = named.pivot(index=PAIR, columns="judge", values="rating").reset_index()
    pairs = ratings[PAIR].drop_duplicates()
    return Tables(ratings, scores.merge(pairs, on=PAIR))


def _engines(data: Path) -> pd.DataFrame:
    """Scores of three search engines; what one did not return has none."""
    runs = pd.read_csv(data / "haystack_rating_party" / "system_runs.csv", dtype=dict.fromkeys(PAIR, str))
    return runs.pivot_table(index=PAIR, columns="system", values="score", aggfunc="max").reset_index()


def _haystack(data: Path) -> Tables:
    ratings = _ratings(data / "haystack_rating_party")
    return Tables(ratings, _engines(data).merge(ratings[PAIR].drop_duplicates(), on=PAIR))


def _haystack_published(tables: Tables, data: Path) -> list[tuple[str, str, str]]:
    stored = pd.read_csv(data / "haystack_rating_party" / "published_scores.csv")
    means = stored.groupby("system")["published_ndcg10"].mean()
    return [(f"{system}, nDCG@10", f"{value:.3f}", "not comparable") for system, value in means.items()]


def _chorus(data: Path) -> Tables:
    ratings, engines = _ratings(data / "chorus_3agents"), _engines(data)
    both = ratings[PAIR].drop_duplicates().merge(engines[PAIR], on=PAIR)
    return Tables(ratings.merge(both, on=PAIR), engines.merge(both, on=PAIR))


def _chorus_published(tables: Tables, data: Path) -> list[tuple[str, str, str]]:
    wide = pd.read_csv(data / "chorus_3agents" / "wide_with_final.csv")
    agents = [name for name in wide if name.startswith("agent_")]
    same = (wide[agents].median(axis=1) == wide["final_rating"]).mean()
    return [("pairs whose final rating is the median of the three agents'", "final_rating", f"{100 * same:.1f} %")]


LAST = "--policy worst --allow-low-coverage"
"""What an engine did not return is last, as for whoever searches."""
NO_DIRAS = (
    "Not comparable: the repository evaluates against a third label (`gold`), which these tables do not have, and "
    "prints no figure."
)
NO_VIESCORE = (
    "Not comparable: the paper gives one Spearman correlation over seven tasks (.4 of GPT-4o, .45 of people with one "
    "another), of which this is one; its repository prints no figure."
)
STUDIES = {
    "tifa160": Study(
        "Does the picture show what the text says?",
        "Five people rated, from 1 to 5, how far 800 pictures made from 160 texts show what the text says. Which "
        "measure says the same: one that asks questions about the picture (TIFA, DSG), CLIP, or BLEU of a caption?",
        "[TIFA](https://github.com/Yushi-Hu/tifa) and [DSG](https://github.com/j-min/DSG), Apache-2.0",
        _tifa160,
        _tifa160_published,
        "DSG's README has its two of the mean ratings, TIFA's notebook the others of its own means. The report's own "
        "figures are of ratings on one scale, of scores mapped out of fold, and with intervals that speak of other "
        "texts and raters.",
    ),
    "agh-video": Study(
        "What does a clip's name tell of its quality?",
        "99 people rated, from 1 to 5, the quality of 320 clips of 20 contents; all of them rated the same 40. Two "
        "numbers stand in each clip's name (as in scene_000_4000_100): how much of what people see does each tell?",
        "[sureal](https://github.com/Netflix/sureal), quality_variation_2017_agh_tv, Apache-2.0",
        _agh,
        _agh_published,
        "No aggregate of these ratings was found published. References have no number, and no score here.",
    ),
    "diras": Study(
        "Which paragraph answers the question?",
        "Two annotators rated, from 0 to 4, how far 60 paragraphs of climate reports answer each of 11 questions. Does "
        "GPT-4 say what they say, and does an embedding?",
        "[DIRAS](https://github.com/EdisonNi-hku/DIRAS), MIT",
        _diras,
        remark=NO_DIRAS,
    ),
    "viescore": Study(
        "Can a model judge a picture?",
        "Three people rated 985 pictures made from 197 texts by five programs. Four vision-language models gave each a "
        "score: which of them could stand in for the people?",
        "[VIEScore](https://github.com/TIGER-AI-Lab/VIEScore), MIT",
        _viescore,
        remark=NO_VIESCORE,
    ),
    "haystack": Study(
        "Which of three searches orders products as people do?",
        "13 people rated, from 0 to 3, products that three search engines found for 137 queries; one of them gave half "
        "of the ratings. Which engine's scores order products as people do?",
        "[Quepid](https://github.com/o19s/quepid)'s sample data, Apache-2.0; people are numbered",
        _haystack,
        _haystack_published,
        "The figures kept in the snapshots are of earlier ratings, which changed afterwards: these do not give them.",
        LAST,
    ),
    "chorus": Study(
        "Do other raters say the same of these searches?",
        "Three agents of a rating service rated products of the same shop for many of the same queries. The same three "
        "engines as in *haystack*, judged by other people: is the answer the same?",
        "[Chorus](https://github.com/querqy/chorus), Apache-2.0",
        _chorus,
        _chorus_published,
        "Nothing is published of these engines and agents together; its own final rating is mostly the agents' median.",
        LAST,
    ),
}


def make(name: str, study: Study, data: Path, out: Path, queries: int | None) -> None:
    """Run a study's commands, and write its page and report."""
    tables = study.tables(data)
    if queries is not None:
        kept = tables.scores["query_id"].drop_duplicates().head(queries)
        tables = Tables(*(each[each["query_id"].isin(kept)] for each in (tables.ratings, tables.scores)))
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(passing)
        tables.ratings.to_csv(folder / "ratings.csv", index=False)
        tables.scores.to_csv(folder / "scores.csv", index=False)
        for line in study.commands:
            words = [sys.executable, "-m", *shlex.split(line)]
            done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                raise SystemExit(f"{name}: {line}\n{done.stderr}")
        (out / REPORTS / f"{name}.html").write_bytes((folder / "report.html").read_bytes())
    given = tables.ratings[tables.ratings["rating"] != ""]
    lines = [
        f"# {study.title}",
        "",
        study.question,
        "",
        f"{len(given):,} ratings by {given['rater_id'].nunique()} people; tables from {study.source}.",
        "",
        *("```shell", *study.commands, "```"),
        "",
        *("```text", *done.stdout.splitlines()[:SHOWN], "```"),
        "",
        f"**[The report]({REPORTS}/{name}.html)** is what the last command wrote.",
        "",
        "## Beside what was published",
        "",
    ]
    rows = study.published(tables, data)
    if rows:
        lines += ["| of | published | from these tables |", "|---|---|---|"]
        lines += [f"| {' | '.join(row)} |" for row in rows] + [""]
    (out / f"{name}.md").write_text("\n".join([*lines, study.remark, ""]), encoding="utf-8")


def contents(out: Path, reports: Path | None = None) -> None:
    """The page that leads to all studies whose report is there; `reports` is where, else `out`."""
    pages = reports or out
    lines = [
        "# Gallery",
        "",
        "Finished studies on public ratings by people: the question, the commands, the report as it came out, and what",
        "was published beside it. `python scripts/gallery.py` makes these pages of tables that are not in this project",
        "([where they come from](../how-to/public-human-data.md)).",
        "",
        *(line for name, study in STUDIES.items() for line in _entry(name, study, pages)),
    ]
    (out / "index.md").write_text("\n".join(lines), encoding="utf-8")


def _entry(name: str, study: Study, out: Path) -> list[str]:
    """A study on the page that leads to all: its question, the answer, and the picture of its systems."""
    report = out / REPORTS / f"{name}.html"
    if not report.is_file():
        return []
    page = report.read_text(encoding="utf-8")
    answer = re.findall(r'<p class="headline">(.*?)</p>', page)[0]
    picture = f"[![Every system on one line]({name}-systems.png)]({name}.md)"
    return [f"## [{study.title}]({name}.md)", "", html.unescape(answer), "", picture, ""]


def picture(out: Path) -> None:
    """The pictures of the gallery's first page, and README's: the first screen of a report, by day and by night."""
    from playwright.sync_api import sync_playwright

    from scripts.make_report_picture import take
    from tests.chromium import CHROMIUM, FLAGS

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for scheme, ending in (("light", ""), ("dark", "-dark")):
            take(browser, (out / REPORTS / f"{IN_README}.html").resolve(), out / f"{IN_README}{ending}.png", scheme)
        page = browser.new_page(viewport={"width": WIDE, "height": WIDE}, color_scheme="light")
        for name in STUDIES:
            page.goto((out / REPORTS / f"{name}.html").resolve().as_uri())
            page.locator("figure.overview table").screenshot(path=out / f"{name}-systems.png")
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("studies", nargs="*", choices=[*STUDIES, []], metavar="STUDY")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=DOCS)
    parser.add_argument("--queries", type=int, help="take so many queries of each study alone")
    parser.add_argument("--picture", action="store_true", help="take the pictures of reports that are there")
    arguments = parser.parse_args()
    (arguments.out / REPORTS).mkdir(parents=True, exist_ok=True)
    if arguments.picture:
        picture(arguments.out)
        return
    for name in arguments.studies or STUDIES:
        make(name, STUDIES[name], arguments.data, arguments.out, arguments.queries)
        print(f"{name}: {arguments.out / REPORTS / name}.html")
    contents(arguments.out)


if __name__ == "__main__":
    main()
