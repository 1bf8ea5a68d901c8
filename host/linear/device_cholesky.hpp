// Multifrontal Cholesky of one nodal system by the kernels of a device.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "host/linear/front_schedule.hpp"
#include "host/linear/nodal_solver.hpp"
#include "host/memory/recording.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

/// P A P^T = L L^T by fronts along the elimination tree (Duff and Reid 1983): a launch per step of the
/// longest path, in it all tiles that have what they need; all of them one recording where the backend has
/// such. Bit-identical from run to run; nothing leaves the device but the one number that says whether a
/// pivot failed.
template <class Real>
class DeviceCholesky final : public NodalSolver<Real> {
 public:
  /// The device must outlive it. Throws ShapeError as make_direct_solver does, DeviceError when memory runs
  /// out.
  DeviceCholesky(const Device& device, const BlockPattern& pattern);

  Factorization solve(const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
                      Buffer<Vec3<Real>>& solution) override;
  void begin_solve(const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
                   Buffer<Vec3<Real>>& solution, Downloads& downloads) override;
  Factorization end_solve(const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
                          Buffer<Vec3<Real>>& solution) override;
  bool solve_block(const Buffer<Vec3<Real>>& right_sides, Buffer<Vec3<Real>>& solutions, std::size_t size,
                   const std::vector<std::size_t>& begins) override;
  bool is_recordable() const override { return true; }
  const void* recorded_work() const override { return work_.view().data(); }
  std::size_t memory_bytes() const override;
  std::string_view name() const override { return name_; }

 private:
  /// Tiles on the device; where each launch begins stays here.
  struct Launches {
    Buffer<FrontTile> tiles;
    std::vector<std::size_t> begin;
    std::size_t count() const { return begin.size() - 1; }
    ArrayView<const FrontTile> operator[](std::size_t launch) const {
      return slice(tiles.view(), begin[launch], begin[launch + 1]);
    }
  };
  static Launches upload(const Device& device, TileLaunches launches);
  MultifrontalPlan view() const;
  /// Launches both solves with the factor for some columns.
  void launch_solves(const Queue& queue, ArrayView<const Vec3<Real>> right_sides,
                     ArrayView<Vec3<Real>> solutions, const Columns& columns);
  /// Launches the factorisation and both solves.
  void launch(const Queue& queue, const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
              Buffer<Vec3<Real>>& solution);

  const Device& device_;
  const StepKernels<Real>& kernels_;
  std::string name_;
  int block_;
  std::size_t vector_size_;  ///< of a column in work_
  std::vector<Index> host_block_rows_;
  Buffer<Front> fronts_;
  Buffer<Index> children_, relative_, block_rows_;
  Buffer<FrontEntry> entries_;
  Launches factor_launches_, forward_, backward_;
  Buffer<Real> factor_, updates_, work_;
  Buffer<Index> failed_, first_failed_;
  std::vector<Index> failure_staging_;
  const Index* failure_ = nullptr;  ///< place of the first pivot that failed, -1: none did; after a wait
  Recording recording_;
  std::array<const void*, 3> recorded_{};  ///< arrays that it works on
};

}  // namespace isocloth
