"""Words predicted from a picture's regions, as a stand-in for people (Shirahatti and Barnard 2005, appendix A.1).

The annotation engine of Barnard et al. 2003 gives a picture d the words P(w|d) = sum over concepts l of P(w|l) P(l|d),
where P(l|d) rests on its regions alone (Shirahatti and Barnard 2005, Eq. 3.2 given the picture). The source does not
say how words become the score of a query and a picture. Here it is the mean over the query's words of log P(w|d) - log
P(w), so that common words count no more than rare ones; a picture's words as a query are its keywords.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from relstudy.studyapp.collection.items import Collection, Item
from relstudy.studyapp.systems.base import Progress, extra, image_positions, silent, spread
from relstudy.studyapp.systems.concepts import FOLDS, Blobs, ConceptModel, read_blobs, train_on_parts


class Annotation:
    """Ratio of the query's words' likelihood for a picture to that for any picture, by its regions.

    Parameters
    ----------
    name : "annotation-all": the model has learned from all pictures and their words; "annotation-test": a picture's
        words are predicted by a model that learnt from another third of the collection
    """

    by_all_items = True

    def __init__(self, name: str) -> None:
        self.name = name

    def fit(self, collection: Collection, progress: Progress = silent) -> Self:
        extra("skimage.segmentation")
        self._size = len(collection)
        self._positions = image_positions(collection, self.name)
        blobs, self._vocabulary = read_blobs(collection, self._positions, self.name, True, progress)
        if self.name.endswith("-all"):
            self.predicted = _predicted(ConceptModel.train(blobs), blobs.without_words())
        else:
            part, models = train_on_parts(blobs, FOLDS, self.name)
            by_model = np.stack([_predicted(model, blobs.without_words()) for model in models])
            self.predicted = by_model[(part + 1) % FOLDS, np.arange(blobs.pictures)]
        return self

    def score(self, query: Item) -> np.ndarray | None:
        words = [self._vocabulary[word] for word in query.words if word in self._vocabulary]
        if not words:
            return None
        lift = np.log(self.predicted[:, words]) - np.log(self.predicted[:, words].mean(axis=0))
        return spread(lift.mean(axis=1), self._positions, self._size)


def _predicted(model: ConceptModel, regions: Blobs) -> np.ndarray:
    """P(word | picture) from regions alone, float [pictures, words]; each row sums to 1."""
    return np.asarray(model.mixtures(regions) @ model.word)
