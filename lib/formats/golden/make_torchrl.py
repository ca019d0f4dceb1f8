"""Writes torchrl.json: outputs of TorchRL's SGLangWrapper from its own classes, in each input mode, padded and not.

    pip install torchrl==0.14.1 torch transformers
    python lib/formats/golden/make_torchrl.py

Run in the root of the repository. torchrl.test.ts compares lib/formats with the file. The server answers with fixed
ids, because only the layout of the wrapper's output matters.
"""
import json
import warnings
from importlib.metadata import version
from pathlib import Path

import torch
from tensordict import TensorDict
from torchrl.data.llm import History
from torchrl.modules.llm.policies import ChatHistory, Text
from torchrl.modules.llm.policies.sglang_wrapper import SGLangWrapper
from transformers import AutoTokenizer

warnings.simplefilter("ignore")
tokenizer = AutoTokenizer.from_pretrained("models/tiny-qwen3")


class Server:
    """Answers the i-th prompt of a batch with i + 1 words."""

    _model_path = None

    def generate(self, prompts=None, *, input_ids=None, **_):
        replies = []
        for i in range(len(prompts if prompts is not None else input_ids)):
            ids = tokenizer.encode(" yes" * (i + 1), add_special_tokens=False) + [tokenizer.eos_token_id]
            scores = [[-0.5 * (k + 1), token, None] for k, token in enumerate(ids)]
            replies.append({"text": tokenizer.decode(ids), "output_ids": ids, "meta_info": {"output_token_logprobs": scores}})
        return replies


def plain(value):
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return [plain(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def batch(mode):
    if mode == "history":
        chats = [[{"role": "user", "content": "hi"}], [{"role": "user", "content": "hi there"}]]
        return TensorDict(history=ChatHistory(prompt=History.from_chats(chats), batch_size=(2,)), batch_size=(2,))
    if mode == "text":
        return TensorDict(text=Text(prompt=["ab", "abcd ef"], batch_size=(2,)), batch_size=(2,))
    return TensorDict(tokens={"prompt": torch.tensor([[1, 2, 73], [1, 2, 74]])}, batch_size=(2,))


cases = []
for mode in ("history", "text", "tokens"):
    for padded in (False, True):
        wrapper = SGLangWrapper(Server(), tokenizer=tokenizer, input_mode=mode, pad_output=padded)
        given = wrapper(batch(mode))
        cases.append({"mode": mode, "padded": padded, "samples": [plain(given[i].to_dict()) for i in range(2)]})
made = {"torchrl": version("torchrl"), "cases": cases}
Path("lib/formats/golden/torchrl.json").write_text(json.dumps(made, separators=(",", ":")) + "\n")
