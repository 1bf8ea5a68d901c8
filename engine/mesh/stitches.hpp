// Nodes that are sewn together count as one where features are told apart.
#pragma once

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Of each node the lowest of those that it is sewn to, directly or by way of others, itself included; shape
/// [node_count].
std::vector<Index> sewn_nodes(const Mesh& mesh);

}  // namespace isocloth
