#include "engine/mesh/repair.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "engine/core/text.hpp"
#include "engine/mesh/ear_clipping.hpp"
#include "engine/mesh/half_edges.hpp"
#include "engine/mesh/loose_mesh.hpp"
#include "engine/mesh/needles.hpp"
#include "engine/mesh/no_index.hpp"
#include "engine/mesh/part_surfaces.hpp"
#include "engine/mesh/weld.hpp"

namespace isocloth {
namespace {

using Face = LooseMesh::Face;

constexpr Index most_piece_faces = 8;
constexpr std::size_t most_corners = 20'000;  ///< of a polygon: ears are cut in quadratic time

/// "vertices", as the file calls them.
std::string nodes_word(const MeshNames& names) {
  return names.of_node == std::string("vertex") ? "vertices" : text(names.of_node, "s");
}

/// Numbers in the file, from 0, of what is numbered so in the mesh that `numbers` count.
std::vector<Index> composed(const std::vector<Index>& before, const std::vector<Index>& numbers) {
  if (before.empty()) return numbers;
  std::vector<Index> all;
  for (const Index number : numbers) all.push_back(before[static_cast<std::size_t>(number)]);
  return all;
}

/// Counts faults of one kind and remembers the first.
class Count {
 public:
  void add(const std::string& name) {
    if (count_++ == 0) first_ = name;
  }
  void add_to(std::vector<MeshFault>& faults, const std::string& what, const std::string& outcome,
              bool is_left = false) const {
    if (count_ > 0) faults.push_back({what, count_, first_, outcome, is_left});
  }

 private:
  Index count_ = 0;
  std::string first_;
};

/// Cuts polygons, and quads that fold over if those are asked for, too.
void split(LooseMesh& mesh, const MeshNames& names, bool cuts_quads, std::vector<MeshFault>& faults) {
  Count polygons, crossing, folded;
  const std::size_t count = mesh.faces.size();
  EdgeCounts edges;
  if (cuts_quads && std::ranges::any_of(mesh.faces, [&](const Face& face) {
        return face.nodes.size() == 4 && is_folded_quad(mesh, face.nodes);
      }))
    edges = count_edges(mesh);
  std::vector<Face> all;
  for (std::size_t f = 0; f < count; ++f) {
    const Face face = std::move(mesh.faces[f]);
    if (face.nodes.size() == 4 && cuts_quads && is_folded_quad(mesh, face.nodes)) {
      folded.add(names.face(face.number));
      mesh.faces[f] = face;
      if (uncross_quad(mesh, static_cast<Index>(f), edges)) {
        all.push_back(std::move(mesh.faces[f]));
        continue;
      }
      cut_quad(mesh, static_cast<Index>(f));
      all.push_back(std::move(mesh.faces[f]));
      all.push_back(std::move(mesh.faces.back()));
      mesh.faces.pop_back();
      continue;
    }
    if (face.nodes.size() <= 4) {
      all.push_back(face);
      continue;
    }
    std::vector<Vec3d> corners;
    for (const Index node : face.nodes) corners.push_back(mesh.positions[node]);
    const auto triangles =
        face.nodes.size() <= most_corners ? clip_ears(corners) : std::vector<std::array<Index, 3>>{};
    (triangles.empty() ? crossing : polygons).add(names.face(face.number));
    if (triangles.empty()) all.push_back(face);
    for (const auto& triangle : triangles) {
      Face part;
      part.number = face.number;
      for (const Index k : triangle) {
        part.nodes.push_back(face.nodes[static_cast<std::size_t>(k)]);
        if (!face.uvs.empty()) part.uvs.push_back(face.uvs[static_cast<std::size_t>(k)]);
      }
      all.push_back(std::move(part));
    }
  }
  mesh.faces = std::move(all);
  polygons.add_to(faults, "faces of more than 4 corners", "cut into triangles");
  crossing.add_to(faults, "faces of more than 4 corners that cross themselves or have no area",
                  "split or delete them", true);
  folded.add_to(faults, "quads that fold over or cross themselves",
                "cut in two, or their corners put in order");
}

class Repair {
 public:
  Repair(Mesh& mesh, MeshNames& names, const RepairSettings& settings)
      : given_(mesh), names_(names), settings_(settings), mesh_(mesh) {}

  std::vector<MeshFault> run() {
    note_unused();
    drop_impossible_faces();
    drop_repeated_corners();
    drop_repeated_faces();  // which close edges that are open
    weld_open_edges();
    split(mesh_, names_, true, faults_);
    drop_repeated_corners();  // of polygons that a bridge leads through
    drop_repeated_faces();
    repeated_.add_to(faults_, "faces that repeat another", "left out");
    if (has_polygons()) return finished();  // what follows knows triangles and quads alone
    part();
    orient();
    take_out_needles();
    drop_tiny_pieces();
    return finished();
  }

 private:
  std::string node(Index number) const { return names_.node(number); }
  bool is_somewhere(Index node) const {
    if (node < 0 || node >= static_cast<Index>(mesh_.positions.size())) return false;
    const Vec3d& x = mesh_.positions[node];
    return std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z);
  }

  void note_unused() {
    std::vector<char> is_used(mesh_.positions.size(), 0);
    for (const Face& face : mesh_.faces)
      for (const Index node : face.nodes)
        if (node >= 0 && node < static_cast<Index>(is_used.size())) is_used[node] = 1;
    Count unused;
    for (std::size_t i = 0; i < is_used.size(); ++i)
      if (is_used[i] == 0) unused.add(node(static_cast<Index>(i)));
    unused.add_to(faults_, "unused " + nodes_word(names_), "left out");
  }

  void drop_impossible_faces() {
    Count impossible;
    for (Face& face : mesh_.faces)
      if (!std::ranges::all_of(face.nodes, [this](Index node) { return is_somewhere(node); })) {
        impossible.add(names_.face(face.number));
        face.remove();
      }
    impossible.add_to(faults_, text("faces at ", nodes_word(names_), " that do not exist or are nowhere"),
                      "repair or delete them", true);
  }

  void drop_repeated_corners() {
    Count repeated;
    for (Face& face : mesh_.faces) {
      if (!face.is_there()) continue;
      bool found = face.nodes.size() < 3;
      for (std::size_t k = 0; k < face.nodes.size() && face.nodes.size() > 1;)
        if (face.nodes[k] == face.following(k)) {
          face.remove_corner(k);
          found = true;
        } else {
          ++k;
        }
      // Corners that come again later are a bridge of a polygon, and no face of three or four.
      std::vector<Index> sorted = face.nodes;
      std::ranges::sort(sorted);
      const bool comes_again = std::ranges::adjacent_find(sorted) != sorted.end();
      if (face.nodes.size() < 3 || (comes_again && face.nodes.size() <= 4)) {
        found = true;
        face.remove();
      }
      if (found) repeated.add(names_.face(face.number));
    }
    repeated.add_to(faults_, "faces with a corner twice", "without the second, or left out");
  }

  double diagonal() const {
    Vec3d low{HUGE_VAL, HUGE_VAL, HUGE_VAL}, high = -1.0 * low;
    for (const Face& face : mesh_.faces)
      for (const Index node : face.nodes) {
        const Vec3d& x = mesh_.positions[node];
        low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
        high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
      }
    return low.x <= high.x ? norm(high - low) : 0;
  }

  void weld_open_edges() {
    constexpr double split_vertices = 1e-6;  // of the diagonal
    const double distance = settings_.weld < 0 ? split_vertices * diagonal() : settings_.weld;
    std::vector<Index> nodes, faces;
    Mesh mesh = mesh_.tightened(nodes, faces);
    if (mesh.face_count() == 0) return;
    const std::vector<Index> new_of = weld(mesh, distance);
    if (mesh.positions.size() == nodes.size()) return;
    Count united;
    std::vector<Index> first_of(mesh.positions.size(), no_index);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      Index& first = first_of[new_of[i]];
      if (first != no_index)
        united.add(node(nodes[i]));
      else
        first = nodes[i];
    }
    united.add_to(faults_, text(nodes_word(names_), " on others"), "united");
    std::vector<Index> old_to_first(mesh_.positions.size());
    std::iota(old_to_first.begin(), old_to_first.end(), 0);
    for (std::size_t i = 0; i < nodes.size(); ++i) old_to_first[nodes[i]] = first_of[new_of[i]];
    Count vanished;
    for (Face& face : mesh_.faces) {
      if (!face.is_there()) continue;
      for (Index& node : face.nodes) node = old_to_first[node];
      for (std::size_t k = 0; k < face.nodes.size() && face.nodes.size() > 1;)
        if (face.nodes[k] == face.following(k))
          face.remove_corner(k);
        else
          ++k;
      if (face.nodes.size() >= 3) continue;
      vanished.add(names_.face(face.number));
      face.remove();
    }
    vanished.add_to(faults_, "faces of which so no three corners stayed", "left out");
  }

  void drop_repeated_faces() {
    std::map<std::vector<Index>, Index> known;
    for (Face& face : mesh_.faces) {
      if (!face.is_there()) continue;
      std::vector<Index> nodes = face.nodes;
      std::ranges::sort(nodes);
      if (known.emplace(nodes, face.number).second) continue;
      repeated_.add(names_.face(face.number));
      face.remove();
    }
  }

  bool has_polygons() const {
    return std::ranges::any_of(mesh_.faces, [](const Face& face) { return face.nodes.size() > 4; });
  }

  void part() {
    const PartedSurfaces parted = part_surfaces(mesh_);
    if (parted.edge_count > 0)
      faults_.push_back({"edges of more than two faces", parted.edge_count,
                         text("edge ", names_.number(parted.edge[0]), " ", names_.number(parted.edge[1])),
                         "parted", false});
    if (parted.node_count > 0)
      faults_.push_back({nodes_word(names_) + " in which pieces meet alone (bow ties)", parted.node_count,
                         node(parted.node), "parted", false});
  }

  /// Sides of faces that share an edge, in pairs.
  struct Pair {
    Index one, other;
    bool is_turned;
  };
  std::vector<std::vector<Pair>> neighbours() const {
    std::map<std::array<Index, 2>, std::pair<Index, bool>> open;
    std::vector<std::vector<Pair>> found(mesh_.faces.size());
    for (Index f = 0; f < static_cast<Index>(mesh_.faces.size()); ++f) {
      const Face& face = mesh_.faces[f];
      for (std::size_t k = 0; k < face.nodes.size(); ++k) {
        const Index from = face.nodes[k], to = face.following(k);
        const auto [at, is_new] =
            open.try_emplace({std::min(from, to), std::max(from, to)}, std::pair{f, from < to});
        if (is_new) continue;
        const auto [other, ascending] = at->second;
        const bool is_turned = ascending == (from < to);
        found[f].push_back({f, other, is_turned});
        found[other].push_back({other, f, is_turned});
      }
    }
    return found;
  }

  /// Turns the fewer faces of each piece, its first face not where both are as many.
  void orient() {
    const std::vector<std::vector<Pair>> next = neighbours();
    std::vector<signed char> side(mesh_.faces.size(), -1);
    Count turned, one_sided;
    std::vector<Index> to_turn;
    for (Index seed = 0; seed < static_cast<Index>(side.size()); ++seed) {
      if (side[seed] >= 0 || !mesh_.faces[seed].is_there()) continue;
      std::vector<Index> piece{seed};
      side[seed] = 0;
      bool is_one_sided = false;
      for (std::size_t i = 0; i < piece.size(); ++i)
        for (const Pair& pair : next[piece[i]]) {
          const auto expected = static_cast<signed char>(side[piece[i]] ^ (pair.is_turned ? 1 : 0));
          if (side[pair.other] < 0) {
            side[pair.other] = expected;
            piece.push_back(pair.other);
          } else if (side[pair.other] != expected) {
            is_one_sided = true;
          }
        }
      if (is_one_sided) {
        one_sided.add(names_.face(mesh_.faces[seed].number));
        continue;
      }
      const auto others = std::ranges::count_if(piece, [&](Index f) { return side[f] == 1; });
      const signed char fewer = 2 * static_cast<std::size_t>(others) > piece.size() ? 0 : 1;
      for (const Index f : piece)
        if (side[f] == fewer) to_turn.push_back(f);
    }
    std::ranges::sort(to_turn);
    for (const Index f : to_turn) {
      Face& face = mesh_.faces[f];
      turned.add(names_.face(face.number));
      std::reverse(face.nodes.begin() + 1, face.nodes.end());
      if (!face.uvs.empty()) std::reverse(face.uvs.begin() + 1, face.uvs.end());
    }
    turned.add_to(faults_, "faces that run against their piece", "turned");
    one_sided.add_to(faults_, "one-sided pieces (Moebius strips)", "cut them, which nothing says where",
                     true);
  }

  void take_out_needles() {
    const Needles needles = remove_needles(mesh_, settings_.least_altitude);
    if (needles.found > needles.left)
      faults_.push_back({"needles and faces without area", needles.found - needles.left,
                         names_.face(needles.first), "collapsed or flipped", false});
    if (needles.left_without_area.empty()) return;
    Count stuck;
    for (const Index f : needles.left_without_area) {
      stuck.add(names_.face(mesh_.faces[f].number));
      mesh_.faces[f].remove();
    }
    stuck.add_to(faults_, "faces without area that neighbours hold", "left out");
    part_surfaces(mesh_);
  }

  void drop_tiny_pieces() {
    if (!(settings_.least_piece > 0)) return;
    const std::vector<std::vector<Pair>> next = neighbours();
    std::vector<char> seen(mesh_.faces.size(), 0);
    double whole = 0;
    for (const Face& face : mesh_.faces) whole += face.is_there() ? norm(mesh_.area_of(face.nodes)) : 0;
    Count tiny;
    for (Index seed = 0; seed < static_cast<Index>(seen.size()); ++seed) {
      if (seen[seed] != 0 || !mesh_.faces[seed].is_there()) continue;
      std::vector<Index> piece{seed};
      seen[seed] = 1;
      double area = 0;
      for (std::size_t i = 0; i < piece.size(); ++i) {
        area += norm(mesh_.area_of(mesh_.faces[piece[i]].nodes));
        for (const Pair& pair : next[piece[i]])
          if (seen[pair.other] == 0) {
            seen[pair.other] = 1;
            piece.push_back(pair.other);
          }
      }
      if (static_cast<Index>(piece.size()) > most_piece_faces || !(area < settings_.least_piece * whole))
        continue;
      tiny.add(names_.face(mesh_.faces[seed].number));
      for (const Index f : piece) mesh_.faces[f].remove();
    }
    tiny.add_to(faults_, "tiny pieces", "left out");
  }

  std::vector<MeshFault> finished() {
    if (faults_.empty()) return {};
    std::vector<Index> nodes, faces;
    given_ = mesh_.tightened(nodes, faces);
    names_.nodes = composed(names_.nodes, nodes);
    names_.faces = composed(names_.faces, faces);
    return std::move(faults_);
  }

  Mesh& given_;
  MeshNames& names_;
  const RepairSettings& settings_;
  LooseMesh mesh_;
  Count repeated_;  // faces
  std::vector<MeshFault> faults_;
};

}  // namespace

std::vector<MeshFault> repair_mesh(Mesh& mesh, MeshNames& names, const RepairSettings& settings) {
  std::vector<MeshFault> faults = Repair(mesh, names, settings).run();
  // What one repair leaves another may find: a triangle that is gone bares an edge, and so on.
  constexpr int most_rounds = 3;
  bool is_done = faults.empty() || has_left(faults);
  for (int round = 1; round < most_rounds && !is_done; ++round) {
    const std::vector<MeshFault> more = Repair(mesh, names, settings).run();
    is_done = more.empty();
    for (const MeshFault& fault : more)
      if (fault.is_left) faults.push_back(fault);
  }
  return faults;
}

std::string describe(const std::vector<MeshFault>& faults) {
  std::string line;
  for (const MeshFault& fault : faults)
    line += text(line.empty() ? "" : "; ", fault.count, " ", fault.what, " (first ", fault.first, "), ",
                 fault.outcome);
  return line;
}

bool has_left(const std::vector<MeshFault>& faults) {
  return std::ranges::any_of(faults, &MeshFault::is_left);
}

std::vector<MeshFault> split_polygons(Mesh& mesh, MeshNames& names) {
  const auto& begin = mesh.face_begin;
  bool has_polygons = false;
  for (std::size_t f = 0; f + 1 < begin.size(); ++f)
    has_polygons = has_polygons || begin[f + 1] - begin[f] > 4;
  if (!has_polygons) return {};
  LooseMesh loose(mesh);
  std::vector<MeshFault> faults;
  split(loose, names, false, faults);
  Mesh done;  // with all nodes
  done.positions = std::move(mesh.positions);
  std::vector<Index> faces;
  for (const Face& face : loose.faces) {
    done.add_face(face.nodes);
    done.corner_uvs.insert(done.corner_uvs.end(), face.uvs.begin(), face.uvs.end());
    faces.push_back(face.number);
  }
  mesh = std::move(done);
  names.faces = composed(names.faces, faces);
  return faults;
}

std::vector<MeshFault> drop_unused_nodes(Mesh& mesh, MeshNames& names) {
  std::vector<Index> new_of(mesh.positions.size(), no_index), nodes;
  for (const Index node : mesh.face_nodes) new_of[node] = 0;
  Count unused;
  for (Index node = 0; node < mesh.node_count(); ++node) {
    if (new_of[node] == no_index) {
      unused.add(names.node(node));
      continue;
    }
    new_of[node] = static_cast<Index>(nodes.size());
    mesh.positions[nodes.size()] = mesh.positions[node];
    nodes.push_back(node);
  }
  std::vector<MeshFault> faults;
  unused.add_to(faults, "unused " + nodes_word(names), "left out");
  if (faults.empty()) return faults;
  mesh.positions.resize(nodes.size());
  for (Index& node : mesh.face_nodes) node = new_of[node];
  names.nodes = composed(names.nodes, nodes);
  return faults;
}

}  // namespace isocloth
