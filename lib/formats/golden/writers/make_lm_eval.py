"""Writes samples of lm-evaluation-harness in foreign/: two generated texts of a document, and the choices of another task.

    pip install "lm-eval[api]==0.4.13"
    python lib/formats/golden/writers/make_lm_eval.py

Run in the root of the repository. The model is scripted, so no server is needed. lib/formats/evaluations/lm-eval.test.ts opens the file.
"""
import json
import tempfile
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker


class Scripted(LM):
    tokenizer_name = "scripted"
    replies = iter(["The answer is 425.", "It is 424.", "9"])

    def generate_until(self, requests, **_):
        return [next(self.replies) for _ in requests]

    def loglikelihood(self, requests, **_):
        return [(-0.25 if request.args[1] == " 4" else -1.5, request.args[1] == " 4") for request in requests]

    def loglikelihood_rolling(self, requests, **_):
        return [-12.5 for _ in requests]

    def apply_chat_template(self, history, add_generation_prompt=True):
        return json.dumps(history)


def task(name, rows, **settings):
    data = folder / f"{name}.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {
        "task": name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "doc_to_text": "Q: {{q}}\nA:",
        **settings,
    }


def take(count):
    return {"name": f"take-{count}", "filter": [{"function": "take_first_k", "k": count}]}


match = [{"metric": "exact_match"}]
generated = {"output_type": "generate_until", "generation_kwargs": {"until": ["\n"], "temperature": 0.7}}
with tempfile.TemporaryDirectory() as temporary:
    folder = Path(temporary)
    results = simple_evaluate(
        Scripted(),
        tasks=[
            task("sums", [{"q": "What is 25 * 17?"}], doc_to_target="425", repeats=2, filter_list=[take(2)], metric_list=match, **generated),
            task("roots", [{"q": "The root of 81?"}], doc_to_target="9", metric_list=match, **generated),
            task("choices", [{"q": "2 + 2"}], doc_to_target=1, output_type="multiple_choice", doc_to_choice=["3", "4"], metric_list=[{"metric": "acc"}]),
            task("texts", [{"q": "hi"}], doc_to_text="", doc_to_target="{{q}}", output_type="loglikelihood_rolling", metric_list=[{"metric": "word_perplexity"}]),
        ],
        bootstrap_iters=0,
        log_samples=True,
    )
    tracker = EvaluationTracker(output_path=str(folder / "out"))
    tracker.general_config_tracker.model_name_sanitized = "scripted"
    tracker.date_id = "2026-11-30"
    for name in ("sums", "roots", "choices", "texts"):
        tracker.save_results_samples(name, results["samples"][name])
    written = [next((folder / "out").rglob(f"samples_{name}_*.jsonl")).read_text() for name in ("sums", "roots", "choices", "texts")]
Path("lib/formats/golden/foreign/lm-eval.jsonl").write_text("".join(written))
