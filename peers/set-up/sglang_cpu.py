"""Start SGLang on the CPU: `sglang_cpu.py` with the options of sglang.launch_server.

SGLang pins the memory of captured experts and of LoRA adapters for copies to a GPU, which needs a driver. Here the same
memory is not pinned. This module is imported by every process of the server, so the change applies to all of them.
"""

from __future__ import annotations

import os
import sys
from functools import wraps

import torch
from sglang.srt.mem_cache.pool_host import common


def without_pinning(function):
    """Returns the function, which ignores a request to pin memory."""

    @wraps(function)
    def unpinned(*arguments, **options):
        options.pop("pin_memory", None)
        return function(*arguments, **options)

    return unpinned


for name in ("tensor", "empty", "zeros", "ones", "full"):
    setattr(torch, name, without_pinning(getattr(torch, name)))
torch.Tensor.pin_memory = lambda tensor, *_: tensor
common._cuda_host_register = lambda *_: None

if __name__ == "__main__":
    from sglang.launch_server import run_server
    from sglang.srt.server_args import prepare_server_args
    from sglang.srt.utils import kill_process_tree

    try:
        run_server(prepare_server_args(sys.argv[1:]))
    finally:
        kill_process_tree(os.getpid(), include_parent=False)
