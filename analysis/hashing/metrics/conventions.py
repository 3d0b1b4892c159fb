"""The rules that turn counts into a figure, by name, and sets of them that published evaluators use."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from relstudy.analysis.hashing.options import AreaRule, Denominator, LeftOut, NoRelevant
from relstudy.common.options.declaration import check_options, option
from relstudy.common.results.display import WIDTH
from relstudy.common.runtime.errors import RelstudyError

if TYPE_CHECKING:
    from relstudy.analysis.hashing.counting.counts import CountTable

PRESETS_OWN = "the preset's"


@dataclass(frozen=True)
class Conventions:
    """Every choice that changes a figure.

    Parameters
    ----------
    denominator : of average precision at k (see `average_precision`)
    no_relevant : queries without a relevant code: left out of average precision, recall and F, or 0 there;
        `skip-unlabelled` leaves out those without any label and counts the others as 0
    no_hit : queries without a relevant code among the first k: 0 in average precision at k, or left out of it
    empty_ball : precision of a query with no code within the radius: 0, or left out
    area : rule of the headline area under the curve over radii
    beta : weight of recall in F
    """

    denominator: Denominator = option("min(K, relevant)", "Denominator of mAP at k.", shown=PRESETS_OWN)
    no_relevant: NoRelevant = option("skip", "Queries without a relevant code.", shown=PRESETS_OWN)
    no_hit: LeftOut = option("zero", "Queries without a relevant code in the first k.", shown=PRESETS_OWN)
    empty_ball: LeftOut = option("zero", "Queries with no code within the radius.", shown=PRESETS_OWN)
    area: AreaRule = option("sum", "Rule of the headline area under the curve over radii.", shown=PRESETS_OWN)
    beta: float = option(1.0, "Weight of recall in F.", above=0, shown=PRESETS_OWN)

    def __repr__(self) -> str:
        start = f"{type(self).__name__}("
        choices = ", ".join(f"{name}={value!r}" for name, value in asdict(self).items())
        return textwrap.fill(f"{start}{choices})", WIDTH, subsequent_indent=" " * len(start), break_on_hyphens=False)

    def __post_init__(self) -> None:
        check_options(self)

    def queries_counted(self, table: CountTable) -> CountTable:
        """The table of the queries that these rules count: without those that have no label, for `skip-unlabelled`.

        Examples
        --------
        >>> import numpy as np
        >>> from relstudy.analysis.hashing.counting.counts import CountTable
        >>> table = CountTable(np.array([[1, 1], [1, 1]]), np.array([[1, 0], [0, 0]]), {"unlabelled": [1]})
        >>> Conventions(no_relevant="skip-unlabelled").queries_counted(table).queries
        1
        """
        if self.no_relevant != "skip-unlabelled":
            return table
        if "unlabelled" not in table.about:
            raise RelstudyError("this count table does not say which queries have no label; count the codes again")
        import numpy as np

        from relstudy.analysis.hashing.counting.counts import CountTable

        kept = np.setdiff1d(np.arange(table.queries), table.about["unlabelled"])
        if not len(kept):
            raise RelstudyError("no query has a label, so none is left to average over")
        return CountTable(table.total[kept], table.relevant[kept], {**table.about, "unlabelled": []})

    def choices(self) -> dict[str, Any]:
        """The choices by name.

        Examples
        --------
        >>> Conventions().choices()["empty_ball"]
        'zero'
        """
        return asdict(self)

    def as_json(self) -> dict[str, Any]:
        """The choices by name, with the one that is never a choice: ties are never broken by a sort.

        Examples
        --------
        >>> Conventions().as_json()["ties"]
        'interval over every order of equal distances'
        """
        return {**asdict(self), "ties": "interval over every order of equal distances"}


class ConventionChanges(TypedDict, total=False):
    """The fields of `Conventions` as arguments of a function, for type checkers."""

    denominator: Denominator
    no_relevant: NoRelevant
    no_hit: LeftOut
    empty_ball: LeftOut
    area: AreaRule
    beta: float


_CHANGES: dict[str, ConventionChanges] = {
    "default": ConventionChanges(),
    # Moran 2016: Eq. 3.12 divides by the true neighbours among those retrieved; area by MATLAB's trapz (footnote 9).
    "moran": ConventionChanges(denominator="hits", area="matlab"),
    # Jiang, Li and Li 2019: only division by the hits among the returned gives figures of the size of its table 2;
    # an empty ball is 0.
    "ramap": ConventionChanges(denominator="hits", empty_ball="zero"),
    # The same with 1/N+ over all relevant codes, as its section 2.3 prints AP.
    "ramap-printed": ConventionChanges(denominator="relevant", empty_ball="zero"),
    # HashNet's evaluator divides by the hits among the first K and leaves out a query without any.
    "hashnet": ConventionChanges(denominator="hits", no_hit="skip"),
    # DeepHash-pytorch's CalcTopMap divides by the hits among the first K; a query without any counts as 0.
    "deephash-pytorch": ConventionChanges(denominator="hits", no_relevant="zero"),
    # Yuan et al. 2020 (CSQ) divide by the hits, leave out queries without a label, and count others without a hit as 0.
    "csq": ConventionChanges(denominator="hits", no_relevant="skip-unlabelled"),
    # Jiang and Li 2017 (DCMH): cut at k, divided by the hits there; a query without any adds 0.
    "dcmh": ConventionChanges(denominator="hits", no_relevant="zero"),
    # calc_map_k of PyTorch copies of DCMH: over the first k relevant codes wherever they are; without any, 0.
    "calc-map-k": ConventionChanges(denominator="first K relevant", no_relevant="zero"),
    # trec_eval divides by all relevant items; a topic whose judged items are all irrelevant counts as 0.
    "trec-eval": ConventionChanges(denominator="relevant", no_relevant="zero"),
}


class _Presets(Mapping[str, Conventions]):
    """Conventions by name, made when they are looked up, so that a command's help waits for nothing."""

    def __getitem__(self, name: str) -> Conventions:
        return Conventions(**_CHANGES[name])

    def __iter__(self) -> Iterator[str]:
        return iter(_CHANGES)

    def __len__(self) -> int:
        return len(_CHANGES)


PRESETS: Mapping[str, Conventions] = _Presets()
