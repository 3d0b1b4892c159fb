"""Further layouts of ratings and judgments, of experiments, crowds, learning to rank and measures."""

from __future__ import annotations

import json

from tests.analysis.inspection.layouts import (
    GIVEN,
    JUDGED,
    NUMBERED,
    PAIRS,
    PEOPLE,
    QUERIES,
    RATED,
    RESULTS,
    Layout,
    by_pair,
    by_rater,
    grade,
)  # fmt: skip

FILES = [(r, q, f"{d}.jpg", g) for r, q, d, g in RATED]
THUMBS = ("down", "up", "up", "up")


def in_words(make: str, header: str, words: tuple[str, ...]) -> str:
    """One row a rating, with a word for each grade in place of {w}."""
    rows = [
        make.replace("{w}", words[grade(r, q, d)]).format(r=PEOPLE[r], q=QUERIES[q], d=RESULTS[d], n=n)
        for n, (r, q, d) in enumerate(GIVEN)
    ]
    return "\n".join([header, *rows]) + "\n"


MORE = (
    Layout("Gorilla, trials", "gorilla.csv",
           by_rater("{n},{r},1,public-{r},{q},{d}.jpg,{g},812.4",
                    "Event Index,Participant Private ID,Schedule ID,Participant Public ID,query,image,Response,"
                    "Reaction Time"), "right", "ratings", FILES[:3], 36),
    Layout("Appen, full report", "full_report.csv",
           by_rater("{n},{n},5/1/2026 10:00:00,false,5/1/2026,{r},0.98,USA,{q},{d},{g}",
                    "_unit_id,_id,_created_at,_golden,_started_at,_worker_id,_trust,_country,query,url,relevance"),
           "right", "ratings", RATED[:3], 36),
    Layout("Appen, aggregated", "aggregated.csv",
           by_pair("{n},false,finalized,3,{q},{d},{g},0.87",
                   "_unit_id,_golden,_unit_state,_trusted_judgments,query,url,relevance,relevance:confidence"),
           "right", "judgments", JUDGED[:3], 12),
    Layout("Learning to rank, features and documents", "letor.txt",
           "".join(f"{grade(0, q, d)} qid:{q + 1} 1:0.{d}3 2:0.{q}4 #docid = {RESULTS[d]} inc = 1 prob = 0.5\n"
                   for q, d in PAIRS), "right", "judgments", NUMBERED[:3], 12),
    Layout("Learning to rank, judgments of a plugin", "judgments.txt",
           "".join(f"# qid:{q + 1}: {query}\n" for q, query in enumerate(QUERIES)) + "\n"
           + "".join(f"{grade(0, q, d)} qid:{q + 1} # {RESULTS[d]} Its title\n" for q, d in PAIRS),
           "right", "judgments", JUDGED[:3], 12),
    Layout("Learning to rank, features alone", "features.txt",
           "".join(f"{grade(0, q, d)} qid:{q + 1} 1:{d} 2:{q} 3:0.5\n" for q, d in PAIRS), "refused"),
    Layout("TREC, prels of a sampled pool", "prels.txt",
           "".join(f"{q + 1} {RESULTS[d]} {grade(0, q, d)} 1 0.{d + 2}\n" for q, d in PAIRS),
           "right", "judgments", NUMBERED[:3], 12),
    Layout("Judges and their average", "judges.csv",
           by_pair("{q},{d},{a},{b},{c},{m}", "Query,Result,Judge 1,Judge 2,Judge 3,Average"),
           "right", "ratings", [("Judge 1", *JUDGED[0])], 36),
    Layout("True and false", "bool.csv",
           in_words("{r},{q},{d},{w}", "annotator,query,doc,is_relevant", ("False", "True", "True", "True")),
           "right", "ratings", [("ann", "red lamp", "d1", 0)], 36),
    Layout("Thumbs", "thumbs.csv", in_words("{r},{q},{d},thumbs {w}", "user,query,result,vote", THUMBS),
           "right", "ratings", [("ann", "red lamp", "d1", 0)], 36),
    Layout("Grades by name and number", "grade_labels.csv",
           in_words("{n},{r}@example.org,{q},{d},Grade {w}", "annotation_id,annotator_email,query,document,grade_label",
                    ("0", "1", "2", "3")), "right", "ratings", [("ann@example.org", *JUDGED[0])], 36),
    Layout("Subjects, items, responses", "responses.csv",
           by_rater("{r},{q}-{d},A,{g}", "subject,item,condition,response"),
           "right", "ratings", [("ann", "red lamp-d1", "red lamp-d1", 0)], 36),
    Layout("Semicolons, and times with decimal commas", "times.csv",
           by_rater("{qn};{d};{r};{g};12,5", "query_id;doc_id;assessor;relevance;time"),
           "right", "ratings", [("ann", *NUMBERED[0])], 36),
    Layout("NIST, qrels by columns", "nist.csv", by_pair("{qn},Q0,{d},{g}", "qid,iter,docid,rel"),
           "right", "judgments", NUMBERED[:3], 12),
    Layout("Distorted pictures and their reference", "dmos.csv",
           "dist_img,ref_img,dmos,var\n" + "".join(
               f"i{q}_{d}.png,i{q}.png,{4.57 - d * 0.7 - q * 0.11:.2f},0.{d + 3}81\n" for q, d in PAIRS),
           "right", "judgments", [("i0.png", "i0_0.png", 4.57)], 12),
    Layout("Measures a query, as evaluation prints them", "measures.txt",
           "".join(f"{name:22s}\t{q}\t{value:.4f}\n" for q in ("1", "2", "all")
                   for name, value in (("map", 0.31), ("P_10", 0.4), ("ndcg", 0.55))), "refused"),
    Layout("Three results in the order of a person", "ranking.csv",
           "rater,query,rank1,rank2,rank3\n" + "".join(f"{p},{q},d1,d2,d3\n" for p in PEOPLE for q in QUERIES),
           "refused"),
    Layout("Questions of a form, a column each", "form.csv",
           "#,How relevant is lamp A?,How relevant is lamp B?,Start Date (UTC),Submit Date (UTC),Network ID\n"
           + "".join(f"x{r},{r + 1},{5 - r},2026-01-01,2026-01-01,n{r}\n" for r in range(3)), "asked", "ratings"),
    Layout("Sides by their first letters", "sides_lr.csv",
           "annotator,query,left_doc,right_doc,choice\n" + "".join(
               f"{PEOPLE[r]},{QUERIES[q]},{RESULTS[a]},{RESULTS[a + 1]},{('L', 'R', 'tie')[(r + q + a) % 3]}\n"
               for r in range(3) for q in range(3) for a in range(3)), "right", "preferences",
           [("red lamp", "d1")], 12),
    Layout("Photos on a scale of ten", "photos.csv",
           "user_id;photo;score\n" + "".join(f"u{r};p{d};{1 + (3 * r + 2 * d) % 10}\n" for r in range(5)
                                             for d in range(8)), "right", "ratings", [("u0", "p0", "p0", 1)], 40),
    Layout("Stars of films by users", "movies.csv",
           "userId,movieId,rating,timestamp\n" + "".join(
               f"{r + 1},{m},{(r + m) % 5 + 0.5},{964982703 + m}\n" for r in range(6) for m in range(1, 9)),
           "right", "ratings", [("1", "1", "1", 1.5)], 48),
    Layout("Ranked lists, fused", "fused.csv", by_pair("{qn},{d},{dn},{t},rrf", "qid,docid,rank,score,run"),
           "right", "scores", [("rrf", "1", "d1", 9.13)], 12),
    Layout("Triples of a user study", "tripjudge.tsv",
           by_rater("{n}\t{r}\t{qn}\t{d}\t{g}\t2026-01-01T10:00:00",
                    "id\tuser\tquery_id\tdoc_id\trelevance_grade\tstart_time"),
           "right", "ratings", [("ann", *NUMBERED[0])], 36),
    Layout("Labels and how sure each worker was", "sure.csv",
           by_rater("{r},{q},{d},{g},{n}", "worker,query,doc,label,confidence"), "right", "ratings", RATED[:3], 36),
    Layout("Agreement in words", "agree.csv",
           "participant,stimulus,answer\n" + "".join(
               f"{p},{d}.jpg,{('Strongly disagree', 'Disagree', 'Agree', 'Strongly agree')[grade(r, 0, n)]}\n"
               for r, p in enumerate(PEOPLE) for n, d in enumerate(RESULTS)),
           "right", "ratings", [("ann", "d1.jpg", "d1.jpg", 0)], 12),
    Layout("Pavlovia, a slider's response", "pavlovia.csv",
           by_rater("{r},{q},{d},{g}7,1500", "PROLIFIC_PID,query,image,slider.response,rt"),
           "right", "ratings", [("ann", "red lamp", "d1", 7)], 36),
    Layout("A scale in the column's name", "scale_named.csv",
           by_rater("{r},{q},{d},{g}", "Rater,Query,Doc,Relevance (0-3)"), "right", "ratings", RATED[:3], 36),
    Layout("A document on which three marks are possible", "marks.csv",
           "rater,query,document,Good,OK,Bad\n" + "".join(
               f"{PEOPLE[r]},{QUERIES[q]},{RESULTS[d]}," + ",".join(
                   "x" * (min(grade(r, q, d), 2) == k) for k in (2, 1, 0)) + "\n" for r, q, d in GIVEN),
           "right", "ratings", [(p, q, d, min(g, 2)) for p, q, d, g in RATED[:3]], 36),
    Layout("Means with the number of raters", "mean_n.csv",
           by_pair("{q},{d},{m},3,0.4", "query,document,mean_rating,n_raters,std"),
           "right", "judgments", [("red lamp", "d1", 0.33)], 12),
    Layout("Hits, a record a line", "hits.jsonl",
           "".join(json.dumps({"qid": str(q + 1), "doc_id": RESULTS[d], "score": 9.0 - d, "system": "dense"}) + "\n"
                   for q, d in PAIRS), "right", "scores", [("dense", "1", "d1", 9.0)], 12),
    Layout("Grades first, after a byte order mark", "first.tsv",
           "\ufeff" + by_rater("{g}\t{d}\t{q}\t{r}", "grade\tdocument\tquery\tassessor"),
           "right", "ratings", RATED[:3], 36),
    Layout("Grades as a matrix, queries by results", "matrix.csv",
           "query,d1,d2,d3,d4\n" + "".join(
               f"{QUERIES[q]}," + ",".join(str(grade(0, q, d)) for d in range(4)) + "\n" for q in range(3)),
           "asked", "ratings"),
    Layout("Pick-a-Pic, couples with a share each", "pick.csv",
           "caption,image_0_uid,image_1_uid,label_0,label_1,user_id\n" + "".join(
               f"{QUERIES[n % 3]},u{n}a,u{n}b,{(1.0, 0.0, 0.5)[n % 3]},{(0.0, 1.0, 0.5)[n % 3]},{n % 4}\n"
               for n in range(12)), "right", "preferences", [("red lamp", "u0a")], 24),
    Layout("oTree, rounds of players", "otree.csv",
           by_rater("{r},{n},{q},{d},{g}",
                    "participant.code,subsession.round_number,player.query,player.image,player.rating"),
           "right", "ratings", RATED[:3], 36),
    Layout("doccano, texts with a label", "doccano.jsonl",
           "".join(json.dumps({"id": n, "text": f"{QUERIES[q]} / {RESULTS[d]}", "Comments": [],
                               "label": [("not relevant", "relevant")[grade(0, q, d) % 2]]}) + "\n"
                   for n, (q, d) in enumerate(PAIRS)), "asked", "ratings"),
    Layout("Ratings of several aspects, by workers", "aspects.csv",
           "original,simplification,sentence_id,aspect,worker_id,rating\n" + "".join(
               f'"{QUERIES[q]}, of old.",{QUERIES[q]} {d}.,{n},{aspect},{PEOPLE[r]},{(37 * n + 13 * r) % 101}\n'
               for n, (q, d) in enumerate(PAIRS) for aspect in ("meaning", "fluency") for r in range(3)),
           "asked", "ratings"),
    Layout("Judgments as a table of text", "table.txt",
           "query_id | doc_id | grade | notes\n---------|--------|-------|------\n"
           + by_pair("q{qn} | {d} | {g} | hm", ""), "right", "judgments", [("q1", "d1", 0)], 12),
    Layout("Records of a query, with graded addresses", "labels.json",
           json.dumps([{"query": query, "labels": [{"url": f"http://x.org/{RESULTS[d]}", "score": grade(0, q, d) + 1}
                                                   for d in range(4)]} for q, query in enumerate(QUERIES)]),
           "asked", "judgments scores"),
    Layout("OpenSearch, a judgment list of its workbench", "judgments.json",
           json.dumps({"name": "mine", "judgmentRatings": [
               {"query": query, "ratings": [{"docId": RESULTS[d], "rating": f"{grade(0, q, d)}.000"} for d in range(4)]}
               for q, query in enumerate(QUERIES)]}), "right", "judgments", JUDGED[:3], 12),
    Layout("Several criteria in words, by annotators", "criteria.tsv",
           "annotator\toverall quality\tclarity\tcogency\targument\t#id\n" + "".join(
               f"{r + 1}\t" + "\t".join(f"{1 + v} ({('Low', 'Average', 'High')[v]})" for v in (
                   (n + r) % 3, n % 3, (2 * n + r) % 3)) + f"\tit is so {n}\ta{n}\n"
               for n in range(6) for r in range(3)), "asked", "ratings"),
    Layout("Pages of results, under a task", "pages_of_task.csv",
           "user_id,task_id,query_id,page_id,relevance\n" + "".join(
               f"{PEOPLE[r]},{q + 1},{10 * r + q},{page},{(q + r + page) % 5}\n"
               for r in range(3) for q in range(3) for page in (1, 2)), "asked", "ratings"),
    Layout("Labels without an order, a column an annotator", "claims.csv",
           "source_id,claim,annotator_1,annotator_2,annotator_3\n" + "".join(
               f"s{n},claim {n} says so," + ",".join(("supported", "refuted")[(n * k) % 2] for k in (1, 1, 2)) + "\n"
               for n in range(9)), "asked", "ratings ratings ratings ratings"),
    Layout("MTurk, a survey of one page", "page_survey.csv",
           "HITId,AssignmentId,WorkerId,AssignmentStatus,Answer.q1,Answer.q2,Answer.q3\n" + "".join(
               f"h,a{k},W{k},Approved,{'AB'[k % 2]},A,{'BA'[k % 2]}\n" for k in range(5)), "refused"),
    Layout("NTCIR, qrels with a letter", "ntcir.txt",
           by_pair("000{qn}\tC\tgakkai-{d}\t{g} ", ""), "right", "judgments", [("0001", "gakkai-d1", 0)], 12),
)  # fmt: skip
