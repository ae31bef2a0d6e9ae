#!/usr/bin/python3
"""Writes reference.h: what PyTorch's optimizers make of 20 steps in float64.

Usage: make_reference.py > reference.h     (PyTorch 1.13: Debian's python3-torch)

The parameters are matrix = [0.5, -1] and vector = [1.5, 0]. The gradient of entry i of the four is
w^3 - 2 cos(t + 3 i) at step t = 0, 1, ..., so that a deviation feeds back.
"""
import math

import torch

STEPS = 20


def gradient(w, first, t):
    angles = t + 3 * torch.arange(first, first + w.numel(), dtype=torch.float64)
    return w**3 - 2 * torch.cos(angles)


def cosine(step, peak, minimum, warmup, total):
    """nanoGPT's schedule."""
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    if step > total:
        return minimum
    ratio = (step - warmup) / (total - warmup)
    return minimum + 0.5 * (1 + math.cos(math.pi * ratio)) * (peak - minimum)


def run(make, schedule=None, clip=None):
    matrix = torch.tensor([0.5, -1], dtype=torch.float64, requires_grad=True)
    vector = torch.tensor([1.5, 0], dtype=torch.float64, requires_grad=True)
    optimizer = make(matrix, vector)
    trace = []
    for t in range(STEPS):
        matrix.grad = gradient(matrix.detach(), 0, t)
        vector.grad = gradient(vector.detach(), 2, t)
        if clip is not None:
            torch.nn.utils.clip_grad_norm_([matrix, vector], clip)
        if schedule is not None:
            for group in optimizer.param_groups:
                group["lr"] = schedule(t)
        optimizer.step()
        trace += matrix.tolist() + vector.tolist()
    return trace


def sgd(**options):
    return lambda matrix, vector: torch.optim.SGD([matrix, vector], **options)


def adamw(**options):
    return lambda matrix, vector: torch.optim.AdamW([matrix, vector], **options)


def adamw_groups(matrix, vector):
    return torch.optim.AdamW(
        [{"params": [matrix], "weight_decay": 0.1}, {"params": [vector], "weight_decay": 0}],
        lr=0.05, betas=(0.9, 0.99))


RUNS = {
    "kSgd": run(sgd(lr=0.05)),
    "kSgdMomentum": run(sgd(lr=0.05, momentum=0.9)),
    "kSgdNesterovDecay": run(sgd(lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1)),
    "kSgdClipped": run(sgd(lr=0.05), clip=1.0),
    "kAdamW": run(adamw()),
    "kAdamWOptions": run(adamw(lr=0.1, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.5)),
    "kAdamWGroups": run(adamw_groups),
    "kAdamWRecipe": run(adamw_groups, lambda t: cosine(t, 0.05, 0.005, 4, 18), clip=1.0),
}

print(f"""// Written by make_reference.py with PyTorch {torch.__version__}: both parameters after each of
// {STEPS} steps.
#pragma once

#include <vector>

namespace attograd::optim::reference {{

// clang-format off""")
for name, trace in RUNS.items():
    print(f"\ninline const std::vector<double> {name}{{")
    for i in range(0, len(trace), 4):
        print("    " + " ".join(f"{value!r}," for value in trace[i:i + 4]))
    print("};")
print("\n// clang-format on\n\n}  // namespace attograd::optim::reference")
