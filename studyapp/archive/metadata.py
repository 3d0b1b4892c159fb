"""Metadata that libraries and readers look for: CITATION.cff, Croissant, the versions that made an archive.

Croissant Format Specification 1.0: https://docs.mlcommons.org/croissant/docs/croissant-spec.html; Citation File Format
1.2.0: https://citation-file-format.github.io.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from relstudy.studyapp.archive.options import ArchiveOptions
from relstudy.studyapp.archive.tables import ArchivedTable

_OWN = (
    *("citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet"),
    *("format", "includes"),
    *("isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex"),
    *("repeated", "replace", "samplingRate", "separator", "source", "subField", "transform"),
)
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _OWN},
}
_FORMATS = {".csv": "text/csv", ".parquet": "application/x-parquet"}


def citation(title: str, options: ArchiveOptions) -> str:
    """CITATION.cff."""
    lines = [
        "cff-version: 1.2.0",
        "message: If you use these data, please cite them as below.",
        "type: dataset",
        f"title: {json.dumps(title, ensure_ascii=False)}",
        "authors:",
    ]
    for author in options.authors or ("anonymous",):
        family, comma, given = author.partition(",")
        if comma:
            lines += [f"  - family-names: {_quoted(family)}", f"    given-names: {_quoted(given)}"]
        else:
            lines.append(f"  - name: {_quoted(author)}")
    lines.append(f"date-released: {options.published}")
    lines += [f"url: {_quoted(options.url)}"] if options.url else []
    if options.licence:
        field = "license-url" if "://" in options.licence else "license"
        lines.append(f"{field}: {_quoted(options.licence)}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text.strip(), ensure_ascii=False)


def croissant(title: str, description: str, options: ArchiveOptions, tables: Sequence[ArchivedTable]) -> dict[str, Any]:
    """Croissant metadata of the archive's tables; addresses are those in the archive's folder."""
    content: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": re.sub(r"[^\w-]+", "-", title).strip("-"),
        "alternateName": title,
        "description": description,
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "version": "1.0.0",
    }
    content["datePublished"] = options.published
    content |= {"license": options.licence} if options.licence else {}
    content |= {"url": options.url} if options.url else {}
    if options.authors:
        content["creator"] = [{"@type": "sc:Person", "name": author} for author in options.authors]
    content["distribution"] = [_file(table) for table in tables]
    content["recordSet"] = [_records(table) for table in tables if table.kinds]
    return content


def _file(table: ArchivedTable) -> dict[str, Any]:
    ending = "." + table.path.rsplit(".", 1)[-1]
    return {
        "@type": "cr:FileObject",
        "@id": table.path,
        "name": table.path,
        "contentUrl": table.path,
        "contentSize": f"{len(table.content)} B",
        "encodingFormat": _FORMATS.get(ending, "text/plain"),
        "sha256": hashlib.sha256(table.content).hexdigest(),
    }


def _records(table: ArchivedTable) -> dict[str, Any]:
    name = table.path.rsplit(".", 1)[0]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "description": meaning,
                "dataType": f"sc:{table.kinds.get(column, 'Text')}",
                "source": {"fileObject": {"@id": table.path}, "extract": {"column": column}},
            }
            for column, meaning in table.meanings.items()
        ],
    }


def versions() -> dict[str, Any]:
    """relstudy, Python, and the libraries that relstudy needs, as they are installed here."""
    needed = [re.match(r"[\w.-]+", line) for line in metadata.requires("relstudy") or () if "extra ==" not in line]
    names = sorted(match[0] for match in needed if match is not None)
    return {
        "relstudy": metadata.version("relstudy"),
        "python": platform.python_version(),
        "libraries": {name: metadata.version(name) for name in names},
    }
