"""relstudy admin exclude: a rater's ratings do not count for now, and their places go to others."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("set-aside")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.argument("rater")
@click.option("--back", is_flag=True, help="Take the rater back.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def set_aside(folder: Path, rater: str, back: bool, as_json: bool) -> None:
    """Set a rater aside: their ratings are kept and marked, and their unique pairs go to others.

    Whoever is at work gets the last page, with the way back of the outcome `set_aside`. `relstudy calibrate` leaves
    their ratings out unless given --with-set-aside. `relstudy admin erase` is for good, and this is not.

    \b
    Examples:
      relstudy admin exclude my-study R7K2QXMB
      relstudy admin exclude my-study R7K2QXMB --back
    """
    from relstudy.common.runtime.console import print_json
    from relstudy.common.runtime.wording import quoted
    from relstudy.studyapp.assignment.exclusion import set_aside as put
    from relstudy.studyapp.assignment.exclusion import take_back
    from relstudy.studyapp.commands.opening import open_database
    from relstudy.studyapp.monitoring.audit_log import record_command

    _, store = open_database(folder)
    if back:
        counted, surplus = take_back(store, folder, rater)
        result = {"rater_id": rater, "set_aside": False, "pages_that_count": counted, "surplus_pages": surplus}
        words = f"{rater} is included again: {counted} of their pages count, {surplus} are rated or held by others"
    else:
        pages = put(store, rater)
        result = {"rater_id": rater, "set_aside": True, "pages_given_back": pages}
        words = f"{rater} is excluded: {pages} pages of unique pairs are open to others again"
    record_command(store, "take back" if back else "set aside", rater)
    if as_json:
        print_json(result)
    else:
        click.echo(f"{words}.")
        click.echo(
            f"Next: relstudy export {quoted(folder)}, which marks their ratings; calibrate leaves marked ones out."
        )
