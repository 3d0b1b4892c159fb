"""The stylesheet and the script: compressed, and under an address that changes with what is in them."""

from __future__ import annotations

import functools
import gzip
import hashlib
from pathlib import Path

from flask import Flask, Response, request

from relstudy.studyapp.web.mount import at

COMPRESSED = {"text/css", "text/javascript", "application/javascript", "image/svg+xml"}


def serve_assets(app: Flask) -> None:
    """Compress static files on the way out, and give templates `asset`, their addresses, which change with the files.

    Pages are not compressed: they hold tokens beside what a stranger might put into an address.
    """
    folder = Path(app.static_folder or "")
    version = _version(folder)
    addresses = {path.name: f"{app.static_url_path}/{path.name}?v={version}" for path in folder.iterdir()}
    app.jinja_env.globals["asset"] = lambda name: at(addresses[name])

    @app.after_request
    def _compress(response: Response) -> Response:
        if request.endpoint != "static" or response.mimetype not in COMPRESSED:
            return response
        response.vary.add("Accept-Encoding")
        if response.status_code == 200 and request.accept_encodings["gzip"] > 0:
            response.direct_passthrough = False
            response.set_data(_gzipped(response.get_data()))
            response.headers["Content-Encoding"] = "gzip"
            tag, _ = response.get_etag()
            if tag is not None:
                response.set_etag(tag, weak=True)
        return response


@functools.lru_cache(maxsize=16)
def _gzipped(data: bytes) -> bytes:
    return gzip.compress(data, 9, mtime=0)


def _version(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
