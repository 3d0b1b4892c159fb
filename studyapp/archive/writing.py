"""An archive on disk: a zip file whose bytes depend on nothing but its content, or a folder."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

from relstudy.common.errors import RelstudyError
from relstudy.common.files import replacing

EPOCH = (1980, 1, 1, 0, 0, 0)


def write_archive(files: Mapping[str, bytes], target: Path) -> None:
    """Write the files as a zip, where the target ends in .zip, else into a new or empty folder.

    Raises
    ------
    RelstudyError
        where the folder holds something already
    """
    if target.suffix == ".zip":
        with replacing(target) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in sorted(files.items()):
                entry = zipfile.ZipInfo(path, EPOCH)
                entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(entry, content)
        return
    if target.is_file():
        raise RelstudyError(f"{target}: this is a file; name a new folder, or a file that ends in .zip")
    if target.is_dir() and any(target.iterdir()):
        raise RelstudyError(f"{target}: this folder is not empty; name a new one, so that nothing else gets in")
    for path, content in files.items():
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
