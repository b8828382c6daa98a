"""The weights of the topics, learnt from open news text.

    pip install scikit-learn wordfreq
    python benchmarks/data/topics.py FOLDER [LANGUAGE ...]

FOLDER holds the clones that `corpora.py` names. English text gets its labels from the sections
under which it was collected and from the words of `topic_seeds.tsv`; one model for each topic is
fitted to them. The other languages take their weights over from English: through sentences in both
languages (word alignment by expectation maximisation, IBM model 1), through the Wiktionary, and
for words that both languages use equally often, which are mostly names.
German learns from German text besides (self-training): where the words of `topic_seeds.de.tsv` and
the weights that were taken over agree, they label text without labels, to which a model is fitted,
and a share of its weights is added.
Writes `svc_core/data/topics.LANGUAGE.z`.
"""

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import corpora
import numpy as np
import weights
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import normalize
from wordfreq import top_n_list, word_frequency

from svc_core import data
from svc_core.text.topics import TOPICS
from svc_core.text.words import split_words, terms

IDS = [topic.id for topic in TOPICS]
# A threshold is the lowest score above which this share of the held-out tenth is right: of the
# other languages, whose scores are smaller, and of English.
LEVELS = (0.8, 0.9)
SCALE = 0.8  # of weights: half of it doubles the bytes and gains nothing
SETTLING_SHARE = (
    0.9  # a seed of which this share of the texts that hold it has its topic settles it ...
)
SETTLED_WORDS = 14  # ... in a headline of up to so many words
BOOK = 6  # a word of the Wiktionary counts as if it had been seen so often in parallel text
SAME_RATIO_MAX = (
    8  # a word that one language uses up to so many times as often as the other is the same
)
SURE = 0.6  # a section that a model guesses for text without one counts above it
SEED = 8  # letters of a word by which seeds are compared
TERMS_MIN = 8  # a term of fewer documents is left out
OWN_SHARE, OWN_MARGIN = 0.4, 0.3  # of a model of German text in the sum, and what that must exceed
OWN_TEXTS_MIN = 15  # labelled ones, or there is no model of its own for a topic
OWN_CHARACTERS = 600  # of a paragraph: about a headline and its lead
# The mean score of every topic over German text. Without it the mean lies between -2 and -7, and
# the words of a topic are worth more or less beside it by chance.
OWN_MEAN = -3.25

# Where the words of a topic may count: the first letters of sections.
SECTIONS = {
    "conflict": "C",
    "politics": "P",
    "international": "I",
    "crime": "K",
    "business": "B",
    "science": "S",
    "tech": "T",
    "health": "H",
    "disaster": "D",
    "culture": "U",
    "other": "O",
    "sport": "X",
}
PLACES = {
    "world": "I",
    "politics": "P",
    "diplomacy": "IP",
    "elections": "P",
    "conflict": "C",
    "terrorism": "CKP",
    "unrest": "CPK",
    "sanctions": "IPCB",
    "defense": "CIPST",
    "intelligence": "PKICT",
    "cybersecurity": "TKSBIP",
    "vulnerabilities": "TSKB",
    "ransomware": "TSKBH",
    "disinformation": "PIKTCH",
    "economy": "BPI",
    "markets": "B",
    "central-banks": "BP",
    "inflation": "BP",
    "trade": "BIP",
    "companies": "B",
    "earnings": "BT",
    "banking": "B",
    "crypto": "BTK",
    "commodities": "B",
    "energy": "BIPSDE",
    "supply-chain": "BHI",
    "shipping": "BDCI",
    "technology": "TBSUO",
    "ai": "TSB",
    "semiconductors": "TB",
    "space": "ST",
    "telecom": "TB",
    "science": "SH",
    "health": "HS",
    "outbreaks": "H",
    "climate": "HSIPD",
    "disasters": "D",
    "migration": "IPKCD",
    "crime": "K",
    "law-regulation": "KPBT",
}
WHOLE = {  # a section that is a topic
    "C": "conflict",
    "P": "politics",
    "I": "diplomacy",
    "K": "crime",
    "D": "disasters",
    "T": "technology",
}
TRADE = {  # labels of Twitter Financial News
    "central-banks": "central-banks",
    "earnings": "earnings",
    "dividend": "earnings",
    "financials": "earnings",
    "energy": "energy",
    "markets": "markets",
    "stock": "markets",
    "ipo": "markets",
    "bonds": "markets",
    "currencies": "markets",
    "analyst": "markets",
    "commodities": "commodities",
    "macro": "economy",
    "companies": "companies",
    "deals": "companies",
    "personnel": "companies",
    "politics": "politics",
    "legal": "law-regulation",
}
ECONOMY = ("economy", "markets", "central-banks", "inflation", "trade", "energy", "commodities")


class Text:
    """A labelled text: its words for the seeds, its terms for the model."""

    def __init__(self, title: str, text: str, section: str, language: str = "en") -> None:
        self.title, self.text, self.section = title, text, section
        self.terms = set(terms(f"{title}\n{text}", language))


def texts(folder: Path) -> list[Text]:
    seen = {}
    for title, text, section in corpora.sections(folder):
        seen.setdefault((title + text)[:200], (title, text, section))
    return [Text(*parts) for parts in seen.values()]


def features(texts_: list[Text]) -> tuple[csr_matrix, list[str]]:
    counter = CountVectorizer(analyzer=lambda text: text.terms, min_df=TERMS_MIN, binary=True)
    return normalize(counter.fit_transform(texts_)).astype(np.float32), list(
        counter.get_feature_names_out()
    )


def classifier(alpha: float) -> SGDClassifier:
    return SGDClassifier(
        loss="log_loss", alpha=alpha, max_iter=8, tol=None, average=True, random_state=0
    )


def guessed_sections(texts_: list[Text], matrix: csr_matrix) -> list[str]:
    """The section's letter of every text, guessed where its collector gave none; `?` is unsure."""
    letters = np.array([_letter(text.section) for text in texts_])
    has_letter = letters != "?"
    model = classifier(1e-6).fit(matrix[has_letter], letters[has_letter])
    shares = model.predict_proba(matrix[~has_letter])
    letters[~has_letter] = np.where(shares.max(1) > SURE, model.classes_[shares.argmax(1)], "?")
    return list(letters)


def _letter(section: str) -> str:
    if section.startswith("fin:") and section[4:] not in ("general", "legal", "politics"):
        return "B"
    return SECTIONS.get(section, "?")


def plain(text: str) -> list[str]:
    """The words that seeds are compared by: in the singular, and without their last endings."""
    return [word.removesuffix("s")[:SEED] if len(word) > 3 else word for word in split_words(text)]


def seeds(table: str = "topic_seeds.tsv") -> Iterator[tuple[str, str, bool]]:
    """Topic and words of every seed, and whether it has a plus."""
    for line in data.table_lines(table):
        id_, _, seed_words = line.partition("\t")
        for seed in seed_words.split():
            yield id_, seed.lstrip("+").replace("_", " "), seed.startswith("+")


def phrases(table: str = "topic_seeds.tsv") -> dict[tuple[str, ...], dict[str, int]]:
    """Points by phrase and topic."""
    phrase_points = defaultdict(dict)
    for id_, seed, has_plus in seeds(table):
        worth = phrase_points[tuple(plain(seed))]
        worth[id_] = max(3 if has_plus else 1, worth.get(id_, 0))
    return phrase_points


def points(text: Text, phrase_points: dict[tuple[str, ...], dict[str, int]]) -> Counter[str]:
    """Points by topic: 3 for a settling word, 2 for one of the title, 1 for one of the text."""
    totals, seen = Counter(), set()
    for part, least in ((plain(text.title), 2), (plain(text.text), 1)):
        for at in range(len(part)):
            for length in range(1, 5):
                phrase = tuple(part[at : at + length])
                if phrase in phrase_points and phrase not in seen:
                    seen.add(phrase)
                    for id_, worth in phrase_points[phrase].items():
                        totals[id_] += max(worth, least)
    return totals


def labels(texts_: list[Text], letters: list[str]) -> np.ndarray:
    """1 where a topic is given, 0 where it is not, -1 where nobody knows; a column each."""
    phrase_points = phrases()
    table = np.zeros((len(texts_), len(IDS)), np.int8)
    for row, text, letter in zip(table, texts_, letters, strict=True):
        topics, unsure = _labels(text, letter, points(text, phrase_points))
        if letter == "?" or text.section == "fin:general":
            row[:] = -1
        for id_ in unsure:
            row[IDS.index(id_)] = -1
        for id_ in topics:
            row[IDS.index(id_)] = 1
    return table


def _labels(text: Text, letter: str, worth: Counter[str]) -> tuple[set[str], set[str]]:
    if letter == "?":
        return {id_ for id_, count in worth.items() if count >= 3}, set()
    topics = {id_ for id_, count in worth.items() if letter in PLACES[id_] and count >= 2}
    unsure = {
        id_
        for id_, count in worth.items()
        if letter in PLACES[id_] or (count >= 3 and letter not in "XUO")
    }
    topics |= {WHOLE[letter]} if letter in WHOLE else set()
    is_tech = any(worth[id_] >= 2 for id_ in ("technology", "telecom", "semiconductors"))
    if letter == "B" and worth["technology"] >= 2:
        topics.add("technology")
    if letter == "S":
        topics.add("technology" if is_tech else "science")
        unsure.add("science")
    if letter == "H" and worth["climate"] < 2:
        is_medical = worth["health"] or worth["outbreaks"] or text.section != "health"
        (topics if is_medical else unsure).add("health")
    if letter == "K" and worth["law-regulation"]:
        topics.add("law-regulation")
    if text.section.startswith("fin:"):
        unsure.add("companies")
        topics |= {TRADE[text.section[4:]]} if text.section[4:] in TRADE else set()
    elif letter == "B":
        is_firm = worth["companies"] or not any(worth[id_] >= 2 for id_ in ECONOMY)
        (topics if is_firm else unsure).add("companies")
    if text.section == "world":
        topics.add("world")
    return topics, unsure - topics


def fit(
    matrix: csr_matrix, targets: np.ndarray, alpha: float = 3e-6
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights by topic and term, biases, and thresholds by precision (`LEVELS`) and topic."""
    is_test = np.random.RandomState(0).rand(matrix.shape[0]) < 0.1
    slopes, biases, thresholds = [], [], []
    for column in targets.T:
        learnt = (column >= 0) & ~is_test
        model = classifier(alpha).fit(matrix[learnt], column[learnt])
        slopes.append(model.coef_[0])
        biases.append(model.intercept_[0])
        is_judged = (column >= 0) & is_test
        scores = model.decision_function(matrix[is_judged])
        thresholds.append([_threshold(scores, column[is_judged], level) for level in LEVELS])
    return np.array(slopes), np.array(biases), np.array(thresholds).T


def _threshold(scores: np.ndarray, right: np.ndarray, precision: float) -> float:
    order = np.argsort(-scores)
    shares = np.cumsum(right[order] == 1) / np.arange(1, len(order) + 1)
    good = np.flatnonzero(shares >= precision)
    return scores[order][good[-1]] if len(good) else scores.max() + 1


def settling(
    matrix: csr_matrix, vocabulary: list[str], targets: np.ndarray
) -> list[tuple[str, int]]:
    """Terms that settle a topic: seeds that are right, and seeds with a plus that are too rare."""
    columns, places = matrix.tocsc(), {term: at for at, term in enumerate(vocabulary)}
    is_judged = (targets == 0).any(1)  # a text without a section is -1 or 1 throughout
    pairs = set()
    for id_, seed, has_plus in seeds():
        topic, seed_terms = IDS.index(id_), terms(seed, "en")
        if " " in seed or len(seed_terms) != 1:
            continue
        holding = columns[:, places[seed_terms[0]]].indices if seed_terms[0] in places else []
        judgements = targets[[row for row in holding if is_judged[row]], topic]
        if (judgements != 0).mean() >= SETTLING_SHARE if len(judgements) >= TERMS_MIN else has_plus:
            pairs.add((seed_terms[0], topic))
    return sorted(pairs)


def with_settling_terms(rows: dict, biases: np.ndarray, words: list[tuple[str, int]]) -> dict:
    """The rows with weights that settle a topic in a headline."""
    weights = dict(rows)
    for term, topic in words:
        row = weights.get(term, np.zeros(len(IDS))).copy()
        row[topic] = max(row[topic], -biases[topic] * SETTLED_WORDS**0.5)
        weights[term] = row
    return weights


def alignment(pairs: list[tuple[str, str]], language: str) -> tuple[dict, Counter]:
    """For each foreign term the English ones it stands for, by share; and how often it was seen."""
    bags = [
        (set(terms(english, "en")), set(terms(foreign, language))) for english, foreign in pairs
    ]
    chance = defaultdict(lambda: defaultdict(lambda: 1.0))
    for _ in range(8):
        counts, totals = defaultdict(Counter), Counter()
        for english_terms, foreign_terms in bags:
            for foreign in foreign_terms:
                whole = sum(chance[word][foreign] for word in (*english_terms, ""))
                for word in (*english_terms, ""):
                    share = chance[word][foreign] / whole
                    counts[word][foreign] += share
                    totals[word] += share
        chance = defaultdict(lambda: defaultdict(float))
        for word, row in counts.items():
            for foreign, count in row.items():
                chance[word][foreign] = count / totals[word]
    sums, text_counts = defaultdict(Counter), Counter()
    for english_terms, foreign_terms in bags:
        for foreign in foreign_terms:
            text_counts[foreign] += 1
            whole = sum(chance[word][foreign] for word in (*english_terms, "")) or 1.0
            for word in english_terms:
                sums[foreign][word] += chance[word][foreign] / whole
    shares = {
        foreign: {word: count / text_counts[foreign] for word, count in row.items()}
        for foreign, row in sums.items()
    }
    return shares, text_counts


def wiktionary(folder: Path, language: str) -> dict[str, dict[str, float]]:
    """For each foreign term the English ones of its first three meanings, by share."""
    if language not in ("de", "fr"):
        return {}
    shares = defaultdict(Counter)
    for line in corpora.read(
        folder, "gkovacs/grammarvis", f"{corpora.LANGUAGES[language][0]}-eng.txt"
    ).split("\n"):
        match = re.match(r":([^:\s]+):(.*)", line)
        head = terms(match[1], language) if match else []
        if len(head) != 1:
            continue
        bare = re.sub(r"\([^()]*\)|<[^>]*>", "", match[2])
        meanings = [meaning for meaning in map(str.strip, re.split("[,;]", bare)) if meaning][:3]
        often = word_frequency(match[1], language) + 1e-8
        for rank, meaning in enumerate(meanings, 1):
            words = terms(meaning, "en")[:3]
            for word in words:
                shares[head[0]][word] += often / rank / len(words)
    return {
        foreign: {word: count / row.total() for word, count in row.items()}
        for foreign, row in shares.items()
    }


def taken_over(folder: Path, language: str, english: dict[str, np.ndarray]) -> dict:
    """The rows of another language."""
    shares, text_counts = alignment(corpora.parallel(folder, language), language)
    meanings = wiktionary(folder, language)
    zeros = np.zeros(len(IDS))

    def row(table: dict[str, float]) -> np.ndarray:
        strong = ((word, share) for word, share in table.items() if share > 0.08)
        return sum((share * english[word] for word, share in strong if word in english), zeros)

    rows = {}
    for term in {*shares, *meanings}:
        by_text, by_book = text_counts[term], BOOK if term in meanings else 0
        total = by_text * row(shares.get(term, {})) + by_book * row(meanings.get(term, {}))
        rows[term] = total / max(by_text + by_book, 2)
    english_frequencies, foreign_frequencies = often("en"), often(language)
    for term, own in english.items():
        is_known = term in meanings or text_counts[term] > 2 or term.isdigit()
        if (
            not is_known
            and english_frequencies[term]
            and 1 / SAME_RATIO_MAX
            < foreign_frequencies[term] / english_frequencies[term]
            < SAME_RATIO_MAX
        ):
            rows[term] = own
    return rows


def with_own_text(folder: Path, rows: dict, cut: np.ndarray) -> tuple[dict, np.ndarray]:
    """The German rows and biases with what German text teaches."""
    texts_ = [Text("", text[:OWN_CHARACTERS], "", "de") for text in corpora.german(folder)]
    matrix, vocabulary = features(texts_)
    phrase_points = phrases("topic_seeds.de.tsv")
    worth = np.zeros((len(texts_), len(IDS)))
    for row, text in enumerate(texts_):
        for id_, count in points(text, phrase_points).items():
            worth[row, IDS.index(id_)] = count
    scores = scores_of(texts_, rows, cut)
    scores *= OWN_MEAN / scores.mean(0)
    has_topic = ((worth >= 3) & (scores > -3)) | ((worth >= 1) & (scores > 0.3))
    targets = np.where(has_topic, 1, np.where((worth == 0) & (scores < -0.8), 0, -1))
    is_taught = (targets == 1).sum(0) >= OWN_TEXTS_MIN
    slopes, biases, thresholds = fit(matrix, targets[:, is_taught], 1e-5)
    print(f"{len(texts_)} German texts, {is_taught.sum()} topics are taught by them")
    own_rows, own_cut = np.zeros((len(vocabulary), len(IDS))), np.zeros(len(IDS))
    own_rows[:, is_taught] = OWN_SHARE * slopes.T
    own_cut[is_taught] = OWN_SHARE * (biases - thresholds[0])
    total = dict(rows)
    for term, row in zip(vocabulary, own_rows, strict=True):
        total[term] = total.get(term, np.zeros(len(IDS))) + row
    cut = cut + own_cut - OWN_MARGIN
    level = OWN_MEAN / scores_of(texts_, total, cut).mean(0)
    return {term: level * row for term, row in total.items()}, level * cut


def scores_of(texts_: list[Text], rows: dict, cut: np.ndarray) -> np.ndarray:
    """The scores of each text, a column for each topic."""
    scores = np.empty((len(texts_), len(IDS)))
    for at, text in enumerate(texts_):
        known = [rows[term] for term in text.terms if term in rows]
        scores[at] = cut + sum(known, np.zeros(len(IDS))) / max(len(text.terms), 1) ** 0.5
    return scores


def often(language: str) -> Counter[str]:
    frequencies = Counter()
    for word in top_n_list(language, 200_000):
        for term in terms(word, language):
            frequencies[term] += word_frequency(word, language)
    return frequencies


def main() -> None:
    """Fit English, take it over into the others, write those that are asked for, or all."""
    folder, languages = Path(sys.argv[1]), sys.argv[2:] or ["en", *corpora.LANGUAGES]
    texts_ = texts(folder)
    matrix, vocabulary = features(texts_)
    targets = labels(texts_, guessed_sections(texts_, matrix))
    slopes, biases, thresholds = fit(matrix, targets)
    words = settling(matrix, vocabulary, targets)
    english = dict(zip(vocabulary, slopes.T, strict=True))
    print(f"{len(texts_)} texts, {len(vocabulary)} terms, {len(words)} settle")
    for language in languages:
        is_english = language == "en"
        rows = english if is_english else taken_over(folder, language, english)
        cut = biases - thresholds[int(is_english)]
        rows = with_settling_terms(rows, cut, words)
        if language == "de":
            rows, cut = with_own_text(folder, rows, cut)
        weights.write(f"topics.{language}.z", IDS, cut, rows, scale=SCALE)


if __name__ == "__main__":
    main()
