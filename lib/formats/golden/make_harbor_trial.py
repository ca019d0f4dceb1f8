"""Writes the results of two trials of Harbor in foreign/, with its own classes: a trial of two calls, and one that failed after a summary.

    pip install --no-deps harbor==0.26.0 && pip install pydantic shortuuid pyyaml toml tenacity litellm rich
    python lib/formats/golden/make_harbor_trial.py

Run in the root of the repository. lib/formats/traces/harbor-trial.test.ts opens the file.
"""
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

from harbor.models.agent.context import AgentContext
from harbor.models.task.id import LocalTaskId
from harbor.models.trial.config import AgentConfig, TaskConfig, TrialConfig
from harbor.models.trial.result import AgentInfo, ExceptionInfo, ModelInfo, TrialResult
from harbor.models.verifier.result import VerifierResult

TIME = datetime(2026, 11, 30, tzinfo=UTC)


def trial(number, details, rewards, error=None):
    path = Path("tasks/sum")
    return TrialResult(
        id=UUID(int=number),
        task_name="sum",
        trial_name=f"sum__{number}",
        trial_uri=f"file:///jobs/sum__{number}",
        task_id=LocalTaskId(path=path),
        task_checksum="0",
        config=TrialConfig(task=TaskConfig(path=path), trial_name=f"sum__{number}", agent=AgentConfig(name="terminus-2"), job_id=UUID(int=9)),
        agent_info=AgentInfo(name="terminus-2", version="2.0.0", model_info=ModelInfo(name="tiny-qwen3", provider="hosted_vllm")),
        agent_result=AgentContext(n_input_tokens=8, n_output_tokens=3, rollout_details=details),
        verifier_result=VerifierResult(rewards=rewards),
        exception_info=error,
        started_at=TIME,
        finished_at=TIME,
    ).model_dump_json()


main = {
    "prompt_token_ids": [[1, 2, 3], [1, 2, 3, 10, 11, 4]],
    "completion_token_ids": [[10, 11], [12]],
    "logprobs": [[-0.5, -0.25], [-0.75]],
}
summary = {"prompt_token_ids": [[1, 7, 8]], "completion_token_ids": [[13, 14]], "extra": {"weight_version": ["7"]}}
error = ExceptionInfo(exception_type="AgentTimeoutError", exception_message="timed out", exception_traceback="", occurred_at=TIME)
lines = [trial(1, [main], {"reward": 1.0}), trial(2, [main, summary], {"tests": 0.5, "style": 1}, error)]
Path("lib/formats/golden/foreign/harbor-trials.jsonl").write_text("".join(f"{line}\n" for line in lines))
