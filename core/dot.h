#pragma once

#include <string>

#include <attograd/core/named_tensors.h>

namespace attograd {

/// The graph that y was computed by, in the language of Graphviz (`dot -Tsvg`): an arrow from each
/// tensor to the operations that use it, every node with its operation, dtype and shape, leaves as
/// boxes with their names (the first 100 bytes of each). Constants are no part of the graph, and
/// what a backward pass freed is gone. Nodes are numbered in the order in which they were recorded,
/// so the same computation gives the same text.
///   std::ofstream("graph.dot") << to_dot(loss, nn::named_parameters(model));
/// Throws    GraphError if y does not require gradients
/// Cost      linear in the graph, whatever its depth
std::string to_dot(const Tensor& y, const NamedTensors& names = {});

}  // namespace attograd
