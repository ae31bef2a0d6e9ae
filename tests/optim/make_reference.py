#!/usr/bin/python3
"""Writes reference.h: what PyTorch's optimizers and schedules make of 20 steps in float64.

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


def run(make, schedule=None, clip=None, ema=None):
    matrix = torch.tensor([0.5, -1], dtype=torch.float64, requires_grad=True)
    vector = torch.tensor([1.5, 0], dtype=torch.float64, requires_grad=True)
    optimizer = make(matrix, vector)
    if ema is not None:
        model = torch.nn.ParameterList([torch.nn.Parameter(matrix), torch.nn.Parameter(vector)])
        model[0].data, model[1].data = matrix.data, vector.data  # the same memory
        average = torch.optim.swa_utils.AveragedModel(
            model, avg_fn=lambda before, w, count: ema * before + (1 - ema) * w)
        average.update_parameters(model)  # the first update copies
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
        if ema is None:
            trace += matrix.tolist() + vector.tolist()
        else:
            average.update_parameters(model)
            trace += [w for tensor in average.module.parameters() for w in tensor.tolist()]
    return trace


def optimizer(kind):
    return lambda **options: lambda matrix, vector: kind([matrix, vector], **options)


sgd = optimizer(torch.optim.SGD)
adam = optimizer(torch.optim.Adam)
adamw = optimizer(torch.optim.AdamW)
rmsprop = optimizer(torch.optim.RMSprop)


def rates(schedule):
    """Of PyTorch's schedule, over a rate of 0.5."""
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5)
    scheduler = schedule(optimizer)
    trace = []
    for t in range(STEPS):
        trace.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return trace


def noam(width, warmup):
    """With PyTorch's LambdaLR, as the transformer's authors write it, from step 1."""
    return lambda optimizer: torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda t: width**-0.5 * min((t + 1)**-0.5, (t + 1) * warmup**-1.5))


def adamw_groups(matrix, vector):
    return torch.optim.AdamW(
        [{"params": [matrix], "weight_decay": 0.1}, {"params": [vector], "weight_decay": 0}],
        lr=0.05, betas=(0.9, 0.99))


RUNS = {
    "kSgd": run(sgd(lr=0.05)),
    "kSgdMomentum": run(sgd(lr=0.05, momentum=0.9)),
    "kSgdNesterovDecay": run(sgd(lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1)),
    "kSgdDampened": run(sgd(lr=0.05, momentum=0.9, dampening=0.3, weight_decay=0.1)),
    "kSgdClipped": run(sgd(lr=0.05), clip=1.0),
    "kAdam": run(adam(lr=0.05)),
    "kAdamDecay": run(adam(lr=0.1, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.5)),
    "kAdamW": run(adamw()),
    "kAdamWOptions": run(adamw(lr=0.1, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.5)),
    "kAdamWGroups": run(adamw_groups),
    "kAdamWRecipe": run(adamw_groups, lambda t: cosine(t, 0.05, 0.005, 4, 18), clip=1.0),
    "kRmsprop": run(rmsprop()),
    "kRmspropMomentum": run(
        rmsprop(lr=0.02, alpha=0.9, eps=1e-3, momentum=0.8, weight_decay=0.1)),
    "kRmspropCentered": run(rmsprop(lr=0.02, alpha=0.9, centered=True, momentum=0.8)),
    "kEma": run(adam(lr=0.05), ema=0.9),
    "kNoamRates": rates(noam(16, 4)),
    "kStepRates": rates(lambda o: torch.optim.lr_scheduler.StepLR(o, 3, gamma=0.7)),
    "kMilestoneRates": rates(
        lambda o: torch.optim.lr_scheduler.MultiStepLR(o, [2, 9, 9, 15], gamma=0.3)),
}

print(f"""// Written by make_reference.py with PyTorch {torch.__version__}: both parameters (kEma: their
// averages) after each of {STEPS} steps, or the learning rates of the steps.
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
