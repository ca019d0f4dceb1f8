"""Writes foreign/vllm-offline.json: outputs of vLLM's LLM.generate, as scripts dump them, with the classes of vLLM.

    pip install vllm==0.33.0
    python lib/formats/golden/writers/make_vllm.py

Run in the root of the repository. lib/formats/replies/vllm-offline.test.ts compares lib/formats with the reply of vLLM's server in
vllm-completion.json, which has the ids and logprobs that these objects get.
"""
import json
from pathlib import Path

from vllm.logprobs import FlatLogprobs, Logprob
from vllm.outputs import CompletionOutput, RequestOutput

FOREIGN = Path("lib/formats/golden/foreign")
reply = json.loads((FOREIGN / "vllm-completion.json").read_text())
[choice] = reply["choices"]
prompt = choice["prompt_token_ids"]
ids = choice["token_ids"]


def position(token, logprob, text, others=()):
    """The sampled token comes first, whatever its rank is."""
    entries = {token: Logprob(logprob, len(others) + 1 if others else 1, text)}
    return entries | {other: Logprob(other_logprob, rank, f"<{other}>") for rank, (other, other_logprob) in enumerate(others, 1)}


listed = choice["prompt_logprobs"]
prompt_logprobs = [entry and {int(token): Logprob(**fields) for token, fields in entry.items()} for entry in listed]
texts = choice["logprobs"]["tokens"]
values = choice["logprobs"]["token_logprobs"]
sampled = [position(*entry) for entry in zip(ids, values, texts)]
# The second sample stops early, and its first token is not the most likely one.
second = [position(ids[0], -2.5, texts[0], [(5, -0.25), (6, -1.5)]), position(ids[1], -0.5, texts[1])]
flat = FlatLogprobs()
for entry in second:
    flat.append(entry)


def output(index, tokens, logprobs, text, reason, stop=None):
    return CompletionOutput(index, text, tokens, None, logprobs, finish_reason=reason, stop_reason=stop)


made = [
    RequestOutput("0", "The prompt", prompt, prompt_logprobs, [output(0, ids, sampled, "".join(texts), "length")], True, num_cached_tokens=2),
    RequestOutput("1", None, prompt, None, [output(0, ids[:2], second, "a", "stop", ids[1]), output(1, ids[:2], flat, "a", "stop", "a")], True),
]
(FOREIGN / "vllm-offline.json").write_text(json.dumps(made, default=vars) + "\n")
