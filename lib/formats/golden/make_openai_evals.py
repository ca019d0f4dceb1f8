"""Writes the log of a run of OpenAI's evals in foreign/, with its own recorder.

    pip install --no-deps evals==3.0.1.post1 && pip install pydantic
    python lib/formats/golden/make_openai_evals.py

Run in the root of the repository. lib/formats/evaluations/openai-evals.test.ts opens the file. The modules for models and clouds are empty.
"""
import json
import sys
import tempfile
from pathlib import Path
from unittest.mock import MagicMock

for module in ("api", "completion_fns", "completion_fns.openai", "eval", "utils.snowflake"):
    sys.modules[f"evals.{module}"] = MagicMock()
for module in ("blobfile", "requests", "lz4", "lz4.frame", "pyzstd", "zstandard", "openai"):
    sys.modules[module] = MagicMock()
sys.modules["blobfile"].BlobFile = open
from evals.base import RunSpec
from evals.record import LocalRecorder

question = [{"role": "system", "content": "Answer."}, {"role": "user", "content": "25 * 17?"}]
follow = [*question, {"role": "assistant", "content": "424"}, {"role": "user", "content": "Sure?"}]
spec = RunSpec(["tiny-qwen3"], "sums.dev.v0", "sums", "dev", {"seed": 1}, "")
with tempfile.TemporaryDirectory() as folder:
    log = Path(folder, "run.jsonl")
    recorder = LocalRecorder(str(log), spec)
    with recorder.as_default_recorder("sums.dev.0"):
        recorder.record_raw({"input": question, "ideal": "425"})
        recorder.record_sampling(prompt=question, sampled="424", model="tiny-qwen3", usage={"prompt_tokens": 9, "completion_tokens": 2})
        recorder.record_sampling(prompt=follow, sampled=["425"], model="tiny-qwen3")
        recorder.record_match(True, expected="425", picked="425", sampled="425")
    with recorder.as_default_recorder("sums.dev.1"):
        recorder.record_sampling(prompt="The root of 81 is", sampled=[" 9", " 3"])
        recorder.record_metrics(accuracy=0.5, f1_score=0.5)
    with recorder.as_default_recorder("sums.dev.2"):
        recorder.record_sampling(prompt="hi", sampled=[])
        recorder.record_error("gone", ValueError("no reply"))
    recorder.flush_events()
    recorder.record_final_report({"accuracy": 0.5})
    records = [json.loads(line) for line in log.read_text().splitlines()]
for record in records:
    record.get("spec", record).update(run_id="run1")
    if "spec" in record:
        record["spec"]["created_at"] = "2026-11-30 00:00:00"
    if "created_at" in record:
        record["created_at"] = f"2026-11-30 00:00:0{record['event_id']}.000000+00:00"
lines = [json.dumps(record) + "\n" for record in records]
Path("lib/formats/golden/foreign/openai-evals.jsonl").write_text("".join(lines))
