"""The files that a reader of a how-to page would have, small and made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

QUERIES, RESULTS = 8, 10


def _write(folder: Path, **files: list[str]) -> None:
    for name, lines in files.items():
        stem, _, ending = name.rpartition("_")
        (folder / f"{stem.replace('__', '-')}.{ending}").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _grades(most: int) -> np.ndarray:
    return np.random.default_rng(7).integers(0, most + 1, (QUERIES, RESULTS))


def _scores(grades: np.ndarray, noise: float) -> np.ndarray:
    return grades / grades.max() + noise * np.random.default_rng(8).normal(size=grades.shape)


def _score_table(grades: np.ndarray, system: str = "mine") -> list[str]:
    scores = _scores(grades, 0.3)
    rows = [f"{system},q{q},d{d},{scores[q, d]:.4f}" for q in range(QUERIES) for d in range(RESULTS)]
    return ["system,query_id,result_id,score", *rows]


def own_collection(folder: Path) -> None:
    """Pictures and short texts without roles."""
    study = folder / "my-study"
    study.mkdir()
    for number in range(10):
        Image.new("RGB", (16, 12), (20 * number, 120, 200 - 15 * number)).save(study / f"photo{number}.png")
    pictures = [f"photo{number},photo{number}.png,,boat{number % 3} sea" for number in range(10)]
    texts = [f"wish{number},,a boat{number % 3} at sea," for number in range(4)]
    _write(study, collection_csv=["item_id,path,text,keywords", *pictures, *texts])


def trec(folder: Path) -> None:
    """Qrels of grades 0 to 3 and two runs that hold a part of what was judged, and more."""
    grades = _grades(3)
    qrels = [f"topic{q} 0 d{d} {grades[q, d]}" for q in range(QUERIES) for d in range(RESULTS)]
    runs = {}
    for system, noise in (("new", 0.2), ("old", 0.8)):
        scores = _scores(grades, noise)
        unjudged = np.random.default_rng(9).normal(size=(QUERIES, RESULTS))
        lines = []
        for query in range(QUERIES):
            ranked = [(scores[query, d], f"d{d}") for d in range(RESULTS - 2)]
            ranked += [(unjudged[query, d], f"x{d}") for d in range(RESULTS)]
            for rank, (score, name) in enumerate(sorted(ranked, reverse=True), start=1):
                lines.append(f"topic{query} Q0 {name} {rank} {score:.4f} {system}")
        runs[f"{system}_run"] = lines
    _write(folder, qrels_txt=qrels, **runs)


def crowd(folder: Path) -> None:
    """Batch results of Mechanical Turk, answers in words."""
    grades, random = _grades(2), np.random.default_rng(10)
    words = ("not relevant", "partly relevant", "highly relevant")
    rows = ["HITId,AssignmentId,WorkerId,AssignmentStatus,Input.query,Input.image_url,Answer.match"]
    for query in range(QUERIES):
        for result in range(RESULTS):
            for worker in range(4):
                seen = int(np.clip(grades[query, result] + random.integers(-1, 2), 0, 2))
                key = f"h{query}-{result},a{query}-{result}-{worker},w{worker}"
                rows.append(f"{key},Approved,q{query},d{result},{words[seen]}")
    _write(folder, batch_results_csv=rows, scores_csv=_score_table(grades))


def slider(folder: Path) -> None:
    """Positions of a slider from 0 to 100."""
    grades, random = _grades(100), np.random.default_rng(11)
    rows = ["person,query,document,position"]
    for query in range(QUERIES):
        for result in range(RESULTS):
            for person in ("ann", "bob", "cy"):
                position = int(np.clip(grades[query, result] + random.normal(0, 12), 0, 100))
                rows.append(f"{person},q{query},d{result},{position}")
    _write(folder, slider_csv=rows, scores_csv=_score_table(grades))


def codes(folder: Path) -> None:
    """Codes of 32 bits of 40 items in four classes, the first eight of them queries too, and judgments of pairs."""
    random = np.random.default_rng(12)
    labels = np.arange(40) % 4
    centres = random.integers(0, 2, (4, 32))
    bits = centres[labels] ^ (random.random((40, 32)) < 0.15)
    texts = [np.packbits(row).tobytes().hex() for row in bits]
    pairs = [(q, d) for q in range(8) for d in range(8, 28)]
    judged = [f"i{q},i{d},{4 if labels[q] == labels[d] else 1 + (q + d) % 3}" for q, d in pairs]
    _write(
        folder,
        codes_txt=texts,
        queries_txt=texts[:8],
        labels_txt=[str(label) for label in labels],
        query__labels_txt=[str(label) for label in labels[:8]],
        ids_txt=[f"i{number}" for number in range(40)],
        judgments_csv=["query_id,result_id,judgment", *judged],
    )


FILES: dict[str, Callable[[Path], None]] = {
    "docs/how-to/your-own-collection.md": own_collection,
    "docs/how-to/score-trec-runs.md": trec,
    "docs/how-to/ratings-from-elsewhere.md": crowd,
    "docs/how-to/slider-ratings.md": slider,
    "docs/how-to/evaluate-codes.md": codes,
}
"""What a page's reader has, by page."""
