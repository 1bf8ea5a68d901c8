// Direct solvers of one system behind one interface: the engine's and other libraries'.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/nodal_system.hpp"

namespace isocloth {
class ThreadPool;
}

namespace isocloth::bench {

class FactorSolver {
 public:
  virtual ~FactorSolver() = default;
  virtual std::string name() const = 0;
  virtual std::string precision() const { return "float64"; }
  /// Ordering and symbolic analysis; once.
  virtual void analyze() = 0;
  /// False: the matrix is not positive definite.
  virtual bool factorize() = 0;
  virtual void solve() = 0;
  virtual std::vector<double> solution() const = 0;
  virtual double nonzeros() const = 0;  ///< scalars of L
  virtual double flops() const = 0;     ///< sum over columns of L of (their nonzeros)^2
  virtual std::size_t memory_bytes() const = 0;
  virtual std::size_t scalar_bytes() const { return sizeof(double); }  ///< of L
  virtual std::string note() const { return {}; }
};

/// Multifrontal Cholesky in float, in double, and in float with refinement to double. `system` must outlive
/// the solvers, `pool` (null: one thread) as well.
std::vector<std::unique_ptr<FactorSolver>> own_solvers(const NodalSystem& system, ThreadPool* pool);

enum class Peer { eigen_llt, eigen_ldlt, cholmod };
/// Whether this program was built with the library.
bool has_peer(Peer peer);
/// Null where it was not. Eigen runs on one thread.
std::unique_ptr<FactorSolver> peer_solver(Peer peer, const NodalSystem& system, int threads);
/// For people, with versions where they are known.
std::string peer_name(Peer peer);

}  // namespace isocloth::bench
