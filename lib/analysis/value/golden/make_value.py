"""Writes value.json: intervals of means and one-sided tests, computed by scipy.

    pip install scipy && python make_value.py

Clopper-Pearson is scipy.stats.binomtest(…).proportion_ci('exact'), Student's interval scipy.stats.t.interval, and the tests are
scipy.stats.fisher_exact and scipy.stats.ttest_ind with the alternative that the first sample is larger. Holm's correction is written
out, because scipy has only other ones.
"""

import json
from pathlib import Path

import numpy as np
from scipy import stats

random = np.random.default_rng(42)


def binary_interval(passed: int, n: int, error: float) -> dict:
    interval = stats.binomtest(passed, n).proportion_ci(1 - error, method="exact")
    return {"passed": passed, "n": n, "error": error, "low": float(interval.low), "high": float(interval.high)}


def student_interval(rewards: list[float], error: float) -> dict:
    low, high = stats.t.interval(1 - error, len(rewards) - 1, loc=np.mean(rewards), scale=stats.sem(rewards))
    return {"rewards": rewards, "error": error, "low": max(0.0, float(low)), "high": min(1.0, float(high))}


def fisher(before: tuple[int, int], after: tuple[int, int]) -> dict:
    table = [[before[0], before[1] - before[0]], [after[0], after[1] - after[0]]]
    return {"before": before, "after": after, "p": float(stats.fisher_exact(table, alternative="greater").pvalue)}


def student_drop(before: list[float], after: list[float]) -> dict:
    return {
        "before": before,
        "after": after,
        "p": float(stats.ttest_ind(before, after, equal_var=True, alternative="greater").pvalue),
    }


def holm(values: list[float]) -> dict:
    adjusted = np.empty(len(values))
    largest = 0.0
    for rank, index in enumerate(np.argsort(values)):
        largest = max(largest, min(1.0, (len(values) - rank) * values[index]))
        adjusted[index] = largest
    return {"values": values, "adjusted": adjusted.tolist()}


def rewards(count: int) -> list[float]:
    return np.round(random.beta(2, 1, count), 3).tolist()


if __name__ == "__main__":
    written = {
        "binary": [
            binary_interval(passed, n, error)
            for n in (2, 8, 16, 64)
            for passed in sorted({0, 1, n // 3, n // 2, n - 1, n})
            for error in (0.05, 0.05 / 14, 0.05 / 64)
        ],
        "student": [
            student_interval(rewards(n), error) for n in (2, 3, 4, 8, 13, 64) for error in (0.05, 0.05 / 14)
        ],
        "tails": [
            {"t": t, "degrees": degrees, "p": float(stats.t.sf(t, degrees))}
            for t in (-2.5, 0.0, 0.3, 1.0, 2.0, 7.0)
            for degrees in (1, 2, 3, 4, 7, 14, 63, 126)
        ],
        "fisher": [
            fisher(before, after)
            for before, after in [
                ((8, 8), (0, 8)),
                ((8, 8), (2, 8)),
                ((5, 8), (1, 8)),
                ((1, 8), (5, 8)),
                ((0, 8), (0, 8)),
                ((8, 8), (8, 8)),
                ((7, 8), (3, 6)),
                ((60, 64), (31, 64)),
            ]
        ],
        "drops": [student_drop(rewards(n), rewards(m)) for n, m in ((2, 2), (8, 8), (8, 5), (64, 64))],
        "holm": [holm(values) for values in ([0.01, 0.04, 0.03], [0.2, 0.2], [0.001, 0.9, 0.02, 0.0004])],
    }
    Path(__file__).with_name("value.json").write_text(json.dumps(written, indent=1) + "\n")
