"""Qwen3 in plain torch, with the parameter names of transformers' Qwen3ForCausalLM."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


@dataclass(frozen=True)
class Shape:
    """The sizes, under the names that config.json uses."""

    vocab_size: int = 1024
    hidden_size: int = 192
    intermediate_size: int = 448
    num_hidden_layers: int = 6
    num_attention_heads: int = 4
    num_key_value_heads: int = 4
    head_dim: int = 32
    rms_norm_eps: float = 1e-6
    rope_theta: float = 10000.0
    max_position_embeddings: int = 4096


class Qwen3(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.model = Decoder(shape)
        cosine, sine = rotation_table(shape)
        self.register_buffer("cosine", cosine, persistent=False)
        self.register_buffer("sine", sine, persistent=False)
        self.initialise()

    def initialise(self) -> None:
        for name, parameter in self.named_parameters():
            if "embed_tokens" in name:
                nn.init.normal_(parameter, std=0.02)
            elif parameter.dim() == 2:
                # what writes into the residual stream starts smaller
                scale = 0.5 if name.endswith(("o_proj.weight", "down_proj.weight")) else 1.0
                nn.init.normal_(parameter, std=scale * parameter.shape[1] ** -0.5)

    def hidden(self, ids: Tensor) -> Tensor:
        length = ids.shape[1]
        return self.model(ids, self.cosine[:length], self.sine[:length])

    def logits(self, hidden: Tensor) -> Tensor:
        return F.linear(hidden, self.model.embed_tokens.weight)

    def forward(self, ids: Tensor, wanted: Tensor | None = None) -> Tensor:
        """wanted: indices into the flattened positions; logits elsewhere are never needed in training."""
        hidden = self.hidden(ids).reshape(-1, self.shape.hidden_size)
        return self.logits(hidden if wanted is None else hidden[wanted])


class Decoder(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocab_size, shape.hidden_size)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.num_hidden_layers))
        self.norm = Norm(shape.hidden_size, shape.rms_norm_eps)

    def forward(self, ids: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        x = self.embed_tokens(ids)
        cosine, sine = cosine.to(x.dtype), sine.to(x.dtype)
        for layer in self.layers:
            x = layer(x, cosine, sine)
        return self.norm(x)


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = FeedForward(shape)
        self.input_layernorm = Norm(shape.hidden_size, shape.rms_norm_eps)
        self.post_attention_layernorm = Norm(shape.hidden_size, shape.rms_norm_eps)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cosine, sine)
        return x + self.mlp(self.post_attention_layernorm(x))


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.heads, self.groups, self.dim = shape.num_attention_heads, shape.num_key_value_heads, shape.head_dim
        self.q_proj = nn.Linear(shape.hidden_size, self.heads * self.dim, bias=False)
        self.k_proj = nn.Linear(shape.hidden_size, self.groups * self.dim, bias=False)
        self.v_proj = nn.Linear(shape.hidden_size, self.groups * self.dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.dim, shape.hidden_size, bias=False)
        self.q_norm = Norm(self.dim, shape.rms_norm_eps)
        self.k_norm = Norm(self.dim, shape.rms_norm_eps)

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        rows, length, _ = x.shape
        query = self.q_norm(self.q_proj(x).view(rows, length, self.heads, self.dim)).transpose(1, 2)
        key = self.k_norm(self.k_proj(x).view(rows, length, self.groups, self.dim)).transpose(1, 2)
        value = self.v_proj(x).view(rows, length, self.groups, self.dim).transpose(1, 2)
        query, key = rotate(query, cosine, sine), rotate(key, cosine, sine)
        repeats = self.heads // self.groups
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.o_proj(mixed.transpose(1, 2).reshape(rows, length, -1))


class FeedForward(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.up_proj = nn.Linear(shape.hidden_size, shape.intermediate_size, bias=False)
        self.down_proj = nn.Linear(shape.intermediate_size, shape.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Norm(nn.Module):
    def __init__(self, size: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return F.rms_norm(x, (x.shape[-1],), self.weight, self.epsilon)


def rotation_table(shape: Shape) -> tuple[Tensor, Tensor]:
    frequencies = 1.0 / shape.rope_theta ** (torch.arange(0, shape.head_dim, 2).float() / shape.head_dim)
    angles = torch.arange(shape.max_position_embeddings).float()[:, None] * frequencies[None]
    angles = torch.cat((angles, angles), -1)
    return angles.cos(), angles.sin()


def rotate(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    left, right = x.chunk(2, -1)
    return x * cosine + torch.cat((-right, left), -1) * sine


def save_checkpoint(path: str, model: Qwen3, **more: Any) -> None:
    torch.save({"shape": asdict(model.shape), "weights": model.state_dict(), **more}, path)


def load_checkpoint(path: str) -> Qwen3:
    content = torch.load(path, map_location="cpu", weights_only=True)
    model = Qwen3(Shape(**content["shape"]))
    model.load_state_dict(content["weights"])
    return model.eval()
