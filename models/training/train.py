"""Train the model. Deterministic for a seed on one machine and one number of threads.

    python train.py --tokenizer ../tiny-qwen3 --out RUN --seed 1

Loss on the assistant's tokens only. Muon for the matrices, AdamW for the embedding and the norms; bf16 copies of fp32
weights. The loss first stays near 0.8 (the format is learnt, copying is not) and then falls within some hundred steps.
"""

from __future__ import annotations

import os

# On shared cores the spinning barriers of OpenMP cost up to ten times the work; read when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import argparse
import itertools
import json
import time
from collections.abc import Iterator
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from batches import Batch, stream
from model import Qwen3, Shape, load_checkpoint, save_checkpoint
from tokenizer import Codec

LOG_EVERY = 25
CHECK_EVERY = 250


def main() -> None:
    options = parse_options()
    options.out.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    torch.use_deterministic_algorithms(True, warn_only=True)

    codec = Codec(options.tokenizer)
    model = load_checkpoint(options.start).train() if options.start else Qwen3(Shape(vocab_size=codec.size()))
    held_out = list(itertools.islice(stream(codec, "development", options.tokens, {"full": 1.0}, held_out=True), 8))
    optimizer = Optimizer(model, options.muon_rate, options.adam_rate)
    started = time.time()
    losses: list[float] = []
    seen = 0
    with open(options.out / "log.jsonl", "a") as log:
        ahead = itertools.islice(schedule(codec, options), options.steps - options.done)
        for step, batch in enumerate(ahead, start=options.done + 1):
            loss = losses_of(model, batch).mean()
            loss.backward()
            rate = rate_at(step, options)
            optimizer.step(rate)
            losses.append(loss.item())
            seen += batch.ids.numel()
            if step % LOG_EVERY and step != options.steps:
                continue
            record = {
                "step": step,
                "loss": round(sum(losses) / len(losses), 4),
                "tokens": seen,
                "seconds": round(time.time() - started),
                "cpu": round(time.process_time()),
                "rate": round(rate, 3),
            }
            losses = []
            if step % CHECK_EVERY == 0 or step == options.steps:
                with torch.no_grad():
                    record["held_out"] = round(torch.cat([losses_of(model, one) for one in held_out]).mean().item(), 4)
                save_checkpoint(str(options.out / "last.pt"), model, step=step)
                if step % options.keep_every == 0:
                    save_checkpoint(str(options.out / f"step-{step}.pt"), model, step=step)
            print(json.dumps(record), flush=True)
            log.write(json.dumps(record) + "\n")
            log.flush()


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokenizer", type=Path, required=True, help="folder with tokenizer.json")
    parser.add_argument("--out", type=Path, required=True, help="folder for checkpoints and log.jsonl")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument(
        "--first-steps", type=int, default=500, help="steps on short dialogues, before the whole mixture"
    )
    parser.add_argument(
        "--long-from", type=float, default=0.5, help="part of the training after which long dialogues join"
    )
    parser.add_argument("--long-share", type=float, default=0.05)
    parser.add_argument("--tokens", type=int, default=6144, help="tokens of a batch, padding included")
    parser.add_argument("--muon-rate", type=float, default=0.02)
    parser.add_argument("--adam-rate", type=float, default=0.003)
    parser.add_argument("--decay", type=float, default=0.5, help="part of the training in which the rate falls")
    parser.add_argument("--start", help="a checkpoint to go on from; the optimizer starts afresh")
    parser.add_argument(
        "--done", type=int, default=0, help="steps that the checkpoint has had: rate and mixture go on from there"
    )
    parser.add_argument("--keep-every", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def schedule(codec: Codec, options: argparse.Namespace) -> Iterator[Batch]:
    """The batches after the first `done` steps. A run that goes on from a checkpoint takes another seed: it would see
    the dialogues of its stage a second time."""
    full_from = options.first_steps
    long_from = max(full_from, int(options.steps * options.long_from))
    for name, share_of, start, end in (
        ("first", {"first": 1.0}, 0, full_from),
        ("full", {"full": 1.0}, full_from, long_from),
        ("long", {"full": 1 - options.long_share, "long": options.long_share}, long_from, options.steps),
    ):
        left = max(0, end - max(start, options.done))
        yield from itertools.islice(stream(codec, f"{options.seed} {name}", options.tokens, share_of), left)


def losses_of(model: Qwen3, batch: Batch) -> Tensor:
    """The loss of every trained token, computed with bf16 copies of the weights."""
    wanted = F.pad(batch.trained[:, 1:], (0, 1)).reshape(-1).nonzero()[:, 0]
    targets = F.pad(batch.ids[:, 1:], (0, 1)).reshape(-1)[wanted]
    weights = {name: parameter.bfloat16() for name, parameter in model.named_parameters()}
    logits = torch.func.functional_call(model, weights, (batch.ids, wanted))
    return F.cross_entropy(logits.float(), targets, reduction="none")


def rate_at(step: int, options: argparse.Namespace) -> float:
    """Warm-up over 60 steps, constant, then linear down to 3 %."""
    warm = min(1.0, step / 60)
    falling_from = options.steps * (1 - options.decay)
    fallen = max(0.0, (step - falling_from) / (options.steps - falling_from))
    return warm * (1 - 0.97 * fallen)


class Optimizer:
    """Muon (momentum made orthogonal by Newton-Schulz) for the layers' matrices, AdamW for the rest."""

    MOMENTUM = 0.95
    SHRINK = 0.02

    def __init__(self, model: Qwen3, muon_rate: float, adam_rate: float) -> None:
        named = list(model.named_parameters())
        self.matrices = [parameter for name, parameter in named if parameter.dim() == 2 and "embed" not in name]
        self.others = [parameter for name, parameter in named if parameter.dim() != 2 or "embed" in name]
        self.momenta = [torch.zeros_like(matrix) for matrix in self.matrices]
        self.muon_rate, self.adam_rate = muon_rate, adam_rate
        self.adam = torch.optim.AdamW(self.others, lr=adam_rate, betas=(0.9, 0.98), weight_decay=0.0)

    @torch.no_grad()
    def step(self, rate: float) -> None:
        torch.nn.utils.clip_grad_norm_(self.others, 1.0)
        for group in self.adam.param_groups:
            group["lr"] = self.adam_rate * rate
        self.adam.step()
        for matrix, momentum in zip(self.matrices, self.momenta):
            momentum.mul_(self.MOMENTUM).add_(matrix.grad)
            update = orthogonal(matrix.grad + self.MOMENTUM * momentum)
            size = max(1.0, matrix.shape[0] / matrix.shape[1]) ** 0.5
            matrix.mul_(1 - self.muon_rate * rate * self.SHRINK).add_(update, alpha=-self.muon_rate * rate * size)
        for parameter in (*self.matrices, *self.others):
            parameter.grad = None


def orthogonal(matrix: Tensor, iterations: int = 5) -> Tensor:
    x = (matrix / (matrix.norm() + 1e-7)).bfloat16()
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    for _ in range(iterations):
        square = x @ x.T
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    return (x.T if tall else x).float()


if __name__ == "__main__":
    main()
