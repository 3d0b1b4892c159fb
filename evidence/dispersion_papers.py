"""The tables and figures of Ding, Li and Li 2018 and Jiang, Li and Li 2019, beside what our encoders give on CIFAR-10.

    python evidence/dispersion_papers.py --work out [--data FOLDER] [--items features] [--training 10000] [--epochs 20]

Prints table 1 (12 and 24 bits) and the use of codes of figure 8 of Ding, Li and Li 2018; figures 4 to 7 (48 and 64
bits, m = 0, 4, 8 and 12) and tables 2 and 3 of Jiang, Li and Li 2019. The defaults are the papers' numbers of items and
epochs; on a CPU that takes days, so give smaller ones, and the output says which it was. `--small` is a minute.
`--recipe paper` takes the learning rate, the batch and the patience of the papers, too (.01 and 200; .05 and 128; no
early stop); `--learning-rate`, `--batch` and `--patience` set them.

FOLDER holds images.tar.xz with train/CLASS/*.jpg and test/CLASS/*.jpg (default: ../shared/data/cifar10_jpeg). Encoders
learn from pictures by three convolutions and two full layers, or with `--items features` by the two full layers from
gradients and colours of the pictures; `--features x.npy` takes vectors of your own instead, one for each picture in the
order of the sorted paths. A pre-trained AlexNet, as Jiang, Li and Li have it, does not come with this;
docs/evidence/hashing.md says how its features are saved, and
`--features alexnet.npy --items features --hidden 0` learns a hash layer on them.

What is finished stays in the --work folder, and a run that was interrupted goes on from there.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from evidence.dispersion.ding import table_1
from evidence.dispersion.extensions import tables_2_and_3
from evidence.dispersion.jiang import figures_4_to_7
from evidence.dispersion.runs import Data, Sizes
from evidence.hashing_features import DATA, gradient_features, read_pictures
from relstudy.analysis.hashing.commands.inputs import vectors_in
from relstudy.common.runtime.errors import RelstudyError

PARTS = ("lsh", "table1", "figures")


def own_features(file: str, pictures: int) -> np.ndarray:
    """Vectors of a file, one for each picture."""
    features = vectors_in(str(file))
    if len(features) != pictures:
        raise RelstudyError(f"{file} has {len(features)} vectors for {pictures} pictures; one for each is needed")
    return features


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--work", type=Path, required=True, help="folder for what is finished")
    parser.add_argument("--items", choices=["pictures", "features"], default=Sizes.items)
    parser.add_argument(
        "--features", type=Path, help="vectors of the pictures (.npy), instead of gradients and colours"
    )
    for name in ("training", "queries", "epochs", "training_mdsh", "epochs_mdsh", "seeds", "hidden"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=getattr(Sizes, name))
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--patience", type=int)
    parser.add_argument("--recipe", choices=["paper"], help="rate, batch and patience as the papers print them")
    parser.add_argument("--shortest", action="store_true", help="12 bits alone in table 1")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="these parts alone")
    parser.add_argument("--every", type=int, default=1, help="only every nth picture of each class")
    parser.add_argument("--small", action="store_true", help="1,500 training items, few epochs, from features")
    arguments = parser.parse_args(words)
    given = {name: getattr(arguments, name) for name in asdict(Sizes())}
    small = Sizes("features", 1500, 500, 20, 1000, 10, 1, arguments.shortest)
    sizes = small if arguments.small else Sizes(**given)
    arguments.work.mkdir(parents=True, exist_ok=True)
    every = 20 if arguments.small else arguments.every
    pictures, classes, testing = read_pictures(arguments.data / "images.tar.xz", arguments.work, every)
    if arguments.features is not None:
        features = own_features(arguments.features, len(pictures))
    elif sizes.items == "features" or "lsh" in arguments.only:
        features = gradient_features(pictures)
    else:
        features = pictures
    data = Data(pictures if sizes.items == "pictures" else features, features, classes, testing)
    if "lsh" in arguments.only:
        tables_2_and_3(data)
    if "table1" in arguments.only:
        table_1(data, sizes, arguments.work)
    if "figures" in arguments.only:
        figures_4_to_7(data, sizes, arguments.work)


if __name__ == "__main__":
    main()
