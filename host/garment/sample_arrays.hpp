// Samples of a mesh and where their forces go in the nodal system, in the memory of a device.
#pragma once

#include "engine/model/scene.hpp"
#include "host/garment/garment_arrays.hpp"
#include "kernels/contact/contact_arrays.hpp"
#include "kernels/projection/nodal_system.hpp"

namespace isocloth {

struct SampleArrays {
  Index node_count = 0, edge_count = 0, face_count = 0, contacts_per_node = 0, contacts_per_element = 1;
  bool eases = false;
  Buffer<Index> sample_begin, slot_nodes, slot_samples;
  GatherBuffers block_slots, node_slots;

  SampleArrays() = default;
  /// `pattern` has a block for any two free nodes of a face. Without obstacles there are samples of nodes
  /// alone, for what else acts on them. contacts_per_node: at most
  /// most_contacts_per_node; more obstacles at one node are held three at a time. The same of an edge or a
  /// face among bodies; among obstacles alone each keeps two.
  SampleArrays(const Device& device, const Mesh& mesh, const NodalPattern& pattern, const Scene& scene);

  SamplePattern view() const {
    return {.node_count = node_count,
            .edge_count = edge_count,
            .face_count = face_count,
            .contacts_per_node = contacts_per_node,
            .contacts_per_element = contacts_per_element,
            .eases = eases,
            .sample_begin = sample_begin.view(),
            .slot_nodes = slot_nodes.view()};
  }
  std::size_t memory_bytes() const;
};

}  // namespace isocloth
