"""relstudy admin doctor: what is wrong with a study's folder, files and database, and what mends it."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def doctor(folder: Path, as_json: bool) -> None:
    """Look whether a study can be served from where it stands, and say what mends what is wrong.

    Looks at study.toml, the folder, the disk, who may read what, the address, the database (whole, writable, this
    study's), clocks, and whether the files say what is served. Changes nothing. Exit code 1 where something is wrong.

    \b
    Example:
      relstudy admin doctor my-study
    """
    from dataclasses import asdict

    from relstudy.common.runtime.console import print_json
    from relstudy.studyapp.monitoring.checkup import check_study

    findings = check_study(folder)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            click.echo(f"{finding.state:<5}  {finding.what}: {finding.words}")
            if finding.mend:
                click.echo(f"{'':<5}    -> {finding.mend}")
    if any(finding.state == "wrong" for finding in findings):
        raise SystemExit(1)
