// Garments that step together, as one solver of them all.
#pragma once

#include <memory>
#include <vector>

#include "engine/core/flat_vectors.hpp"
#include "host/cloth_collision/cloth_collision.hpp"
#include "host/solver/garment_solver.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"
#include "host/state/strain.hpp"

namespace isocloth {

/// Garments are members in the order of the scene, each with a solver of its own. How they step together is
/// the matter of those who derive from it.
template <class Solver>
class CoupledGarments : public GarmentSolver {
 public:
  std::size_t size() const override { return garments_.size(); }
  void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) override {
    for (std::size_t g = 0; g < size(); ++g) garments_[g]->start({clocks[g]}, h, steps, undoable);
    if (cloth() != nullptr) contacts_before_ = cloth()->kept();
    step_ = h;
    steps_ = steps;
  }
  std::size_t threads() const override {
    std::size_t sum = 0;
    for (const auto& garment : garments_) sum += garment->threads();
    return sum;
  }
  void undo() override {
    for (const auto& garment : garments_) garment->undo();
    if (cloth() != nullptr) cloth()->set_kept(contacts_before_);
  }
  std::vector<Measures> measure(std::size_t first, std::size_t count) override {
    std::vector<Measures> all;
    for (std::size_t g = first; g < first + count; ++g) all.push_back(garments_[g]->measure(0, 1).front());
    return all;
  }
  std::vector<FieldView> views(GarmentField field) override {
    std::vector<FieldView> all;
    for (std::size_t g = 0; g < size(); ++g)
      for (FieldView& view : garments_[g]->views(field)) {
        view.garments = {g};
        all.push_back(std::move(view));
      }
    return all;
  }
  std::vector<Strain> strains() override {
    std::vector<Strain> all;
    for (const auto& garment : garments_) all.push_back(garment->strains().front());
    return all;
  }
  std::vector<ClothLoads> cloth_loads() const override {
    if (cloth() == nullptr) return GarmentSolver::cloth_loads();
    std::vector<Vec3d> positions;
    for (const auto& garment : garments_) {
      const std::vector<Vec3d> own = as_vectors(garment->state(0).positions);
      positions.insert(positions.end(), own.begin(), own.end());
    }
    return cloth()->loads(positions);
  }
  Inspection inspect(std::size_t member, double t, double h) override {
    return garments_[member]->inspect(0, t, h);
  }
  void refresh() override {
    for (const auto& garment : garments_) garment->refresh();
  }
  void keep_parts(bool are_kept) override {
    for (const auto& garment : garments_) garment->keep_parts(are_kept);
  }
  std::vector<SubstepRecord> take_parts(std::size_t member) override {
    return garments_[member]->take_parts(0);
  }
  GarmentInfo info(std::size_t member) const override {
    GarmentInfo info = garments_[member]->info(0);
    info.memory_bytes += shared_bytes() / size();
    return info;
  }
  GarmentState state(std::size_t member) const override {
    GarmentState state = garments_[member]->state(0);
    if (cloth() != nullptr) state.cloth_contacts = cloth()->kept(member);
    return state;
  }
  void check(std::size_t member, const GarmentState& state) const override {
    garments_[member]->check(0, state);
  }
  void set_state(std::size_t member, const GarmentState& state) override {
    set_motion(member, state);
    if (cloth() != nullptr) cloth()->set_kept(member, state.cloth_contacts);
  }

  /// All of a state but contacts between cloths, which stay as they are.
  void set_motion(std::size_t member, const GarmentState& state) { garments_[member]->set_state(0, state); }
  virtual ClothCollision* cloth() const = 0;  ///< null: cloth does not meet cloth

 protected:
  virtual std::size_t shared_bytes() const = 0;  ///< memory that belongs to no garment alone [bytes]

  std::vector<std::unique_ptr<Solver>> garments_;
  double step_ = 0;  ///< duration of the request's steps [s]
  int steps_ = 0;    ///< number of the request's steps

 private:
  ContactWarmStart contacts_before_;  ///< forces of contacts between cloths when the request began
};

}  // namespace isocloth
