"""`relstudy judge check`: is an automatic judge any good, and for what?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from relstudy.analysis.scoring.options import ScoringOptions
from relstudy.common.options.command_options import options_of
from relstudy.common.options.declaration import fields_given
from relstudy.common.runtime.console import print_json, print_table
from relstudy.common.runtime.wording import count_of, number, percent, quoted, with_ends

if TYPE_CHECKING:
    from relstudy.analysis.judges.check import JudgeCheck
    from relstudy.analysis.judges.self_preference import ModelFavour
    from relstudy.analysis.judges.study import JudgedStudy
    from relstudy.common.results.estimates import Estimate

AGAIN = {
    "repeated": "Asked again",
    "moved": "With the items' texts moved to the front of the question",
    "exchanged": "With the sides exchanged",
}
"""The ways in which a judge is asked a second time, in words."""


@click.command("judge check")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--judge", "name", type=click.Path(), required=True, help="The judge: FOLDER/judges/NAME.csv, or a file.")
@click.option("--judgments", "-j", type=click.Path(path_type=Path), help="Judgments, where not FOLDER/judgments.csv.")
@click.option("--question", help="A further question of the study, by its id: its judges and its judgments.")
@options_of(ScoringOptions, only=("replicates", "seed"))
@click.option(
    "--worklist", type=click.Path(path_type=Path), help="Write the pairs worth a look: this page, and .csv beside it."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def judge_check(
    folder: Path,
    name: str,
    judgments: Path | None,
    question: str | None,
    worklist: Path | None,
    as_json: bool,
    **choices: Any,
) -> None:
    """Hold the judge NAME of the study in FOLDER against people's judgments.

    People are the measure: what each grade is worth, how much the judge explains, whether it agrees with people as
    well as one of them does, whether it favours a system, and by how much it would shorten each interval. Systems are
    those of FOLDER/scores that have a score for every pair which the judge was given; of answers, the models.

    \b
    relstudy judge check my-study --judge model
    relstudy judge check my-study --judge model --worklist look.html
    """
    from relstudy.analysis.judges.check import check_judge_against
    from relstudy.analysis.judges.model_labels import SHARE, model_labels
    from relstudy.analysis.judges.self_preference import model_favours
    from relstudy.analysis.judges.study import judge_file, judged_study, read_human_study
    from relstudy.common.runtime.files import read_json
    from relstudy.common.tables.formats.table_files import read_table
    from relstudy.common.tables.meaning.inclusion_probabilities import PAIR
    from relstudy.common.tables.meaning.study_folder import answers_file, question_folder, table_in

    options = ScoringOptions(method="none", measures=(), **fields_given(ScoringOptions, choices))
    asked = question_folder(folder, question)
    path = judge_file(asked, name)
    if question is not None and judgments is None:
        made_by = f"relstudy calibrate {quoted(asked / 'ratings.csv')} -o {quoted(asked)}"
        judgments = table_in(asked, "judgments.csv", made_by)
    human = read_human_study(folder, judgments)
    study = judged_study(human, path, options)
    check = check_judge_against(study.pairs, study.candidates, study.scores, study.judge, options, study.ratings)
    notes = [*human.notes, *study.notes]
    answers = answers_file(folder)
    models, labels = [], []
    if answers is not None:
        of_models, scale = read_table(answers, "system", *PAIR).frame, human.judgments.scale.scale
        models = model_favours(study.judge, human.judgments.frame, of_models)
        matters = human.matters or SHARE * (scale.high - scale.low)
        labels = model_labels(study.judge, human.judgments.frame, of_models, matters)
    described = path.with_suffix(".json")
    description = read_json(described) if described.is_file() else {}
    again = {"repeated": None, "moved": None} | {way: description[way] for way in AGAIN if way in description}
    if worklist is not None:
        notes += _write_worklist(folder, worklist, path, study, options)
    if as_json:
        of_models_json = {
            "models": {each.model: each.as_json() for each in models}, "labels": [each.as_json() for each in labels],
        }  # fmt: skip
        print_json(check.as_json() | again | (of_models_json if answers is not None else {}) | {"notes": notes})
        return
    _print(check, again)
    if models:
        _print_models(models, name)
    for each in labels:
        click.echo(each.sentence())
    for note in notes:
        click.echo(note)


def _write_worklist(
    folder: Path, page: Path, judge: Path, study: JudgedStudy, options: ScoringOptions
) -> tuple[str, ...]:
    """Write the page and the table of the pairs that are worth a look; what is said of them."""
    from relstudy.analysis.judges.judged_by_both import Universe
    from relstudy.analysis.judges.study import confidences
    from relstudy.analysis.report.inputs import read_items
    from relstudy.analysis.report.judge_worklist import summary, worklist, worklist_page
    from relstudy.analysis.report.rendering import html_of
    from relstudy.common.runtime.errors import RelstudyError
    from relstudy.common.runtime.files import write_text
    from relstudy.common.tables.formats.table_files import write_table

    if page.suffix.lower() not in (".html", ".htm"):
        raise RelstudyError(f"--worklist {page}: a page is written, so its name ends in .html")
    universe = Universe.of(study.pairs, study.judge, options)
    table = worklist(universe, confidences(judge, study.judge))
    write_text(html_of(worklist_page(study.judge.name, table, read_items(folder))), page)
    write_table(table, page.with_suffix(".csv"))
    return (f"{page} and {page.with_suffix('.csv')} hold the worklist:", *summary(table))


def _print(check: JudgeCheck, again: dict[str, dict[str, int] | None]) -> None:
    numbers = check.judge.as_json()
    click.echo(
        f"Judge {check.judge.name}: {count_of(numbers['answered'], 'answer')} for "
        f"{count_of(numbers['rows'], 'pair')} of {count_of(numbers['queries'], 'query', 'queries')}. Of pairs with a "
        "grade, people say:"
    )
    rows = [
        [
            str(row["grade"]),
            f"{row['pairs']:,}",
            f"{row['judged']:,}",
            number(float(row["relevant_share"])),
            number(float(row["judgment"])),
        ]
        for row in check.grades.to_dict("records")
    ]
    print_table(rows, ["grade", "pairs", "judged", "relevant", "judgment"])
    click.echo()
    if len(check.models) > 1:
        of_models = [
            [
                str(row["model"]),
                f"{row['answers']:,}",
                f"{row['judged']:,}",
                *(number(float(row[name]), ".2f") for name in ("grade", "judgment")),
            ]
            for row in check.models.to_dict("records")
        ]
        print_table(of_models, ["model that answered", "answers", "judged", "mean grade", "people's judgment"])
        click.echo()
    click.echo(f"It explains {_with_ends(check.explained['r_squared'])} of the variance of people's judgments (R2),")
    click.echo(f"and its grades correlate with them by {_with_ends(check.explained['spearman'])} (Spearman).")
    beside = check.beside
    if beside.person is not None and beside.judge is not None:
        click.echo(
            f"With the mean of the others, a person correlates by {beside.person:.3f} and the judge by "
            f"{beside.judge:.3f}: {_with_ends(beside.difference)} ({beside.raters} raters left out in turn)."
        )
    for way, what in AGAIN.items():
        if twice := again.get(way):
            click.echo(f"{what}, it gave the same grade for {twice['same']} of {twice['asked']} pairs.")
    silent = [f"{percent(share, 1)} of {what} pairs" for what, share in check.refusals["by_people"].items()]
    click.echo(f"It gave no answer for {' and '.join(silent)}.")
    if check.circular:
        click.echo()
        rows = [
            [
                name,
                _with_ends(check.bias[name]) if name in check.bias else "–",
                number(partial, ".2f"),
                percent(check.refusals["by_system"][name], 1),
            ]
            for name, partial in check.circular.items()
        ]
        print_table(rows, ["system", "bias (best 20 %)", "beyond people", "no answer"])
        click.echo(
            "Bias: what the grades are worth among a system's best 20 % minus what they are worth on other pairs that "
            "people judged the same, in standard deviations of people's judgments, against the mean of the systems."
        )
    if check.order.value is not None:
        click.echo(f"The judge alone orders the systems as people do by tau {_with_ends(check.order)}.")
    if len(check.expected):
        click.echo()
        rows = [
            [str(row["index"]), f"{row['width']:.2f}", f"{row['worth']:,}"] for row in check.expected.to_dict("records")
        ]
        print_table(rows, ["index", "width with the judge", "worth judged pairs"])
    for warning in check.warnings:
        click.echo(f"Warning: {warning}")


def _print_models(models: Sequence[ModelFavour], judge: str) -> None:
    """What the judge gives each model beyond people."""
    click.echo()
    rows = [[each.model, _with_ends(each.grades), _with_ends(each.judgments)] for each in models]
    print_table(rows, ["model", "grades, same people", "people, same grades"])
    said = [sentence for each in models if (sentence := each.sentence(judge)) is not None]
    click.echo("\n".join(said) if said else f"No model is shown to be favoured by {judge}.")


def _with_ends(figure: Estimate) -> str:
    if figure.value is None:
        return f"– ({figure.reason})"
    return with_ends(figure.value, figure.low, figure.high)
