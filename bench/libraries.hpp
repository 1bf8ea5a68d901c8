// The contests of isocloth-bench libraries.
#pragma once

#include "bench/contest.hpp"
#include "bench/nodal_system.hpp"

namespace isocloth::bench {

/// y = A x of a step's system, float and double.
void contest_products(Contests& contests, const std::string& size, const NodalSystem& system);

/// Factorisation and solve of one system: the engine's sparse solver for single garments beside sparse ones
/// of libraries. Block rows in an order of elimination, which these take as it is.
void contest_sparse_factors(Contests& contests, const std::string& size, const NodalSystem& system);

/// A full matrix of so many block rows, as are the last fronts of large meshes.
void contest_fronts(Contests& contests, const std::string& size, Index block_rows);
/// Block rows of the largest front that the system's factorisation has.
Index largest_front(const NodalSystem& system);

/// As many systems at once as each of `counts` says, ascending: the engine's sparse solver in batches beside
/// dense ones of libraries. Block rows in an order of elimination.
void contest_batches(Contests& contests, const std::string& size, const NodalSystem& system,
                     const std::vector<int>& counts);

/// Sums and largest values of `length` numbers, float and double.
void contest_reductions(Contests& contests, int length);
/// Offsets from `length` counts, and numbers in the order of `length` keys: the host's algorithms beside the
/// device's.
void contest_scans(Contests& contests, int length);
void contest_sorts(Contests& contests, int length);
/// Contacts of `length` pairs of which few touch: brought to the host and chosen there, or chosen on the
/// device.
void contest_selections(Contests& contests, int length);

}  // namespace isocloth::bench
