# %% [markdown]
# # Graph classification with scikit-learn
#
# `UGraphEmb` is a scikit-learn transformer. It works in a `Pipeline`, in cross-validation and in a grid search. This tutorial
# classifies MUTAG: 188 molecules, mutagenic or not.
#
# The data set is downloaded from TU Dortmund on first use; offline, put `MUTAG.zip` into a folder and set `UGRAPHEMB_DATA`.

# %%
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ugraphemb as ug

warnings.simplefilter("ignore", ug.errors.GraphWarning)  # a fold may lack a rare element
graphs = ug.load_dataset("MUTAG")
print(graphs, dict(zip(*(part.tolist() for part in np.unique(graphs.targets, return_counts=True)), strict=True)))

# %% [markdown]
# ## A pipeline
#
# The embedding is learned from the edit distances of the training graphs of each fold; it does not see classes. The
# classifier is fitted on the vectors. Test graphs are embedded by the model of the training graphs.

# %%
folds = StratifiedKFold(5, shuffle=True, random_state=0)
indices = np.arange(len(graphs))


def accuracy(pipeline) -> str:
    scores = [
        pipeline.fit(graphs[train], graphs.targets[train]).score(graphs[test], graphs.targets[test])
        for train, test in folds.split(indices, graphs.targets)
    ]
    return f"{100 * np.mean(scores):.1f} ± {100 * np.std(scores):.1f} %"


embedding = ug.UGraphEmb(seed=0, steps=300)
print(
    "UGraphEmb + logistic regression:", accuracy(make_pipeline(embedding, StandardScaler(), LogisticRegression(C=0.1)))
)

# %% [markdown]
# ## Always compare with a floor
#
# Counts of labels and degrees are the simplest vectors there are. On small data sets they are hard to beat; a result
# without such a floor says little.

# %%
from sklearn.svm import SVC
from ugraphemb.baselines import baseline

counts = baseline("counts").fit(graphs).transform(graphs)
floor = cross_val_score(make_pipeline(StandardScaler(), LogisticRegression()), counts, graphs.targets, cv=folds)
print(f"counts of labels and degrees: {100 * floor.mean():.1f} ± {100 * floor.std():.1f} %")
kernel = baseline("wl", iterations=3).fit(graphs).kernel(graphs)
scores = [
    SVC(kernel="precomputed", C=10)
    .fit(kernel[np.ix_(train, train)], graphs.targets[train])
    .score(kernel[np.ix_(test, train)], graphs.targets[test])
    for train, test in folds.split(indices, graphs.targets)
]
print(f"WL kernel + SVM: {100 * np.mean(scores):.1f} ± {100 * np.std(scores):.1f} %")
sizes = np.unique(graphs.targets, return_counts=True)[1]
print(f"largest class: {100 * sizes.max() / len(graphs):.1f} %")

# %% [markdown]
# With 188 graphs a fold has 37 test graphs, so differences of a few points mean nothing. `ugraphemb.tasks` has repeated
# splits, a choice of C inside each split, and a corrected t-test:

# %%
from ugraphemb.tasks import classify, compare, random_splits

splits = random_splits(len(graphs), seed=0, repeats=10, targets=graphs.targets)
vectors = ug.UGraphEmb(seed=0, steps=300).fit(graphs).transform(graphs)
learned, simple = classify(vectors, graphs.targets, splits), classify(counts, graphs.targets, splits)
print(learned)
print(simple)
print(compare(learned, simple))

# %% [markdown]
# Here the embedding has seen the test graphs, though not their classes: it is learned without labels. `model.finetune(graphs, classes)`
# adjusts the vectors to classes; see [Rank, classify, map](../tasks.md).
