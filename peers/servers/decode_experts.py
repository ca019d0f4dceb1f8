"""Prints the experts that strands-sglang decodes from rollouts: `decode_experts.py LAYERS PER_LAYER < rollouts.json`."""

import json
import sys

from strands_sglang import Rollout

layers, per_layer = map(int, sys.argv[1:])
rollouts = [Rollout.model_validate(rollout) for rollout in json.load(sys.stdin)]
json.dump([rollout.decode_routed_experts(layers, per_layer).tolist() for rollout in rollouts], sys.stdout)
