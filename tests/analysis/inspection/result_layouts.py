"""Layouts in which people have what their systems found or answered, made here; `relstudy ask` reads each of them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import Any

ASKED = ("How do lakes form?", "Why is the sky blue?", "What do bees eat?")
MODELS = ("alpha", "beta")


def said(model: str, number: int, place: int = 0) -> str:
    """What a model answers, or the text of its result at a place."""
    return f"An answer of {model} to {number}" + f", {place}" * (place > 0)


ANSWERS = [(model, number, question, said(model, number)) for model in MODELS for number, question in enumerate(ASKED)]
FIRST = [(MODELS[0], question, said(MODELS[0], number)) for number, question in enumerate(ASKED)]
HITS = [
    (model, number, question, [(f"d{number}{place}", said(model, number, place)) for place in (1, 2)])
    for model in MODELS
    for number, question in enumerate(ASKED)
]
FIRST_HITS = [(MODELS[0], ASKED[0], said(MODELS[0], 0, place)) for place in (1, 2)]


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Comma-separated rows below a header."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([header, *rows])
    return written.getvalue()


def lines(rows: Sequence[dict[str, Any]]) -> str:
    """A record a line."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def chat(question: str, answer: str = "") -> list[dict[str, str]]:
    """Messages of a conversation."""
    end = [{"role": "assistant", "content": answer}] if answer else []
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": question}, *end]


RESULTS: dict[str, tuple[str, str, Sequence[tuple[object, ...]], int]] = {
    "RAGAS, a table": (
        "ragas.csv",
        table(
            ["user_input", "retrieved_contexts", "response", "reference", "faithfulness", "answer_relevancy"],
            [(q, str([f"A passage on {n}"]), said("ragas", n), "Truth.", 0.9, 0.8) for n, q in enumerate(ASKED)],
        ),
        [("ragas", ASKED[0], said("ragas", 0) + "\n\nSources:\n\n[1] A passage on 0")],
        3,
    ),
    "AlpacaEval, outputs": (
        "outputs.json",
        json.dumps([{"dataset": "own", "instruction": q, "output": a, "generator": m} for m, _, q, a in ANSWERS]),
        FIRST,
        6,
    ),
    "UltraFeedback, completions in a row": (
        "feedback.jsonl",
        lines(
            [
                {"instruction": q, "completions": [{"model": m, "response": said(m, n)} for m in MODELS]}
                for n, q in enumerate(ASKED)
            ]
        ),
        [(m, ASKED[0], said(m, 0)) for m in MODELS],
        6,
    ),
    "TruLens, records": (
        "records.csv",
        table(
            ["app_id", "record_id", "input", "output", "tags", "latency", "total_tokens", "total_cost"],
            [(m, f"r{m}{n}", json.dumps(q), json.dumps(a), "-", 1.2, 100, 0.01) for m, n, q, a in ANSWERS],
        ),
        FIRST,
        6,
    ),
    "DeepEval, test cases": (
        "cases.json",
        json.dumps(
            [
                {"input": q, "actual_output": said("cases", n), "expected_output": "Truth.", "retrieval_context": None}
                for n, q in enumerate(ASKED)
            ]
        ),
        [("cases", ASKED[0], said("cases", 0))],
        3,
    ),
    "promptfoo, results": (
        "promptfoo.json",
        json.dumps(
            {
                "version": 3,
                "results": {
                    "timestamp": "2026",
                    "results": [
                        {
                            "prompt": {"raw": q, "label": "p"}, "provider": {"id": m}, "vars": {"question": q},
                            "response": {"output": a}, "success": True, "score": 1,
                        }
                        for m, _, q, a in ANSWERS
                    ],
                },
            }
        ),
        FIRST,
        6,
    ),
    "LangSmith, runs of a data set": (
        "runs.csv",
        table(
            ["id", "inputs.question", "outputs.answer", "reference_outputs.answer", "execution_time"],
            [(f"x{n}", q, said("runs", n), "Truth.", 1.5) for n, q in enumerate(ASKED)],
        ),
        [("runs", ASKED[0], said("runs", 0))],
        3,
    ),
    "Evaluation harness, samples": (
        "samples.jsonl",
        lines(
            [
                {
                    "doc_id": n, "doc": {"question": q, "answer": "Truth."}, "target": "Truth.",
                    "arguments": [[q, {"until": ["\n"]}]], "resps": [[said("samples", n)]],
                    "filtered_resps": [said("samples", n)], "exact_match": 0.0,
                }
                for n, q in enumerate(ASKED)
            ]
        ),
        [("samples", ASKED[0], said("samples", 0))],
        3,
    ),
    "Chats, messages": (
        "chats.jsonl",
        lines([{"model": m, "messages": chat(q, a)} for m, _, q, a in ANSWERS]),
        FIRST,
        6,
    ),
    "Chats, messages and a completion": (
        "batch.jsonl",
        lines([{"custom_id": n, "model": m, "messages": chat(q), "completion": a} for m, n, q, a in ANSWERS]),
        FIRST,
        6,
    ),
    "Chat completions, choices": (
        "completions.jsonl",
        lines(
            [
                {"model": m, "prompt": q, "choices": [{"index": 0, "message": chat(q, a)[-1], "finish_reason": "stop"}]}
                for m, _, q, a in ANSWERS
            ]
        ),
        FIRST,
        6,
    ),
    "LlamaIndex, evaluation results": (
        "evaluated.csv",
        table(
            ["query", "response", "contexts", "passing", "feedback"],
            [(q, said("evaluated", n), "", True, "Fine.") for n, q in enumerate(ASKED)],
        ),
        [("evaluated", ASKED[0], said("evaluated", 0))],
        3,
    ),
    "A sheet, a column a model": (
        "sheet.csv",
        table(
            ["#", "Prompt", *MODELS, "Notes"],
            [(n, q, *(said(m, n) for m in MODELS), "") for n, q in enumerate(ASKED)],
        ),
        FIRST,
        6,
    ),
    "Rerankers, candidates in a row": (
        "reranked.jsonl",
        lines(
            [
                {
                    "query": {"text": q, "qid": n},
                    "candidates": [
                        {"docid": id, "score": 9 - k, "doc": {"contents": text}} for k, (id, text) in enumerate(hits)
                    ],
                }
                for _, n, q, hits in HITS[:3]
            ]
        ),
        [("reranked", ASKED[0], said(MODELS[0], 0, place)) for place in (1, 2)],
        6,
    ),
    "Search logs, hits in a row": (
        "searches.jsonl",
        lines(
            [
                {"query": q, "system": m, "results": [{"doc_id": id, "snippet": text} for id, text in hits]}
                for m, _, q, hits in HITS
            ]
        ),
        FIRST_HITS,
        12,
    ),
    "Elasticsearch, responses with their queries": (
        "responses.json",
        json.dumps(
            [
                {
                    "query": q, "took": 3,
                    "hits": {"hits": [{"_id": id, "_score": 1.5, "_source": {"body": text}} for id, text in hits]},
                }
                for _, _, q, hits in HITS[:3]
            ]
        ),
        [("responses", ASKED[0], said(MODELS[0], 0, place)) for place in (1, 2)],
        6,
    ),
    "Solr, a response": (
        "solr.json",
        json.dumps(
            {
                "responseHeader": {"status": 0, "params": {"q": ASKED[0]}},
                "response": {"numFound": 2, "docs": [{"id": id, "content": text} for id, text in HITS[0][3]]},
            }
        ),
        [("solr", ASKED[0], said(MODELS[0], 0, place)) for place in (1, 2)],
        2,
    ),
    "A shop's two variants": (
        "shop.csv",
        table(
            ["query", "variant", "position", "asin", "product_title", "product_bullet_point", "price"],
            [(q, m, k, id, f"A {id}", text, "$9") for m, _, q, hits in HITS for k, (id, text) in enumerate(hits, 1)],
        ),
        [(m, q, f"{text}\n\n$9") for m, q, text in FIRST_HITS],
        12,
    ),
    "A spreadsheet of results by rank": (
        "top.csv",
        table(
            ["Search query", "Engine", "Rank", "Doc ID", "Snippet"],
            [(q, m, k, id, text) for m, _, q, hits in HITS for k, (id, text) in enumerate(hits, 1)],
        ),
        FIRST_HITS,
        12,
    ),
    "Records by columns and data": (
        "columns.json",
        json.dumps({"columns": ["prompt", "model", "response"], "data": [[q, m, a] for m, _, q, a in ANSWERS]}),
        FIRST,
        6,
    ),
}  # fmt: skip
"""By name: file, content, first rows (system, query, text), and how many there are."""
