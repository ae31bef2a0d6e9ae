#pragma once

#include <array>
#include <cstdint>

namespace attograd::kernels {

/// Distances between elements of a [B, H, T, D] view; the last axis is contiguous. Heads that lie
/// side by side in memory [B, T, H, D] are the strides {T H D, D, H D}: no copy.
struct HeadStrides {
  int64_t batch = 0, head = 0, row = 0;
};

/// What attention computes, without the operands.
struct AttentionSpec {
  int64_t batch = 0, heads = 0;        // B, H
  int64_t queries = 0, keys = 0;       // T, S
  int64_t width = 0, value_width = 0;  // D, Dv
  double scale = 1;
  bool causal = false;         // query i sees the keys j <= i + S - T
  const bool* keep = nullptr;  // [B, H, T, S]: true where a query may look; null: everywhere
  std::array<int64_t, 4> keep_strides = {};  // 0 along an axis that is broadcast
};

/// y = softmax(scale q k^T, masked) v (Vaswani et al. 2017, eq. 1), the weights never stored whole.
/// Shapes  q [B, H, T, D], k [B, H, S, D], v [B, H, S, Dv], y [B, H, T, Dv], all strided;
///         logsumexp [B, H, T] contiguous: of each row's scores, -inf for a row that may see
///         nothing
/// A row that may see nothing has y = 0. What is masked never enters: NaN or inf in a masked key
/// changes nothing.
/// Cost    keys beyond the causal limit are skipped; O(1) extra memory per thread;
/// parallel over B H and blocks of T
template <class T>
void attention(const AttentionSpec& spec, const T* q, HeadStrides q_strides, const T* k,
               HeadStrides k_strides, const T* v, HeadStrides v_strides, T* y,
               HeadStrides y_strides, T* logsumexp);

/// With p = exp(scale q k^T - logsumexp), dp = g v^T and ds = p (dp - sum over Dv of g y):
/// dv = p^T g, dq = scale ds k, dk = scale ds^T q. The weights are computed again (Dao et al. 2022,
/// algorithm 4). A row that may see nothing contributes exactly 0.
/// Shapes  g and y like the output, dq like q, dk like k, dv like v, all strided and overwritten
template <class T>
void attention_vjp(const AttentionSpec& spec, const T* g, HeadStrides g_strides, const T* q,
                   HeadStrides q_strides, const T* k, HeadStrides k_strides, const T* v,
                   HeadStrides v_strides, const T* y, HeadStrides y_strides, const T* logsumexp,
                   T* dq, HeadStrides dq_strides, T* dk, HeadStrides dk_strides, T* dv,
                   HeadStrides dv_strides);

}  // namespace attograd::kernels
