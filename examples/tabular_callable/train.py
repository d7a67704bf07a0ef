"""How the score card and the applications of this example were made: `python train.py`, some seconds."""

import json
from pathlib import Path

import numpy as np
from lending.features import to_vector
from lending.scorecard import ScoreCard

HERE = Path(__file__).parent
N_TRAINING, N_PINNED, N_STUMPS, RATE = 4000, 60, 120, 0.2


def draw_application(rng):
    """Return a row and whether the loan was paid back; a tenth of the answers is missing."""
    age = int(rng.integers(19, 78))
    row = {
        "income": round(float(rng.lognormal(10.3, 0.5)), 2),
        "age": age,
        "months_employed": int(rng.integers(0, 12 * (age - 17))),
        "loans": int(rng.poisson(1.2)),
        "arrears": int(rng.poisson(0.4)),
        "amount": int(rng.integers(1, 60)) * 500,
    }
    burden = row["amount"] / row["income"]
    score = 1.6 - 1.4 * burden - 1.1 * row["arrears"] - 0.3 * row["loans"] + 0.006 * row["months_employed"]
    is_paid = bool(rng.random() < 1 / (1 + np.exp(-score)))
    for name in ("income", "months_employed", "arrears"):
        if rng.random() < 0.1:
            row[name] = None
    return row, is_paid


def fit(x, y):
    """Boost stumps by the gradient of the log loss; what was not answered has points of its own."""
    stumps = {name: [] for name in ("column", "threshold", "below", "above", "unanswered")}
    score = np.zeros(len(y))
    for _ in range(N_STUMPS):
        probability = 1 / (1 + np.exp(-score))
        gradient, weight = y - probability, probability * (1 - probability)
        best = max(
            (
                try_stump(x[:, column], threshold, gradient, weight, column)
                for column in range(x.shape[1])
                for threshold in np.unique(np.nanquantile(x[:, column], np.linspace(0.05, 0.95, 19)))
            ),
            key=lambda each: each[0],
        )
        for name, value in zip(stumps, best[1:], strict=True):
            stumps[name].append(value)
        score = score + ScoreCard(*(np.array([value]) for value in best[1:])).score(x)
    return {name: np.array(values) for name, values in stumps.items()}


def try_stump(values, threshold, gradient, weight, column):
    """Return how much a stump would gain, and the stump."""
    missing = np.isnan(values)
    gain, points = 0.0, []
    for rows in (~missing & (values < threshold), ~missing & (values >= threshold), missing):
        total, mass = gradient[rows].sum(), weight[rows].sum() + 1.0
        gain += total**2 / mass
        points.append(RATE * total / mass)
    return gain, column, float(threshold), *points


def main():
    rng = np.random.default_rng(3)
    drawn = [draw_application(rng) for _ in range(N_TRAINING)]
    x = np.stack([to_vector(row) for row, _ in drawn])
    y = np.array([is_paid for _, is_paid in drawn], dtype=np.float64)
    table = fit(x, y)
    np.savez(HERE / "lending/scorecard.npz", **table)
    found = ScoreCard(**table)(x) >= 0.5
    print(f"right on {np.mean(found == y):.1%} of {N_TRAINING} applications ({np.mean(y):.1%} paid back)")
    with (HERE / "applications.jsonl").open("w", encoding="utf-8") as file:
        for number in range(N_PINNED):
            row, _ = draw_application(rng)
            file.write(json.dumps({"id": f"a{number:03d}", **row}) + "\n")


if __name__ == "__main__":
    main()
