"""Writes ratios.json: estimators and corrections of importance ratios, computed by numpy as trainers compute them.

    pip install numpy && python make_ratios.py

The formulas are those of Schulman (k1, k2, k3), TIS (min of ratio and cap), IcePop (mask outside of an interval) and GSPO (geometric
mean over the tokens of a sequence).
"""

import json
from pathlib import Path

import numpy as np

random = np.random.default_rng(42)


def case(count: int, spread: float, cap: float, low: float, high: float) -> dict:
    rollout = np.minimum(0.0, random.normal(-1.0, 1.0, count))
    trainer = np.minimum(0.0, rollout + random.normal(0.0, spread, count))
    log_ratio = trainer - rollout
    ratio = np.exp(log_ratio)
    mask = (ratio >= low) & (ratio <= high)
    return {
        "rollout": rollout.tolist(),
        "trainer": trainer.tolist(),
        "thresholds": {"cap": cap, "low": low, "high": high},
        "k1": float(np.mean(-log_ratio)),
        "k2": float(np.mean(np.square(log_ratio) / 2)),
        "k3": float(np.mean(ratio - 1 - log_ratio)),
        "mean": float(np.mean(ratio)),
        "log_sum": float(np.sum(log_ratio)),
        "geometric_mean": float(np.exp(np.mean(log_ratio))),
        "tis_capped": int(np.sum(ratio > cap)),
        "tis_weight_kept": float(np.sum(np.minimum(ratio, cap)) / np.sum(ratio)),
        "icepop_dropped": int(np.sum(~mask)),
    }


def conversion(temperature: float) -> dict:
    logits = random.normal(3.0, 2.0, 50)
    raw = logits - np.log(np.sum(np.exp(logits)))
    processed = logits / temperature - np.log(np.sum(np.exp(logits / temperature)))
    normaliser = np.log(np.sum(np.exp(raw) ** (1 / temperature)))
    return {
        "temperature": temperature,
        "normaliser": float(normaliser),
        "raw": raw.tolist(),
        "processed": processed.tolist(),
    }


if __name__ == "__main__":
    written = {
        "cases": [
            case(7, 0.5, 2.0, 0.5, 5.0),
            case(64, 0.05, 2.0, 0.5, 5.0),
            case(200, 1.5, 2.0, 0.5, 5.0),
            case(200, 1.0, 1.2, 0.9, 1.1),
        ],
        "conversions": [conversion(0.7), conversion(1.3)],
    }
    Path(__file__).with_name("ratios.json").write_text(json.dumps(written) + "\n")
