"""Tasks on vectors: ranking, classification, maps. Arrays in, results out."""

from ugraphemb.tasks.classification import (
    ClassificationScores,
    Comparison,
    classify,
    classify_kernel,
    classify_svm,
    compare,
)
from ugraphemb.tasks.maps import GraphMap, fit_map
from ugraphemb.tasks.pairs import PairScores, pair_protocol, pair_split
from ugraphemb.tasks.ranking import RankingScores, predicted_proximity, rank_from_vectors, ranking
from ugraphemb.tasks.splits import Split, random_splits, stratified_folds

__all__ = [
    "ClassificationScores",
    "Comparison",
    "GraphMap",
    "PairScores",
    "RankingScores",
    "Split",
    "classify",
    "classify_kernel",
    "classify_svm",
    "compare",
    "fit_map",
    "pair_protocol",
    "pair_split",
    "predicted_proximity",
    "random_splits",
    "rank_from_vectors",
    "ranking",
    "stratified_folds",
]
