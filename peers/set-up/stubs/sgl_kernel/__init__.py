"""Replaces sgl_kernel, which needs CUDA, by the names that SGLang imports without a guard on a CPU.

Names without a torch equivalent here fail when they are called. Every other name raises an ImportError, after which
SGLang uses its own torch fallbacks.
"""

__version__ = "0.0.0+cpu"


def assign_req_to_token_pool_cpu(
    req_pool_indices, req_to_token, start_offset, end_offset, out_cache_loc, pool_len
):
    taken = 0
    spans = zip(req_pool_indices.tolist(), start_offset.tolist(), end_offset.tolist())
    for row, start, end in spans:
        length = end - start
        req_to_token[row, start:end] = out_cache_loc[taken : taken + length].to(req_to_token.dtype)
        taken += length


def _absent(name):
    def call(*_args, **_kwargs):
        raise NotImplementedError(f"sgl_kernel.{name} is not there on a CPU")

    return call


for _name in (
    "copy_all_layer_kv_cache_cpu",
    "rotate_input_ids_cpu",
    "fill_accept_out_cache_loc_cpu",
    "fill_bonus_tokens_cpu",
    "assign_draft_cache_locs_contiguous_cpu",
    "assign_extend_cache_locs_cpu",
    "build_tree_kernel_efficient_cpu",
    "verify_tree_greedy_cpu",
):
    globals()[_name] = _absent(_name)
