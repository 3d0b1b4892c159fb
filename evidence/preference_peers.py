"""What choix and crowd-kit say of the couples that tests/calibration/methods/test_bradley_terry.py holds the model to.

    pip install choix crowd-kit
    python evidence/preference_peers.py

They are no part of the project's tests: crowd-kit asks for packages that fill a disk. The couples are in the test.
crowd-kit 1.4.2 compares its scores with themselves and so stops after two steps; below any tolerance it goes on.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from relstudy.calibration.methods.bradley_terry import LEFT
from tests.calibration.methods.test_bradley_terry import ITEMS, SPREAD, decided_couples


def main() -> None:
    """Print both, log odds with mean 0, four digits."""
    import choix
    from crowdkit.aggregation import BradleyTerry

    couples = decided_couples()
    won = np.where(couples.answer == LEFT, couples.left, couples.right)
    lost = np.where(couples.answer == LEFT, couples.right, couples.left)
    wins = list(zip(won.tolist(), lost.tolist(), strict=True))
    penalised = choix.opt_pairwise(ITEMS, wins, alpha=1 / (2 * SPREAD**2), tol=1e-12)
    unpenalised = choix.ilsr_pairwise(ITEMS, wins, alpha=0.0, tol=1e-12)
    table = pd.DataFrame({"worker": "w", "left": couples.left, "right": couples.right, "label": won})
    scores = BradleyTerry(n_iter=10_000, tol=-1.0).fit_predict(table)
    logs = np.log(scores.reindex(range(ITEMS)).to_numpy(dtype=float))
    for name, found in (
        (f"choix.opt_pairwise, alpha = 1 / (2 * {SPREAD:g}**2)", penalised),
        ("choix.ilsr_pairwise", unpenalised),
        ("crowdkit BradleyTerry", logs),
    ):
        print(name)
        print([round(float(each), 4) for each in found - np.mean(found)])


if __name__ == "__main__":
    main()
