#include "host/run/unclosed_seams.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "engine/core/text.hpp"
#include "engine/mesh/weld.hpp"
#include "host/run/rounded.hpp"

namespace isocloth {
namespace {

/// Something that pushes cloth.
struct Holder {
  double force = 0;     ///< sum of the sizes of its forces [N]
  double greatest = 0;  ///< [N]
  Vec3d place;          ///< where the greatest acts [m]

  void add(double size, const Vec3d& at) {
    force += size;
    if (size > greatest) greatest = size, place = at;
  }
};

/// A garment as pieces of cloth, and ways through them.
class Pieces {
 public:
  Pieces(const Mesh& mesh, const std::vector<Vec3d>& positions)
      : mesh_(mesh),
        positions_(positions),
        neighbours_(mesh.positions.size()),
        sewn_(mesh.positions.size()),
        of_(mesh.positions.size()) {
    std::iota(of_.begin(), of_.end(), Index{0});
    for (Index f = 0; f < mesh.face_count(); ++f) {
      const auto face = mesh.face(f);
      for (std::size_t i = 0; i < face.size(); ++i) {
        const Index a = face[i], b = face[(i + 1) % face.size()];
        neighbours_[at(a)].push_back(b);
        neighbours_[at(b)].push_back(a);
        of_[at(top(a))] = top(b);
      }
    }
    for (const Stitch& stitch : mesh.stitches) {
      sewn_[at(stitch.a)].push_back(stitch.b);
      sewn_[at(stitch.b)].push_back(stitch.a);
    }
    for (Index i = 0; i < mesh.node_count(); ++i) of_[at(i)] = top(i);
  }

  Index of(Index node) const { return of_[at(node)]; }

  /// By how much the shortest way from one end of a thread to the other, through cloth and other seams, open
  /// ones too, is shorter than one that is closed, as a share; none where no way joins them. `is_own`:
  /// whether a thread is of the same seam, and no way.
  template <class IsOwn>
  std::optional<double> shortage(const Stitch& thread, double opening, const IsOwn& is_own) const {
    std::vector<double> length(positions_.size(), std::numeric_limits<double>::infinity());
    std::vector<double> at_rest(positions_.size(), 0);
    using Entry = std::pair<double, Index>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    length[at(thread.a)] = 0;
    queue.push({0, thread.a});
    while (!queue.empty()) {
      const auto [so_far, i] = queue.top();
      queue.pop();
      if (so_far > length[at(i)]) continue;
      if (i == thread.b) break;
      const auto visit = [&](Index j, double rest) {
        const double next = length[at(i)] + norm(positions_[at(i)] - positions_[at(j)]);
        if (next >= length[at(j)]) return;
        length[at(j)] = next;
        at_rest[at(j)] = at_rest[at(i)] + rest;
        queue.push({next, j});
      };
      for (const Index j : neighbours_[at(i)])
        visit(j, norm(mesh_.positions[at(i)] - mesh_.positions[at(j)]));
      for (const Index j : sewn_[at(i)])
        if (!is_own(i, j)) visit(j, 0);
    }
    if (!std::isfinite(length[at(thread.b)])) return {};
    const double asked = length[at(thread.b)] + opening;
    return (asked - at_rest[at(thread.b)]) / asked;
  }

 private:
  static std::size_t at(Index i) { return static_cast<std::size_t>(i); }
  Index top(Index i) {
    while (of_[at(i)] != i) i = of_[at(i)] = of_[at(of_[at(i)])];
    return i;
  }

  const Mesh& mesh_;
  const std::vector<Vec3d>& positions_;
  std::vector<std::vector<Index>> neighbours_, sewn_;
  std::vector<Index> of_;
};

std::array<Index, 2> sorted(Index a, Index b) { return {std::min(a, b), std::max(a, b)}; }

const std::string& name_of(const SeamNames& names, std::size_t stitch) {
  return names.names[static_cast<std::size_t>(names.of_stitches[stitch])];
}

Index nearest_node(const std::vector<Vec3d>& positions, const Vec3d& p) {
  const auto nearest = std::ranges::min_element(positions, {}, [&](const Vec3d& q) { return norm(q - p); });
  return static_cast<Index>(nearest - positions.begin());
}

/// What holds the cloth of a garment, each by its name in words.
class Holders {
 public:
  Holders(const Simulation& simulation, std::size_t garment, const std::vector<std::vector<Vec3d>>& positions)
      : scene_(simulation.scene()), garment_(garment), positions_(positions) {
    if (scene_.obstacles.size() + scene_.bodies.size() > 0)
      for (const ContactPoint& point : simulation.contact_points(garment)) {
        const auto number = static_cast<std::size_t>(point.body);
        const std::string& name = number < scene_.obstacles.size()
                                      ? scene_.obstacles[number].name
                                      : scene_.bodies[number - scene_.obstacles.size()].name;
        pushes_.push_back(
            {nearest_node(positions[garment], point.position), norm(point.force), text("by \"", name, "\"")});
      }
    if (scene_.contact.cloth) add_cloths(simulation.cloth_loads());
  }

  /// Those of the pieces that `is_of` says, the strongest first; at most two that push with a tenth of it.
  template <class IsOf>
  std::vector<std::string> words(const IsOf& is_of) const {
    std::map<std::string, Holder> found;
    for (const Push& push : pushes_)
      if (is_of(push.node))
        found[push.name].add(push.force, positions_[garment_][static_cast<std::size_t>(push.node)]);
    std::vector<std::pair<std::string, Holder>> strongest(found.begin(), found.end());
    std::ranges::sort(strongest, std::greater<>(), [](const auto& each) { return each.second.force; });
    std::vector<std::string> lines;
    for (const auto& [name, holder] : strongest) {
      if (lines.size() == 2 || !(holder.force > 0.1 * strongest.front().second.force)) break;
      if (!(holder.force > 1e-3)) break;  // it only touches
      lines.push_back(text("held ", name, ", with ", rounded(holder.force), " N, most at (",
                           rounded(holder.place.x), " ", rounded(holder.place.y), " ",
                           rounded(holder.place.z), ")"));
    }
    return lines;
  }

 private:
  struct Push {
    Index node = 0;
    double force = 0;  ///< [N]
    std::string name;
  };

  /// Loads say nothing of who pushes: it is the nearest node of another garment that is pushed, too, and
  /// where none is within two elements, the garment itself.
  void add_cloths(const std::vector<ClothLoads>& loads) {
    const std::vector<double>& own = loads[garment_].loads;
    const double within = 2 * mean_element_size(scene_.garments[garment_].mesh);
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!(own[i] > 0)) continue;
      const Vec3d& p = positions_[garment_][i];
      double nearest = std::numeric_limits<double>::infinity();
      std::size_t other = garment_;
      for (std::size_t g = 0; g < loads.size(); ++g)
        for (std::size_t j = 0; g != garment_ && j < loads[g].loads.size(); ++j)
          if (const double d = norm(positions_[g][j] - p); loads[g].loads[j] > 0 && d < nearest)
            nearest = d, other = g;
      const bool is_other = nearest < within;
      pushes_.push_back({static_cast<Index>(i), own[i],
                         is_other ? text("by \"", scene_.garments[other].name, "\"") : "by its own folds"});
    }
  }

  const Scene& scene_;
  const std::size_t garment_;
  const std::vector<std::vector<Vec3d>>& positions_;
  std::vector<Push> pushes_;
};

}  // namespace

std::string describe(const UnclosedSeam& seam, const Scene& scene) {
  return text(scene.garments[seam.garment].name, ": ", seam.name, " is open by ", rounded(seam.opening),
              " m: ", seam.cause);
}

std::vector<UnclosedSeam> find_unclosed_seams(const Simulation& simulation, double tolerance,
                                              const SewingPlan& plan) {
  const Scene& scene = simulation.scene();
  const std::vector<std::vector<Vec3d>> positions = simulation.positions();
  std::vector<UnclosedSeam> all;
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    const SeamNames* const known = plan.names(g);
    std::map<std::string, std::pair<double, const Stitch*>> widest;
    for (std::size_t i = 0; i < garment.mesh.stitches.size(); ++i) {
      const Stitch& stitch = garment.mesh.stitches[i];
      const double opening = norm(positions[g][static_cast<std::size_t>(stitch.a)] -
                                  positions[g][static_cast<std::size_t>(stitch.b)]);
      if (!(opening > stitch.slack + tolerance)) continue;
      auto& of_seam = widest[known ? name_of(*known, i) : ""];
      if (opening > of_seam.first) of_seam = {opening, &stitch};
    }
    if (widest.empty()) continue;
    const Pieces pieces(garment.mesh, positions[g]);
    const Holders holders(simulation, g, positions);
    std::vector<UnclosedSeam> own;
    for (const auto& [name, found] : widest) {
      const auto [opening, stitch] = found;
      const Index a = stitch->a, b = stitch->b;
      const auto is_of = [&](Index node) {
        return pieces.of(node) == pieces.of(a) || pieces.of(node) == pieces.of(b);
      };
      std::vector<std::string> causes = holders.words(is_of);
      for (const Pin& pin : garment.pins)
        if (std::ranges::any_of(pin.nodes, is_of)) causes.push_back(text("held by pin \"", pin.name, "\""));
      // A way that is more gaps of open seams than cloth says nothing of the cloth.
      constexpr double least_shortage = 0.005, most_shortage = 0.5;
      std::set<std::array<Index, 2>> own_threads;
      for (std::size_t i = 0; i < garment.mesh.stitches.size(); ++i)
        if (const Stitch& other = garment.mesh.stitches[i]; known == nullptr || name_of(*known, i) == name)
          own_threads.insert(sorted(other.a, other.b));
      const auto is_own = [&](Index i, Index j) { return own_threads.contains(sorted(i, j)); };
      if (const auto shortage = pieces.shortage(*stitch, opening, is_own);
          shortage && *shortage > least_shortage && *shortage < most_shortage)
        causes.push_back(text("the cloth between its sides is shorter by ", rounded(100 * *shortage),
                              " % than the way around"));
      if (causes.empty()) causes.emplace_back("nothing that holds it was found, its pull is too weak");
      UnclosedSeam& seam = own.emplace_back();
      seam = {g, known ? name : text("the seam of nodes ", a, " and ", b), opening, ""};
      for (const std::string& cause : causes) seam.cause += (seam.cause.empty() ? "" : "; ") + cause;
    }
    std::ranges::sort(own, std::greater<>(), &UnclosedSeam::opening);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

}  // namespace isocloth
