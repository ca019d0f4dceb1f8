"""Scores token sequences with transformers in fp32: for each, the logprob of every token given those before it.

    python scores.py MODEL_FOLDER < sequences.json
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM


@torch.no_grad()
def scores(model, ids):
    logits = model(torch.tensor([ids])).logits[0, :-1]
    return torch.log_softmax(logits, -1).gather(1, torch.tensor(ids[1:])[:, None])[:, 0].tolist()


model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()
json.dump([[None, *scores(model, ids)] for ids in json.load(sys.stdin)], sys.stdout)
