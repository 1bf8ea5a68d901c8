#include "host/impulse/stencil_packets.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/mesh/colouring.hpp"

namespace isocloth {
namespace {

/// One stencil with its slots numbered from 0.
struct LocalStencil {
  Index number = 0;
  std::vector<Index> nodes;  ///< nodes of the slots
  /// Neighbouring slots of each slot, and entries of the pattern.
  std::vector<std::vector<Index>> neighbours, entries;
};

/// Slots 1, 2, ... in the order of the ring that they form about slot 0; empty: they form none.
std::vector<Index> ring_order(const LocalStencil& stencil) {
  const std::size_t count = stencil.nodes.size();
  std::vector<std::vector<Index>> beside(count);
  for (std::size_t slot = 1; slot < count; ++slot) {
    for (const Index other : stencil.neighbours[slot])
      if (other != 0 && other != static_cast<Index>(slot)) beside[slot].push_back(other);
    if (beside[slot].size() != 2) return {};
  }
  std::vector<Index> order{0};
  if (count < 2) return order;
  Index before = 0, now = 1;
  do {
    order.push_back(now);
    const Index next = beside[now][0] == before ? beside[now][1] : beside[now][0];
    before = now;
    now = next;
  } while (now != 1 && order.size() <= count);
  return order.size() == count && now == 1 ? order : std::vector<Index>{};
}

LocalStencil local_stencil(const StencilPattern& pattern, Index stencil) {
  const Index begin = pattern.stencil_begin[stencil], end = pattern.stencil_begin[stencil + 1];
  LocalStencil result{.number = stencil, .nodes = {}, .neighbours = {}, .entries = {}};
  std::map<Index, Index> slot_of;
  for (Index slot = begin; slot < end; ++slot) {
    slot_of[pattern.slot_nodes[slot]] = slot - begin;
    result.nodes.push_back(pattern.slot_nodes[slot]);
  }
  for (Index slot = begin; slot < end; ++slot) {
    result.neighbours.emplace_back();
    result.entries.emplace_back();
    for (Index e = pattern.entry_begin[slot]; e < pattern.entry_begin[slot + 1]; ++e) {
      result.neighbours.back().push_back(slot_of.at(pattern.entry_nodes[e]));
      result.entries.back().push_back(e);
    }
  }
  return result;
}

/// The slots in another order, their entries ascending by slot.
LocalStencil reordered(const LocalStencil& stencil, const std::vector<Index>& order) {
  std::vector<Index> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<Index>(i);
  LocalStencil result{.number = stencil.number, .nodes = {}, .neighbours = {}, .entries = {}};
  for (const Index slot : order) {
    std::vector<std::pair<Index, Index>> sorted;
    for (std::size_t k = 0; k < stencil.entries[slot].size(); ++k)
      sorted.emplace_back(place[stencil.neighbours[slot][k]], stencil.entries[slot][k]);
    std::sort(sorted.begin(), sorted.end());
    result.nodes.push_back(stencil.nodes[slot]);
    result.neighbours.emplace_back();
    result.entries.emplace_back();
    for (const auto& [neighbour, entry] : sorted) {
      result.neighbours.back().push_back(neighbour);
      result.entries.back().push_back(entry);
    }
  }
  return result;
}

LocalStencil canonical(const StencilPattern& pattern, Index stencil) {
  const LocalStencil found = local_stencil(pattern, stencil);
  std::vector<Index> order = ring_order(found);
  if (order.empty())
    for (std::size_t slot = 0; slot < found.nodes.size(); ++slot) order.push_back(static_cast<Index>(slot));
  return reordered(found, order);
}

/// Gathers packets one after another.
class Planner {
 public:
  explicit Planner(int width) : width_(static_cast<std::size_t>(width)) {
    plan_.colour_begin = plan_.slot_begin = plan_.entry_begin = plan_.shape_slots = plan_.slot_entries = {0};
  }
  /// Stencils of one colour and one local shape.
  void add(const std::vector<LocalStencil>& stencils) {
    const Index shape = shape_of(stencils.front());
    for (std::size_t first = 0; first < stencils.size(); first += width_) {
      const LocalStencil& model = stencils[first];
      for (std::size_t slot = 0; slot < model.nodes.size(); ++slot) {
        for (std::size_t lane = 0; lane < width_; ++lane) {
          const std::vector<Index>& nodes =
              first + lane < stencils.size() ? stencils[first + lane].nodes : model.nodes;
          plan_.pairs.insert(plan_.pairs.end(), {nodes[0], nodes[slot]});
        }
        for (std::size_t e = 0; e < model.entries[slot].size(); ++e)
          for (std::size_t lane = 0; lane < width_; ++lane)
            plan_.source_entries.push_back(
                first + lane < stencils.size() ? stencils[first + lane].entries[slot][e] : -1);
      }
      for (std::size_t lane = 0; lane < width_; ++lane)
        plan_.stencils.push_back(first + lane < stencils.size() ? stencils[first + lane].number : -1);
      plan_.shape_of.push_back(shape);
      plan_.slot_begin.push_back(static_cast<Index>(plan_.pairs.size() / (2 * width_)));
      plan_.entry_begin.push_back(static_cast<Index>(plan_.source_entries.size() / width_));
    }
  }
  void end_colour() { plan_.colour_begin.push_back(static_cast<Index>(plan_.shape_of.size())); }
  StencilPlan plan() const { return plan_; }

 private:
  Index shape_of(const LocalStencil& stencil) {
    const auto [found, is_new] = shapes_.try_emplace(stencil.neighbours, static_cast<Index>(shapes_.size()));
    if (is_new) {
      for (const auto& neighbours : stencil.neighbours) {
        plan_.entry_slots.insert(plan_.entry_slots.end(), neighbours.begin(), neighbours.end());
        plan_.slot_entries.push_back(static_cast<Index>(plan_.entry_slots.size()));
      }
      plan_.shape_slots.push_back(static_cast<Index>(plan_.slot_entries.size()) - 1);
    }
    return found->second;
  }

  const std::size_t width_;
  StencilPlan plan_;
  std::map<std::vector<std::vector<Index>>, Index> shapes_;
};

}  // namespace

StencilPlan plan_stencils(const StencilPattern& pattern, Index node_count, int width) {
  const NodeSets sets{.begin = pattern.stencil_begin, .nodes = pattern.slot_nodes};
  const Colouring colours = colour_greedily(sets, node_count);
  Planner planner(width);
  for (Index colour = 0; colour < colours.count(); ++colour) {
    std::map<std::vector<std::vector<Index>>, std::vector<LocalStencil>> by_shape;
    for (Index i = colours.begin[colour]; i < colours.begin[colour + 1]; ++i) {
      LocalStencil stencil = canonical(pattern, colours.items[i]);
      by_shape[stencil.neighbours].push_back(std::move(stencil));
    }
    for (const auto& [shape, stencils] : by_shape) planner.add(stencils);
    planner.end_colour();
  }
  return planner.plan();
}

Index most_slots(const StencilPlan& plan) {
  Index most = 0;
  for (std::size_t packet = 0; packet + 1 < plan.slot_begin.size(); ++packet)
    most = std::max(most, plan.slot_begin[packet + 1] - plan.slot_begin[packet]);
  return most;
}

namespace {

/// Sets the tensors of free nodes to zero in rows where they are rounding beside the others: scaled up they
/// would be impulses of noise. tensors: shape [entry, row_width, lane], inverse_masses: [slot, lane].
template <class Real>
void drop_rounding(const StencilPlan& plan, std::size_t row_width, std::size_t lanes,
                   const Real* inverse_masses, Real* tensors) {
  constexpr double least_part = 1000 * static_cast<double>(std::numeric_limits<Real>::epsilon());
  for (std::size_t packet = 0; packet < plan.shape_of.size(); ++packet)
    for (std::size_t w = 0; w < row_width; ++w)
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        const auto for_each_entry = [&](const auto& visit) {
          auto e = static_cast<std::size_t>(plan.entry_begin[packet]);
          Index at = plan.shape_slots[plan.shape_of[packet]];
          for (Index slot = plan.slot_begin[packet]; slot < plan.slot_begin[packet + 1]; ++slot, ++at) {
            const bool is_free = inverse_masses[static_cast<std::size_t>(slot) * lanes + lane] > 0;
            for (Index i = plan.slot_entries[at]; i < plan.slot_entries[at + 1]; ++i, ++e)
              visit(is_free, tensors[(e * row_width + w) * lanes + lane]);
          }
        };
        double of_free = 0, of_all = 0;
        for_each_entry([&](bool is_free, Real value) {
          of_all = std::max(of_all, std::abs(static_cast<double>(value)));
          if (is_free) of_free = std::max(of_free, std::abs(static_cast<double>(value)));
        });
        if (of_free > least_part * of_all) continue;
        for_each_entry([&](bool is_free, Real& value) {
          if (is_free) value = 0;
        });
      }
}

}  // namespace

template <class Real, int Width>
StencilBuffers<Real, Width>::StencilBuffers(const Device& device, const StencilPlan& plan,
                                            const std::vector<RestShape<Real>>& shapes, std::size_t first_row,
                                            std::size_t first_tensor)
    : colour_begin(device, plan.colour_begin),
      shape_of(device, plan.shape_of),
      slot_begin(device, plan.slot_begin),
      entry_begin(device, plan.entry_begin),
      pairs(device, plan.pairs),
      shape_slots(device, plan.shape_slots),
      slot_entries(device, plan.slot_entries),
      entry_slots(device, plan.entry_slots) {
  const std::size_t lanes = static_cast<std::size_t>(step_kernels<Real>(device.backend()).lane_width());
  const std::size_t entries = plan.source_entries.size() / lanes, packets = plan.shape_of.size(),
                    slots = plan.pairs.size() / 2;
  std::vector<Real> all_tensors, all_rest_values, all_inverse_masses;
  for (const RestShape<Real>& shape : shapes) {
    const Real* const own = shape.tensors.data() + first_tensor;
    for (std::size_t e = 0; e < entries; ++e)
      for (std::size_t w = 0; w < Width; ++w)
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const Index source = plan.source_entries[e * lanes + lane];
          all_tensors.push_back(source < 0 ? Real(0) : own[source * Width + w]);
        }
    for (std::size_t packet = 0; packet < packets; ++packet)
      for (std::size_t w = 0; w < Width; ++w)
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const Index stencil = plan.stencils[packet * lanes + lane];
          all_rest_values.push_back(stencil < 0 ? Real(0)
                                                : shape.rest_values[first_row + stencil * Width + w]);
        }
    for (std::size_t place = 0; place < slots; ++place) {
      const auto node = static_cast<std::size_t>(plan.pairs[2 * place + 1]);
      all_inverse_masses.push_back(node < shape.inverse_masses.size() ? shape.inverse_masses[node] : Real(0));
    }
    drop_rounding(plan, Width, lanes, all_inverse_masses.data() + all_inverse_masses.size() - slots,
                  all_tensors.data() + all_tensors.size() - entries * Width * lanes);
  }
  tensors = {device, all_tensors};
  rest_values = {device, all_rest_values};
  inverse_masses = {device, all_inverse_masses};
}

template <class Real, int Width>
std::size_t StencilBuffers<Real, Width>::memory_bytes() const {
  std::size_t bytes = 0;
  const auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(colour_begin, shape_of, slot_begin, entry_begin, pairs, shape_slots, slot_entries, entry_slots, tensors,
      rest_values, inverse_masses);
  return bytes;
}

template struct StencilBuffers<float, 1>;
template struct StencilBuffers<float, 3>;
template struct StencilBuffers<double, 1>;
template struct StencilBuffers<double, 3>;

}  // namespace isocloth
