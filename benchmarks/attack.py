"""An attack that succeeds on SelectKBest and fails on PrivateSelectKBest: python -m benchmarks.attack --output FILE.

A table holds 100 people's answers to ten yes/no questions, and a yes/no diagnosis that agrees with each answer with
probability 0.65. The name of the best question is published. The attacker knows the whole table except one diagnosis,
considers yes and no equally likely, and guesses the one that makes the published name more likely. The victim is a
person whose diagnosis decides which question SelectKBest names. Tables without such a person are left out and counted.

Against PrivateSelectKBest, the attacker has the same victim, knows the noise distribution, and uses everything that is
published: the name and the noisy shares of the two diagnoses. No other guess is right more often.
"""

import warnings
from pathlib import Path

import numpy as np
from sklearn.feature_selection import SelectKBest

from benchmarks.output import measure_into_file
from skdpmic import PrivateSelectKBest
from skdpmic.release.kinds import TARGET_SHARE

RESULT = Path(__file__).parent / "results" / "attack.csv"
N_PEOPLE, N_QUESTIONS, AGREES = 100, 10, 0.65
N_TABLES, EPSILON = 2000, 1.0
_PROBABILITIES = (np.arange(4000) + 0.5) / 4000  # midpoints of small intervals, for an integral

# --- Tables -----------------------------------------------------------------------------------------------------------


def random_table(rng):
    """Answers (n_people, n_questions) and diagnoses (n_people,), each 0 or 1."""
    diagnoses = rng.integers(0, 2, N_PEOPLE)
    agrees = rng.random((N_PEOPLE, N_QUESTIONS)) < AGREES
    return np.where(agrees, diagnoses[:, np.newaxis], 1 - diagnoses[:, np.newaxis]), diagnoses


def with_diagnosis(diagnoses, person, value):
    """The diagnoses, with this value for one person."""
    changed = diagnoses.copy()
    changed[person] = value
    return changed


def named_by_select_k_best(answers, diagnoses):
    """The best question, without privacy."""
    return int(SelectKBest(k=1).fit(answers, diagnoses).get_support().argmax())


def find_victim(answers, diagnoses):
    """The first person whose diagnosis decides which question SelectKBest names; None if there is none."""
    named = named_by_select_k_best(answers, diagnoses)
    for person, diagnosis in enumerate(diagnoses):
        if named_by_select_k_best(answers, with_diagnosis(diagnoses, person, 1 - diagnosis)) != named:
            return person
    return None


# --- What the attacker knows about PrivateSelectKBest -----------------------------------------------------------------


def scores_of(answers, diagnoses, share):
    """Noise-free MTVr of each question, given the noisy share of "yes" diagnoses: docs/theory/known_margin.md."""
    n_yes = np.array([diagnoses @ (answers == value) for value in (0, 1)])
    n_no = np.array([(1 - diagnoses) @ (answers == value) for value in (0, 1)])
    return np.abs((1 - share) * n_yes - share * n_no).sum(axis=0) / (len(diagnoses) * max(share, 1 - share))


def name_probabilities(scores, scale):
    """Probability that each question is the best after exponential noise of this scale: (n_questions,).

    An integral over v, the probability that noise is less than that of the best question.
    """
    noise = -scale * np.log1p(-_PROBABILITIES)
    below = noise[:, np.newaxis, np.newaxis] + scores[:, np.newaxis] - scores  # (n_intervals, best, other)
    others = -np.expm1(-np.maximum(below, 0) / scale)
    others[:, np.arange(len(scores)), np.arange(len(scores))] = 1
    return others.prod(axis=2).mean(axis=0)


def likelihood(selector, answers, diagnoses):
    """The likelihood of these diagnoses given what was published, up to a constant factor."""
    share = selector.target_shares_[1]
    error = abs(share * len(diagnoses) - diagnoses.sum())  # discrete Laplace
    names = name_probabilities(scores_of(answers, diagnoses, share), selector.noise_scale_)
    epsilon = selector.privacy_spent_[0]
    return np.exp(-float(TARGET_SHARE) * epsilon * error) * names[selector.get_support().argmax()]


# --- The attack -------------------------------------------------------------------------------------------------------


def guess(likelihoods, rng):
    """The more likely of two diagnoses; a coin toss breaks ties."""
    no, yes = likelihoods
    return int(yes > no) if yes != no else int(rng.integers(2))


def attack(n_tables, epsilon, seed):
    """Attack both selectors' choices on this many tables.

    Returns
    -------
    dict
        Number of right guesses against each selector, and number of tables left out.
    """
    rng = np.random.default_rng(seed)
    right, n_left_out, n_attacked = {"SelectKBest": 0, "PrivateSelectKBest": 0}, 0, 0
    while n_attacked < n_tables:
        answers, diagnoses = random_table(rng)
        victim = find_victim(answers, diagnoses)
        if victim is None:
            n_left_out += 1
            continue
        n_attacked += 1
        truth = int(rng.integers(2))
        tables = [with_diagnosis(diagnoses, victim, value) for value in (0, 1)]

        named = named_by_select_k_best(answers, tables[truth])
        fits = [named == named_by_select_k_best(answers, table) for table in tables]
        right["SelectKBest"] += guess(fits, rng) == truth

        selector = PrivateSelectKBest(k=1, epsilon=epsilon, bounds=(0, 1), classes=[0, 1])
        selector.fit(answers, tables[truth])
        likelihoods = [likelihood(selector, answers, table) for table in tables]
        right["PrivateSelectKBest"] += guess(likelihoods, rng) == truth
    return right | {"left out": n_left_out}


def rows():
    """Rows of the result file: how often the guess was right."""
    warnings.filterwarnings("ignore", "noise will exceed the signal", UserWarning)
    result = attack(N_TABLES, EPSILON, seed=0)
    left_out = result.pop("left out")
    yield ["selector", "epsilon", "tables", "right", "left_out"]
    for selector, right in result.items():
        yield [selector, EPSILON, N_TABLES, right, left_out]


def main(argv=None):
    measure_into_file(__doc__.splitlines()[0], RESULT, rows, argv)


if __name__ == "__main__":
    main()
