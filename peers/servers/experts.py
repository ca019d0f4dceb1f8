"""Prints the experts that transformers chooses for each token, layer by layer.

    python experts.py MODEL_FOLDER < sequences.json
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32).eval()
chosen = []
with torch.no_grad():
    for ids in json.load(sys.stdin):
        layers = model(torch.tensor([ids]), output_router_logits=True).router_logits
        experts = [logits.topk(model.config.num_experts_per_tok).indices for logits in layers]
        chosen.append(torch.stack(experts, dim=1).tolist())
json.dump(chosen, sys.stdout)
