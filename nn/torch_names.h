#pragma once

#include <attograd/core/named_tensors.h>

// State dicts of PyTorch's nn.MultiheadAttention, TransformerEncoderLayer, TransformerDecoderLayer,
// TransformerEncoder, TransformerDecoder and Transformer, as parameters of the modules here:
//
//   PyTorch                                 here
//   in_proj_weight, in_proj_bias            query, key and value, one below the other
//   q_proj_weight, k_, v_                   their weights, if keys or values have other widths
//   out_proj                                output
//   self_attn, multihead_attn               self_attention, cross_attention
//   linear1, linear2                        feed_forward.up, feed_forward.down
//   norm1, norm2, norm3                     the norms of those branches, in the order they run in
//
// Names and shapes are all that is seen: heads, eps, activation, the order of the norms and the
// score (PyTorch's is the scaled dot product) are for the caller to choose alike.
// A model goes from one to the other, to the bit, as
//   load_state(model, from_torch(state, named_parameters(model)));
//   save_safetensors(path, to_torch(named_parameters(model)));
namespace attograd::nn {

/// Parameters under PyTorch's names. Gradients flow through.
/// Throws    FormatError listing the names that PyTorch's modules have no place for, or for two
///           that get one name there; ShapeError for projections of other widths than d_model, or
///           of which only some have a bias
NamedTensors to_torch(const NamedTensors& parameters);

/// A state dict under the names of `parameters`, those of the module that it is for: views of it,
/// through which gradients flow.
/// Throws    FormatError listing, by PyTorch's names, all that is missing, unexpected or of another
///           shape; as to_torch does
NamedTensors from_torch(const NamedTensors& state, const NamedTensors& parameters);

}  // namespace attograd::nn
