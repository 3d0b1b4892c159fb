"""The demo's folder: whose it is, and what the demo may replace in it."""

from __future__ import annotations

import shutil
from pathlib import Path

from relstudy.common.errors import RelstudyError
from relstudy.common.files import read_json, write_json
from relstudy.studyapp.demo.sizes import Size

MARK = "demo.json"
KIND = "relstudy demo"
# What the demo writes into its folder, and may therefore replace.
OWN_FILES = (
    *(MARK, "study.toml", "collection.csv", "pairs.csv", "design.json", "study.db", "study.db-wal", "study.db-shm"),
    *(
        "study.db.lock",
        "study.serving",
        "secret.key",
        "admin.hash",
        "admin.logout",
        "admin.setup",
        "ratings.csv",
        "ratings.json",
        "judgments.csv",
        "raters.csv",
    ),
    *("calibrated.csv", "scores.json", "comparison.json", "demo.log"),
)
OWN_FOLDERS = ("pictures", "scores", "mappings", "report", "truth", "figures", "interfaces", "judges")


def claim(folder: Path, size: Size, seed: int) -> None:
    """Take the folder for a demo: it must be absent, empty, or an earlier demo's, whose own files then go."""
    if folder.exists() and not folder.is_dir():
        raise RelstudyError(f"{folder}: this is a file; the demo needs a folder")
    if folder.is_dir() and any(folder.iterdir()):
        mark = folder / MARK
        if not mark.is_file() or _kind(mark) != KIND:
            raise RelstudyError(
                f"{folder}: this folder is not empty and no earlier demo made it; name another, such as {folder}-2"
            )
        for name in OWN_FOLDERS:
            shutil.rmtree(folder / name, ignore_errors=True)
        for name in OWN_FILES:
            (folder / name).unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    write_json({"kind": KIND, "seed": seed, "images": size.images, "raters": size.raters}, folder / MARK)


def _kind(mark: Path) -> object:
    content = read_json(mark)
    return content.get("kind") if isinstance(content, dict) else None
