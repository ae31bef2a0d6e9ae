#!/usr/bin/python3
"""Checks that PyTorch reads our files and agrees with them.

Usage: check_torch.py FOLDER...     (PyTorch 1.13 or later: Debian's python3-torch)

Each .safetensors file names a PyTorch module and its options in its metadata and holds inputs,
parameters under PyTorch's names, results and gradients, in float64 (README.md beside this file).
The module takes the parameters with load_state_dict(strict=True); its results and gradients must
equal the file's to 1e-12 of max(1, the largest). Files of other modules are counted and left alone.
golden_torch_files_test writes such files into the folder named by ATTOGRAD_TORCH_DIR.
"""
import json
import pathlib
import struct
import sys

import numpy
import torch
from torch import nn

TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "BOOL": "?"}


def read(path):
    """The tensors and the metadata of a safetensors file."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + size + offset for offset in entry["data_offsets"])
        numbers = numpy.frombuffer(data[begin:end], TYPES[entry["dtype"]]).copy()
        tensors[name] = torch.from_numpy(numbers.reshape(entry["shape"]))
    return tensors, metadata


def part(tensors, prefix):
    return {n[len(prefix) :]: t for n, t in tensors.items() if n.startswith(prefix)}


def causal(length):
    """PyTorch's polarity: true is hidden."""
    return torch.ones(length, length, dtype=torch.bool).triu(1)


def attention(o, i):
    heads = int(o["num_heads"])
    net = nn.MultiheadAttention(int(o["embed_dim"]), heads, bias=o.get("bias", "True") == "True",
                                kdim=int(o["kdim"]), vdim=int(o["vdim"]), batch_first=True)

    def call(net):
        hidden = (~i["mask"]).repeat_interleave(heads, 0) if "mask" in i else None
        y, weights = net(i["q"], i["k"], i["v"], attn_mask=hidden, average_attn_weights=False)
        return {"y": y, "attn": weights}

    return net, call


def layer(kind):
    def build(o, i):
        net = kind(int(o["d_model"]), int(o["nhead"]), dim_feedforward=int(o["dim_feedforward"]),
                   **options(o))
        hidden = ~i["keep"] if "keep" in i else None
        if kind is nn.TransformerEncoderLayer:
            return net, lambda net: {"y": net(i["x"], src_key_padding_mask=hidden)}
        return net, lambda net: {"y": net(i["x"], i["memory"], tgt_mask=causal(i["x"].shape[1]),
                                          memory_key_padding_mask=hidden)}

    return build


def transformer(o, i):
    net = nn.Transformer(int(o["d_model"]), int(o["nhead"]), int(o["num_encoder_layers"]),
                         int(o["num_decoder_layers"]), int(o["dim_feedforward"]), **options(o))
    hidden = ~i["keep"] if "keep" in i else None
    return net, lambda net: {"y": net(i["source"], i["target"],
                                      tgt_mask=causal(i["target"].shape[1]),
                                      src_key_padding_mask=hidden, memory_key_padding_mask=hidden)}


def options(o):
    return dict(dropout=0, activation=o["activation"], layer_norm_eps=float(o["eps"]),
                batch_first=True, norm_first=o["norm_first"] == "True")


MODULES = {"torch_multihead_attention": attention,
           "encoder_layer": layer(nn.TransformerEncoderLayer),
           "decoder_layer": layer(nn.TransformerDecoderLayer), "transformer": transformer}


def worst_difference(tensors, metadata):
    """The largest |a - b| / max(1, largest |b|) over all results and gradients."""
    inputs = part(tensors, "in.")
    for tensor in inputs.values():
        tensor.requires_grad_(tensor.is_floating_point())
    net, call = MODULES[metadata["module"]](metadata, inputs)
    net.load_state_dict(part(tensors, "param."), strict=True)
    results = call(net)
    (results["y"] * inputs.pop("weight_of_loss")).sum().backward()
    found = {"out." + name: tensor for name, tensor in results.items()}
    found.update({"grad.in." + n: t.grad for n, t in inputs.items() if t.is_floating_point()})
    found.update({"grad.param." + n: t.grad for n, t in net.named_parameters()})
    right = {n: t for n, t in tensors.items() if n.startswith(("out.", "grad."))}
    if found.keys() != right.keys():
        raise ValueError(f"other tensors: {sorted(found.keys() ^ right.keys())}")
    worst = 0.0
    for name, b in right.items():
        if found[name].shape != b.shape:
            raise ValueError(f"{name}: {tuple(found[name].shape)} and {tuple(b.shape)}")
        difference = (found[name] - b).abs().max() / max(1.0, b.abs().max())
        worst = max(worst, difference.item(), key=lambda x: (x != x, x))  # NaN is the worst
    return worst


def main(folders):
    torch.set_default_dtype(torch.float64)
    checked, others, failed = 0, 0, 0
    for path in sorted(p for folder in folders for p in pathlib.Path(folder).glob("*.safetensors")):
        tensors, metadata = read(path)
        if metadata.get("module") not in MODULES:
            others += 1
            continue
        worst = worst_difference(tensors, metadata)
        agrees = worst <= 1e-12
        checked, failed = checked + 1, failed + (not agrees)
        print(f"{'agrees' if agrees else 'DIFFERS'}  {worst:.1e}  {path.name}")
    print(f"PyTorch {torch.__version__}: {checked} files, {failed} differ; {others} of other modules")
    return 1 if failed or not checked else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
