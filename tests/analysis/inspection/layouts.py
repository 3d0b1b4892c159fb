"""Layouts in which people publish or export ratings, judgments and scores, made here, with what each one holds.

Every table is made of the same few answers, in the columns, order, separators and words of the tool or data set that it
is named for; none is copied.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

QUERIES = ("red lamp", "oak chair", "sofa bed")
RESULTS = ("d1", "d2", "d3", "d4")
PEOPLE = ("ann", "bob", "cy")


def grade(rater: int, query: int, result: int, high: int = 3) -> int:
    """What a person answers, from 0."""
    return (result * 2 + query + (rater * (result + 1)) % 2) % (high + 1)


PAIRS = [(query, result) for query in range(len(QUERIES)) for result in range(len(RESULTS))]
GIVEN = [(rater, query, result) for rater in range(len(PEOPLE)) for query, result in PAIRS]


@dataclass(frozen=True)
class Layout:
    """A table, and what is right to say of it.

    Parameters
    ----------
    name : whose layout it is
    file : the file's name
    text : its content
    says : "right" where the table tells what it is, "asked" where only a person can tell, "refused" where nothing can
        be read from it
    kind : ratings, judgments, preferences, scores or results; of a table that is asked about, the kinds of its
        readings, joined by blanks
    first : the first rows that are right: rater, query, result and rating; query, result and judgment; query and
        result of preferences; system, query, result and score; or system, query and text of results
    count : how many of them there are
    """

    name: str
    file: str
    text: str
    says: str
    kind: str = ""
    first: Sequence[tuple[object, ...]] = ()
    count: int = 0


def table(header: str, rows: Sequence[Sequence[object]], separator: str = ",") -> str:
    """Rows below a header, where there is one."""
    lines = [header] if header else []
    return "\n".join([*lines, *(separator.join(map(str, row)) for row in rows)]) + "\n"


def by_rater(make: str, header: str, separator: str = ",") -> str:
    """One row a rating; `make` is the row, with rater, query, result, grade and number to be filled in."""
    rows = [
        make.format(r=PEOPLE[r], q=QUERIES[q], qn=q + 1, d=RESULTS[d], dn=d + 1, g=grade(r, q, d), n=number)
        for number, (r, q, d) in enumerate(GIVEN)
    ]
    return "\n".join([*([header] if header else []), *rows]) + "\n"


def by_couple(make: str, header: str, answers: Sequence[str]) -> str:
    """One row a person's answer to which of two results is better, with the results as a and b and the answer as w."""
    rows = [
        make.format(r=PEOPLE[r], q=QUERIES[q], qn=q + 1, a=RESULTS[d], b=RESULTS[d + 1], w=answers[(r + q + d) % 3])
        for r in range(3) for q in range(3) for d in range(3)
    ]  # fmt: skip
    return "\n".join([header, *rows]) + "\n"


def by_pair(make: str, header: str) -> str:
    """One row a pair, with the grades of three people as a, b and c and their mean as m."""
    rows = []
    for number, (q, d) in enumerate(PAIRS):
        three = [grade(r, q, d) for r in range(3)]
        rows.append(
            make.format(
                q=QUERIES[q], qn=q + 1, d=RESULTS[d], dn=d + 1, g=three[0], a=three[0], b=three[1], c=three[2],
                m=round(sum(three) / 3, 2), n=number, s=round(number * 0.731 + 0.17, 4),
                t=round(9.13 - number * 0.377, 4),
            )
        )  # fmt: skip
    return "\n".join([*([header] if header else []), *rows]) + "\n"


RATED = [(PEOPLE[r], QUERIES[q], RESULTS[d], grade(r, q, d)) for r, q, d in GIVEN]
JUDGED = [(QUERIES[q], RESULTS[d], grade(0, q, d)) for q, d in PAIRS]
NUMBERED = [(str(q + 1), RESULTS[d], grade(0, q, d)) for q, d in PAIRS]
WORDS = ("not relevant", "partly relevant", "relevant", "highly relevant")
STUDIO = [
    {
        "id": number,
        "data": {"query": QUERIES[q], "docid": RESULTS[d]},
        "annotations": [
            {
                "id": 10 * number + r, "completed_by": {"email": f"{PEOPLE[r]}@example.org"}, "was_cancelled": False,
                "result": [{"from_name": "grade", "type": "rating", "value": {"rating": grade(r, q, d) + 1}}],
            }
            for r in range(3)
        ],
    }
    for number, (q, d) in enumerate(PAIRS, start=1)
]  # fmt: skip
ARGILLA = [
    {
        "id": f"rec-{number}",
        "fields": {"query": QUERIES[q], "document": RESULTS[d]},
        "responses": [
            {"user_id": PEOPLE[r], "values": {"relevance": {"value": grade(r, q, d)}}, "status": "submitted"}
            for r in range(3)
        ],
    }
    for number, (q, d) in enumerate(PAIRS)
]
QUALTRICS_HEAD = "StartDate,EndDate,Status,IPAddress,Progress,Duration (in seconds),Finished,RecordedDate,ResponseId,"
LIME = "id,submitdate,lastpage,startlanguage,seed,"
ACR = ("Bad", "Poor", "Fair", "Good", "Excellent")


def people_in_rows(lead: str, columns: Sequence[str], cells: Sequence[str]) -> str:
    """One row a person, one column an item."""
    rows = [
        f"{cells[r]}," + ",".join(str(grade(r, 0, d, 4) + 1) for d in range(len(columns))) for r in range(len(cells))
    ]
    return "\n".join([lead + ",".join(columns), *rows]) + "\n"


QUALTRICS = people_in_rows(
    QUALTRICS_HEAD,
    ("1_Q3", "2_Q3", "3_Q3", "4_Q3"),
    [f"d,d,IP Address,1.2.3.4,100,300,True,d,R_{name}" for name in PEOPLE],
)
BY_PERSON = [
    (name, RESULTS[d], RESULTS[d], grade(r, 0, d, 4) + 1) for r, name in enumerate(PEOPLE) for d in range(len(RESULTS))
]


def esci() -> str:
    """The examples table of the Shopping Queries data set, with its labels in letters."""
    rows = []
    for number, (q, d) in enumerate(PAIRS):
        rows.append(f"{number},{QUERIES[q]},{q},B0{d},us,{'ICSE'[grade(0, q, d)]},1,1,{'train' if q else 'test'}")
    head = "example_id,query,query_id,product_id,product_locale,esci_label,small_version,large_version,split"
    return "\n".join([head, *rows]) + "\n"


LAYOUTS = (
    Layout(
        "Label Studio, JSON", "project.json", json.dumps(STUDIO), "right", "ratings",
        [("ann@example.org", "red lamp", "d1", 1), ("bob@example.org", "red lamp", "d1", 2)], 36,
    ),
    Layout(
        "Label Studio, CSV", "project.csv",
        by_rater('{q},{d},{n},{r},{n},2026-05-01,2026-05-01,3.2,"[{{""rating"": {g}}}]"',
                 "query,docid,id,annotator,annotation_id,created_at,updated_at,lead_time,relevance"),
        "right", "ratings", RATED[:3], 36,
    ),
    Layout("Argilla, records", "records.json", json.dumps(ARGILLA), "right", "ratings", [("ann", *JUDGED[0])], 36),
    Layout(
        "Argilla, Hugging Face export", "data.jsonl",
        "\n".join(
            json.dumps({
                "id": n, "status": "completed", "query": QUERIES[q], "document": RESULTS[d],
                "relevance.responses": [grade(r, q, d) for r in range(3)],
                "relevance.responses.users": list(PEOPLE), "relevance.responses.status": ["submitted"] * 3,
            }) for n, (q, d) in enumerate(PAIRS)
        ) + "\n",
        "right", "ratings", [("ann", *JUDGED[0])], 36,
    ),
    Layout(
        "Potato, TSV", "annotated_instances.tsv",
        by_rater("{r}\t{q} / {d}\t{g}", "user\tinstance_id\trelevance"),
        "right", "ratings", [("ann", "red lamp / d1", "red lamp / d1", 0)], 36,
    ),
    Layout(
        "Potato, a column a label", "annotated_instances.csv",
        "user,instance_id,relevance:::no,relevance:::partly,relevance:::highly\n"
        "ann,i1,,,highly\nann,i2,no,,\nbob,i1,,partly,\nbob,i2,no,,\n",
        "right", "ratings", [("ann", "i1", "i1", 2), ("ann", "i2", "i2", 0)], 4,
    ),
    Layout(
        "Prodigy, JSON lines", "annotations.jsonl",
        "\n".join(
            json.dumps({
                "text": f"{QUERIES[q]} {RESULTS[d]}", "query": QUERIES[q], "doc_id": RESULTS[d], "_input_hash": 100 + n,
                "_task_hash": -200 - n, "accept": [str(grade(r, q, d))], "answer": "accept",
                "_annotator_id": PEOPLE[r], "_session_id": f"s-{PEOPLE[r]}", "_timestamp": 1700000000 + n,
            }) for n, (r, q, d) in enumerate(GIVEN)
        ) + "\n",
        "right", "ratings", RATED[:3], 36,
    ),
    Layout(
        "MTurk, batch results", "Batch_results.csv",
        by_rater("h{n},t,T,D,K,$0.05,c,3,a{n},{r},Submitted,x,y,9,100%,{q},{d},{g}",
                 "HITId,HITTypeId,Title,Description,Keywords,Reward,CreationTime,MaxAssignments,AssignmentId,WorkerId,"
                 "AssignmentStatus,AcceptTime,SubmitTime,WorkTimeInSeconds,LifetimeApprovalRate,Input.query,"
                 "Input.docid,Answer.relevance"),
        "right", "ratings", RATED[:3], 36,
    ),
    Layout(
        "MTurk, radio buttons", "Batch_radio.csv",
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Input.query,Input.docid,Answer.rel.0,Answer.rel.1,Answer.rel.2\n"
        "h,a1,ann,Approved,red lamp,d1,false,false,true\nh,a2,bob,Approved,red lamp,d1,true,false,false\n",
        "right", "ratings", [("ann", "red lamp", "d1", 2), ("bob", "red lamp", "d1", 0)], 2,
    ),
    Layout("Qualtrics, loop and merge", "survey.csv", QUALTRICS, "right", "ratings",
           [("R_ann", "1_Q3", "1_Q3", 1)], 12),
    Layout(
        "LimeSurvey, array question", "results-survey.csv",
        people_in_rows(LIME, [f"G01Q01[{name}]" for name in RESULTS],
                       [f"{n + 1},2026-05-01 10:00:00,4,en,17{n}" for n in range(3)]),
        "right", "ratings", [("1", "G01Q01[d1]", "G01Q01[d1]", 1)], 12,
    ),
    Layout(
        "Google Forms, grid", "Responses.csv",
        people_in_rows("Timestamp,Email Address,", [f"How well does it match? [{name}]" for name in RESULTS],
                       [f"2026/05/01 10:0{n}:00,{name}" for n, name in enumerate(PEOPLE)]),
        "right", "ratings", [("ann", "How well does it match? [d1]", "How well does it match? [d1]", 1)], 12,
    ),
    Layout("ESCI, examples", "shopping_queries.csv", esci(), "right", "judgments",
           [("0", "B00", 0), ("0", "B01", 0.1)], 12),
    Layout(
        "ESCI, labels in words", "esci.csv",
        by_pair("{qn},P{d},{g}", "query_id,product_id,esci_label").replace(",0\n", ",Irrelevant\n")
        .replace(",1\n", ",Complement\n").replace(",2\n", ",Substitute\n").replace(",3\n", ",Exact\n"),
        "right", "judgments", [("1", "Pd1", 0), ("1", "Pd2", 0.1)], 12,
    ),
    Layout(
        "WANDS, product search", "label.csv",
        by_pair("{n}\t{qn}\t{d}\t{g}", "id\tquery_id\tproduct_id\tlabel").replace("\t3\n", "\tExact\n")
        .replace("\t2\n", "\tPartial\n").replace("\t1\n", "\tPartial\n").replace("\t0\n", "\tIrrelevant\n"),
        "right", "judgments", [("1", "d1", 0), ("1", "d2", 1)], 12,
    ),
    Layout(
        "BEIR, qrels", "test.tsv", by_pair("{qn}\t{d}\t{g}", "query-id\tcorpus-id\tscore"),
        "right", "judgments", NUMBERED[:3], 12,
    ),
    Layout("MS MARCO, qrels", "qrels.dev.tsv", by_pair("{qn}\t0\t{dn}\t1", ""), "right", "judgments",
           [("1", "1", 1)], 12),
    Layout("MS MARCO, ranking", "run.dev.tsv", by_pair("10{qn}\t70{n}85\t{dn}", ""), "asked", "judgments"),
    Layout("MS MARCO, triples", "triples.tsv", by_pair("{q} lamp\tgood {d}\tother {n}", ""), "refused"),
    Layout("TREC, qrels", "qrels.txt", by_pair("{qn} 0 {d} {g}", ""), "right", "judgments", NUMBERED[:3], 12),
    Layout(
        "TREC, qrels by tabs and carriage returns", "qrels.tsv", by_pair("{qn}\t0\t{d}\t{g}\r", ""),
        "right", "judgments", NUMBERED[:3], 12,
    ),
    Layout(
        "TREC, qrels with a header", "qrels.csv", by_pair("{qn},0,{d},{g}", "topic,iter,docno,rel"),
        "right", "judgments", NUMBERED[:3], 12,
    ),
    Layout("TREC, run", "bm25.run", by_pair("{qn} Q0 {d} {dn} {t} bm25", ""), "right", "scores",
           [("bm25", "1", "d1", 9.13)], 12),
    Layout("TREC, run by tabs", "bm25.txt", by_pair("{qn}\tQ0\t{d}\t{dn}\t{t}\tbm25", ""), "right", "scores",
           [("bm25", "1", "d1", 9.13)], 12),
    Layout("TREC, run of five fields", "five.run", by_pair("{qn} {d} {dn} {t} bm25", ""), "refused"),
    Layout("PyTerrier, results", "res.csv", by_pair("{qn},{n},{d},{dn},{t},{q}", "qid,docid,docno,rank,score,query"),
           "right", "scores", [("res", "1", "d1", 9.13)], 12),
    Layout("PyTerrier, qrels", "topics.csv", by_pair("{qn},{d},{g}", "qid,docno,label"), "right", "judgments",
           NUMBERED[:3], 12),
    Layout(
        "ranx, qrels as JSON", "qrels.json",
        json.dumps({f"q{q}": {RESULTS[d]: grade(0, q, d) for d in range(4)} for q in range(3)}),
        "right", "judgments", [("q0", "d1", 0), ("q0", "d2", 2)], 12,
    ),
    Layout(
        "ranx, run as JSON", "run.json",
        json.dumps({f"q{q}": {RESULTS[d]: 9.1 - q - d / 3 for d in range(4)} for q in range(3)}),
        "asked", "judgments scores",
    ),
    Layout("ranx, a frame", "run_df.csv", by_pair("q{qn},{d},{t}", "q_id,doc_id,score"), "asked", "judgments scores"),
    Layout(
        "SimLex-999", "SimLex.txt",
        by_pair("{q}{n}\t{d}\t{a}\t{m}\t3.{dn}\t2.{qn}\t{c}\t1.{n}\t{g}\t0.{n}",
                "word1\tword2\tPOS\tSimLex999\tconc(w1)\tconc(w2)\tconcQ\tAssoc(USF)\tSimAssoc333\tSD(SimLex)"),
        "asked", "scores judgments",
    ),
    Layout("STS benchmark", "sts.csv", by_pair("{q} one {n},{q} two {n},{m}", "sentence1,sentence2,score"),
           "asked", "judgments scores"),
    Layout("NLI labels", "snli.csv",
           by_pair("{q} one {n},{q} two {n},{g}", "premise,hypothesis,label").replace(",0\n", ",entailment\n")
           .replace(",1\n", ",neutral\n").replace(",2\n", ",contradiction\n").replace(",3\n", ",entailment\n"),
           "asked", "judgments"),
    Layout("MOS, a row a vote", "mos.csv",
           by_rater("{r},{q}_{d}.mp4,{g}", "subject_id,stimulus,score"), "right", "ratings",
           [("ann", "red lamp_d1.mp4", "red lamp_d1.mp4", 0)], 36),
    Layout("MOS, means only", "means.csv", by_pair("{q}{d}.wav,{m},0.{dn},{n}", "filename,MOS,CI95,votes"),
           "right", "judgments", [("red lampd1.wav", "red lampd1.wav", 0.33)], 12),
    Layout("P.910, a column a subject", "acr.csv",
           by_pair("{qn},{q}{d}.mp4,{a},{b},{c}", "SRC,PVS,S01,S02,S03"), "right", "ratings",
           [("S01", "red lampd1.mp4", "red lampd1.mp4", 0)], 36),
    Layout("P.910, categories in words", "votes.csv",
           "\n".join(["observer,video,vote", *(f"{PEOPLE[r]},{RESULTS[d]},{ACR[grade(r, 0, d, 4)]}"
                                               for r in range(3) for d in range(4))]) + "\n",
           "right", "ratings", BY_PERSON[:3], 12),
    Layout("Hugging Face, clicks of users", "stars.csv",
           by_rater("{r},{q},http://x.example/{d},{g}", "user,query,url,stars"), "right", "ratings",
           [("ann", "red lamp", "http://x.example/d1", 0)], 36),
    Layout("Learning to rank, folds", "folds.csv",
           by_pair("{qn},{d},{g},1,{dn}", "query_id,result_id,relevance,train,fold"), "right", "judgments",
           NUMBERED[:3], 12),
    Layout("Points of a jury", "points.csv", by_pair("{q},{d},{g}", "query,doc,points"), "right", "judgments",
           JUDGED[:3], 12),
    Layout("Wide panel of first names", "panel.csv", by_pair("{q},{d},{a},{b},{c}", "query,doc,ann,bob,cy"),
           "asked", "ratings scores judgments"),
    Layout("Wide panel of numbered raters", "raters.csv",
           by_pair("{q},{d},{a},{b},{c},{m}", "query,doc,rater_1,rater_2,rater_3,mean"), "right", "ratings",
           [("rater_1", "red lamp", "d1", 0)], 36),
    Layout("Wide scores of systems", "systems.csv",
           by_pair("{qn},{d},{s},{t},{n}", "qid,docno,bm25,colbert,price"), "right", "scores",
           [("bm25", "1", "d1", 0.17)], 24),
    Layout("Long scores under other names", "long.csv", by_pair("sparse,{qn},{d},{t}", "model,qid,docno,score"),
           "right", "scores", [("sparse", "1", "d1", 9.13)], 12),
    Layout("Words without an order", "colours.csv",
           by_rater("{r},{q},{d},{g}", "annotator,query,doc,label").replace(",0\n", ",red\n")
           .replace(",1\n", ",green\n").replace(",2\n", ",blue\n").replace(",3\n", ",grey\n"), "asked", "ratings"),
    Layout("Two questions a row", "questions.csv",
           by_rater("{r},{q},{d},{g},{qn}", "worker,query,doc,fluency,adequacy"), "asked", "ratings ratings"),
    Layout("ESCI, gains", "gains.csv",
           by_pair("{qn},P{d},{g}", "query_id,product_id,gain").replace(",3\n", ",1.0\n").replace(",2\n", ",0.1\n")
           .replace(",1\n", ",0.01\n"), "right", "judgments", [("1", "Pd1", 0), ("1", "Pd2", 0.1)], 12),
    Layout("Labels of people beside a model's output", "human.csv",
           by_pair("{q},{d},{g}", "query,passage_id,human_label"), "right", "judgments", JUDGED[:3], 12),
    Layout("Grades of a model under its name", "llm.csv", by_pair("{q},{d},{g}", "query,passage_id,gpt4_grade"),
           "right", "scores", [("gpt4_grade", "red lamp", "d1", 0)], 12),
    Layout("Grades beside a column that names a model", "grades.csv",
           by_pair("{q},{d},{g},gpt-4o", "query,passage_id,grade,model"), "asked", "judgments scores"),
    Layout("crowd-kit, answers of workers", "answers.csv", by_rater("{q} {d},{r},{g}", "task,worker,label"),
           "right", "ratings", [("ann", "red lamp d1", "red lamp d1", 0)], 36),
    Layout("Quepid, a book of several judges", "book.csv", by_pair("{q},{d},{a},{b},{c}", "query,docid,ann,bob,cy"),
           "asked", "ratings scores judgments"),
    Layout("A spreadsheet with a title, results under a name of one's own", "titled.csv",
           "Relevance study of June,,,\n,,,\n" + by_rater("{r},{q},{d},{g}", "assessor,query,page,grade"),
           "right", "ratings", RATED[:3], 36),
    Layout("Judgments of results under a name of one's own", "pages.csv", by_pair("{q},{d},{g}", "query,page,grade"),
           "right", "judgments", JUDGED[:3], 12),
    Layout("Results that are numbers under a name of one's own", "sites.csv",
           by_rater("{r},{q},10{dn},{g}", "rater,query,site,grade"), "asked", "ratings"),
    Layout("Semicolons and decimal commas, in German", "noten.csv",
           by_rater("{r};{q};{d};{g},5", "Bewerter;Anfrage;Ergebnis;Note"), "asked", "ratings"),
    Layout("Two rows of headers", "groups.csv",
           "query;result;Experts;;Others;\n" + by_pair("{q};{d};{a};{b};{c};{g}", ";;Ann;Bob;Cy;Dee"), "refused"),
    Layout("Percentages in cells", "percent.csv", by_rater("{r},{q},{d},{g}0 %", "rater,query,document,relevance"),
           "right", "ratings", [(p, q, d, 10 * g) for p, q, d, g in RATED[:3]], 36),
    Layout("Percentages in cells, many different ones", "shares.csv",
           table("rater,query,document,relevance",
                 [(*p[:3], f"{(7 * n) % 101}%") for n, p in enumerate(RATED)]),
           "right", "ratings", [(*p[:3], float((7 * n) % 101)) for n, p in enumerate(RATED[:3])], 36),
    Layout("A rater who is the total of the others", "with_total.csv",
           table("rater_id,query_id,result_id,rating",
                 [*RATED, *(("Gesamt", *pair) for pair in sorted({(*p[1:3], 3) for p in RATED}))]),
           "asked", "ratings"),
    Layout("A last row of means", "with_means.csv",
           "result,anna,ben,cleo\na,4,5,3\nb,2,1,2\nc,5,5,4\nd,3,3,2\nmean,3.5,3.5,2.75\n",
           "asked", "ratings scores"),
    Layout("Stars in words", "star_words.csv", by_rater("{r},{q},{d},{g}/5 stars", "rater,query,document,answer"),
           "asked", "ratings"),
    Layout("Nested JSON lines, a line an answer", "tasks.jsonl",
           by_rater('{{"by":{{"id":"{r}"}},"task":{{"query":"{q}","doc":"{d}"}},"answer":{{"grade":{g}}}}}', ""),
           "right", "ratings", RATED[:3], 36),
    Layout("A column a pair, a row a person", "columns.csv",
           table("participant," + ",".join(f"{QUERIES[q]} / {RESULTS[d]}" for q, d in PAIRS),
                 [(PEOPLE[r], *(grade(r, q, d) for q, d in PAIRS)) for r in range(3)]),
           "asked", "ratings ratings ratings ratings"),
    Layout("Best and worst of a query", "best_worst.csv",
           table("rater,query,best,worst", [(p, q, "d1", f"d{2 + (n + k) % 3}")
                                            for n, p in enumerate(PEOPLE) for k, q in enumerate(QUERIES)]),
           "asked", "ratings ratings"),
    Layout("A table of something else", "cities.csv", "city,people\nBonn,300\nUlm,120\n", "refused"),
    Layout("MTurk, which of two", "which_hit.csv",
           by_couple("H,{r},{q},{a},{b},{w}", "HITId,WorkerId,Input.query,Input.docA,Input.docB,Answer.radio", "abs"),
           "right", "preferences", [("red lamp", "d1")], 12),
    Layout("MT-bench, judgments of people", "human_judgments.csv",
           by_couple("{qn},{a},{b},{w},{r},1", "question_id,model_a,model_b,winner,judge,turn",
                     ("model_a", "model_b", "tie")), "right", "preferences", [("1", "d1")], 12),
    Layout("Side by side, left and right", "sides.csv",
           by_couple("{r},{q},{a},{b},{w}", "annotator,query,left_image,right_image,choice",
                     ("left", "right", "same")), "right", "preferences", [("red lamp", "d1")], 12),
    Layout("Two answers, 1 or 2", "answers_1_2.csv",
           by_couple("{r},{q},{a},{b},{w}", "rater,query,response_1,response_2,preferred", ("1", "2", "0")),
           "right", "preferences", [("red lamp", "d1")], 12),
    Layout("Two answers, and nobody's name", "no_name.csv",
           by_couple("{q},{a},{b},{w}", "query,item_a,item_b,better", ("A", "B", "tie")), "asked", "preferences"),
    Layout("Votes as counts", "vote_counts.csv",
           by_pair("{q},{d},{a},{b},3", "query,doc,count_0,count_1,count_2"), "right", "judgments",
           [("red lamp", "d1", 1.75)], 12),
    Layout("A data frame's index without a name", "indexed.csv",
           by_pair("{q} {d},{a},{b},{c}", ",rater1,rater2,rater3"), "right", "ratings",
           [("rater1", "red lamp d1", "red lamp d1", 0)], 36),
    Layout("REDCap, a column twice", "redcap.csv",
           by_rater("{n},{r},{q},{d},{g},Complete,Complete", "record_id,rater,query,doc,grade,Complete?,Complete?"),
           "right", "ratings", RATED[:3], 36),
    Layout("A slider with -1 for no answer", "slider.csv",
           table("video," + ",".join(f"Subject{r + 1}" for r in range(8)),
                 [(f"clip{d}", *((7 * r + 11 * d) % 83 if (r + d) % 5 else -1 for r in range(8))) for d in range(15)]),
           "right", "ratings", [("Subject2", "clip0", "clip0", 7)], 96),
    Layout("A panel in which a pair stands twice", "wordsim.csv",
           by_pair("{q},{d},{a},{b},{c},{m}", "Word 1,Word 2,1,2,3,Human (mean)") + "red lamp,d1,3,3,3,3\n",
           "asked", "ratings"),
    Layout("People in rows, statements in columns", "likert.csv",
           people_in_rows("Name,", [f"Q{d + 1}" for d in range(6)], PEOPLE), "asked", "ratings ratings"),
    Layout("Points on a picture", "points_xy.csv",
           table("image_id,center.x,center.y", [(f"im{n}", 3 * n % 50, 7 * n % 40) for n in range(12)]), "refused"),
    Layout("SimLex, a mean and its deviation", "simlex.csv",
           by_pair("{q},{d},A,{m},0.5", "word1,word2,POS,SimLex999,SD(SimLex)"), "asked", "judgments scores"),
    Layout("Quepid, ratings in detail", "detail.csv",
           by_pair("T,Shop,12,{q},{d},{n},title {d},{g}",
                   "Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating"),
           "right", "judgments", JUDGED[:3], 12),
    Layout("Elasticsearch, ranking evaluation", "rank_eval.json",
           json.dumps({
               "requests": [
                   {"id": QUERIES[q], "request": {"query": {"match": {"text": QUERIES[q]}}},
                    "ratings": [{"_index": "shop", "_id": RESULTS[d], "rating": grade(0, q, d)} for d in range(4)]}
                   for q in range(3)
               ],
               "metric": {"dcg": {"k": 10}},
           }), "right", "judgments", JUDGED[:3], 12),
    Layout("Rated Ranking Evaluator", "ratings.json",
           json.dumps({
               "index": "shop",
               "topics": [{"description": "all", "query_groups": [
                   {"name": QUERIES[q], "queries": [{"template": "t.json", "placeholders": {"$query": QUERIES[q]}}],
                    "relevant_documents": {RESULTS[d]: {"gain": grade(0, q, d)} for d in range(4)}}
                   for q in range(3)
               ]}],
           }), "right", "judgments", JUDGED[:3], 12),
    Layout("Toloka, assignments", "assignments.tsv",
           by_rater("{q}\thttps://example.org/{d}.jpg\t{g}\t\ta{n}\t{r}\tAPPROVED",
                    "INPUT:query\tINPUT:image\tOUTPUT:result\tGOLDEN:result\tASSIGNMENT:assignment_id\t"
                    "ASSIGNMENT:worker_id\tASSIGNMENT:status"),
           "right", "ratings", [("ann", "red lamp", "https://example.org/d1.jpg", 0)], 36),
    Layout("jsPsych, a slider", "jspsych.csv",
           by_rater("html-slider-response,{n},{g}0,812,<p>{q}</p>,{q},{d},{r}",
                    "trial_type,trial_index,response,rt,stimulus,query,item,subject"),
           "right", "ratings", [("ann", "red lamp", "d1", 0)], 36),
    Layout("PsychoPy, a rating and its time", "psychopy.csv",
           by_rater("{q},images/{d}.png,0,{n},{g},1.5,{r},1,2024-05-01_10h00,relevance,2023.1.1,60.0",
                    "query,image_file,trials.thisRepN,trials.thisN,slider.response,slider.rt,participant,session,date,"
                    "expName,psychopyVersion,frameRate"),
           "right", "ratings", [("ann", "red lamp", "images/d1.png", 0)], 36),
    Layout("Two pictures by their paths", "similarity.csv",
           by_rater("{r},exp_trial,{n},{g},2.41,stim/{q}.png,stim/{d}.png",
                    "prolific_id,exp_trial_type,trial_num,response,response_time,image1Path,image2Path"),
           "right", "ratings", [("ann", "stim/red lamp.png", "stim/d1.png", 0)], 36),
    Layout("TREC relevance feedback, labels of workers", "rf10.txt",
           by_rater("2000{qn}\t{r}\tclueweb09-{d}\t-1\t{g}", "topicID\tworkerID\tdocID\tgold\tlabel"),
           "right", "ratings", [("ann", "20001", "clueweb09-d1", 0)], 36),
    Layout("Langfuse, scores", "scores.csv",
           by_rater("s{n},2024-05-01T00:00:00Z,{qn}-{dn},relevance,ANNOTATION,{g},,{r}",
                    "id,timestamp,traceId,name,source,value,comment,authorUserId"),
           "right", "ratings", [("ann", "1-1", "1-1", 0)], 36),
    Layout("Votes of workers without a header", "votes.tsv",
           table("", [(r + 1, f"20{q}_clueweb09-{RESULTS[d]}", PEOPLE[r], grade(r, q, d)) for r, q, d in GIVEN], "\t"),
           "asked", "ratings"),
    Layout("Lists of answers and of people in cells", "lists.tsv",
           by_pair("{q}/{d}\t{q}\t[{a}, {b}, {c}]\t['ann', 'bob', 'cy']", "image_id\tquery\tscore_list\tworker_list"),
           "right", "ratings", [("ann", "red lamp", "red lamp/d1", 0), ("bob", "red lamp", "red lamp/d1", 1)], 36),
    Layout("Records with a list of scores", "train_list.json",
           json.dumps([
               {"prompt_id": QUERIES[q], "img_path": f"sd/{RESULTS[d]}.png",
                "total_score": [grade(r, q, d) for r in range(3)]} for q, d in PAIRS
           ]), "refused"),
    Layout("Preferences, a column a person", "leaning.csv",
           table("query,left_image,right_image,annotator1,annotator2,annotator3",
                 [(q, f"{a}.jpg", f"{b}.jpg", (n + k) % 5 - 2, (2 * n + k) % 5 - 2, (n * k) % 5 - 2)
                  for n, q in enumerate(QUERIES) for k, (a, b) in enumerate(pairwise(RESULTS))]),
           "asked", "preferences"),
    Layout("Two patches and a reference", "2afc.csv",
           table("ref,p0,p1,judge", [(f"ref/{n}.png", f"p0/{n}.png", f"p1/{n}.png", n % 5 / 4) for n in range(12)]),
           "refused"),
    Layout("Rows of a page, under a task", "rows.csv",
           by_rater("{r},{qn},10{qn},{dn},{g}", "user_id,task_id,query_id,row_id,relevance"), "asked", "ratings"),
    Layout("Two ratings of a rater by known names", "two_ratings.tsv",
           by_rater("{r}\t{q}\t{d}\t{g}\t{dn}", "annotator\tquery\turl\trelevance\tquality"),
           "asked", "ratings ratings"),
    Layout("Ground Truth, an output manifest", "manifest.jsonl",
           "\n".join(
               json.dumps({"source": f"{QUERIES[q]} / {RESULTS[d]}", "relevance": grade(0, q, d),
                           "relevance-metadata": {"confidence": 0.9, "human-annotated": "yes"}}) for q, d in PAIRS
           ) + "\n", "asked", "ratings"),
)  # fmt: skip
