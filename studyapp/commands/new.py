"""relstudy new: a commented study.toml and an example collection."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--pictures",
    default=60,
    show_default=True,
    type=click.IntRange(0, 5000),
    help="Size of the example collection; 0: none.",
)
@click.option(
    "--seed", default=0, show_default=True, type=click.IntRange(0), help="The same seed paints the same pictures."
)
def new(folder: Path, pictures: int, seed: int) -> None:
    """Start a study: write a commented study.toml and an example collection of painted pictures.

    Where FOLDER has a collection.csv, study.toml asks for what it holds: pictures, texts or both. Nothing that is there
    already is written over.

    \b
    Example:
      relstudy new my-study
      relstudy sample my-study
      relstudy serve my-study
    """
    from relstudy.common.console import progress, say
    from relstudy.common.errors import RelstudyError
    from relstudy.common.files import write_text
    from relstudy.studyapp.collection.items import Collection
    from relstudy.studyapp.config.starter import starter_toml

    settings = folder / "study.toml"
    if settings.exists():
        raise RelstudyError(f"{settings} is there already; nothing was written")
    has_collection = (folder / "collection.csv").exists()
    paradigms = Collection.load(folder).paradigms() if has_collection else ("image",)
    write_text(starter_toml(folder.resolve().name, paradigms or ("image",)), settings)
    if pictures and not has_collection:
        from relstudy.studyapp.rendered.collection import make_collection, write_collection

        bar = progress(range(pictures), "painting", pictures)

        def done(count: int) -> None:
            for _ in range(count):
                next(bar, None)

        write_collection(make_collection(pictures, seed), folder, done=done)
        say(f"{folder}: study.toml and {pictures} example pictures; next: relstudy sample {folder}")
    else:
        first = "" if has_collection else "a collection.csv, then "
        say(f"{folder}: study.toml; next: {first}relstudy sample {folder}")
