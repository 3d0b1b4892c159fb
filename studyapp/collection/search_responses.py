"""JSON of search responses: a list of hits a query, Elasticsearch, OpenSearch, Solr."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def responses(content: Any, query: str = "") -> Iterator[dict[str, Any]]:
    """The hits of search responses, a row each: one response, several, or a list of hits a query."""
    if isinstance(content, list):
        for each in content:
            yield from responses(each, query)
    elif isinstance(content, dict):
        query = str(content.get("query") or content.get("q") or _asked(content) or query)
        inside = content.get("response", content)
        hits = next((inside[name] for name in ("hits", "docs", "results", "documents") if name in inside), None)
        hits = hits.get("hits") if isinstance(hits, dict) else hits
        if not isinstance(hits, list):
            if "responses" in content:
                yield from responses(content["responses"], query)
            return
        for place, hit in enumerate(hits, 1):
            fields = hit.get("_source", hit) if isinstance(hit, dict) else {"text": str(hit)}
            fields = fields if isinstance(fields, dict) else {"text": str(fields)}
            row = {name: value for name, value in fields.items() if not str(name).startswith("_")}
            own = hit.get("_id") if isinstance(hit, dict) else None
            yield {**row, **({} if own is None else {"id": own}), "query": query, "rank": place}


def _asked(content: Mapping[str, Any]) -> str:
    """The query of a Solr response, which repeats its parameters."""
    header = content.get("responseHeader")
    params = header.get("params") if isinstance(header, dict) else None
    return str(params.get("q", "")) if isinstance(params, dict) else ""
