// What messages call the nodes and faces of a mesh.
#pragma once

#include <string>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/core/text.hpp"

namespace isocloth {

/// By default "node 4" and "face 7", counted from 0, as scenes, results and commands number them. Of a text
/// file that numbers them itself, by what is in it: "vertex 5 (line 12)".
struct MeshNames {
  const char* of_node = "node";
  Index first = 0;           ///< number of the first node and face
  std::vector<Index> nodes;  ///< number in the file, from 0, of each node; empty: its own
  std::vector<Index> faces;  ///< number in the file, from 0, of each face; empty: its own
  /// Line of each node and face of the file, from 1; empty: not known.
  std::vector<std::size_t> node_lines, face_lines;

  template <class Number>
  Index number(Number node) const {
    const auto i = static_cast<std::size_t>(node);
    return (i < nodes.size() ? nodes[i] : static_cast<Index>(node)) + first;
  }
  template <class Number>
  std::string node(Number node) const {
    return text(of_node, " ", number(node), line(node_lines, number(node)));
  }
  template <class Number>
  std::string face(Number face) const {
    const auto i = static_cast<std::size_t>(face);
    const Index number = (i < faces.size() ? faces[i] : static_cast<Index>(face)) + first;
    return text("face ", number, line(face_lines, number));
  }
  /// "5 6 9"
  std::string listed(ArrayView<const Index> of_nodes) const {
    std::string all;
    for (const Index node : of_nodes) all += text(all.empty() ? "" : " ", number(node));
    return all;
  }

 private:
  std::string line(const std::vector<std::size_t>& lines, Index number) const {
    const auto i = static_cast<std::size_t>(number - first);
    return i < lines.size() ? text(" (line ", lines[i], ")") : "";
  }
};

}  // namespace isocloth
