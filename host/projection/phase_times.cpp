#include "host/projection/phase_times.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace isocloth {
namespace {

constexpr const char* names[] = {
    "begin", "rows_and_obstacles", "cloth_contacts", "assembly", "factor", "solve", "correct", "end"};

/// Sums of all steps; printed when the process ends.
struct Sums {
  const bool are_wanted = std::getenv("ISOCLOTH_PHASES") != nullptr;
  std::array<double, std::size(names)> seconds{};
  ~Sums() {
    if (!are_wanted) return;
    for (std::size_t i = 0; i < seconds.size(); ++i)
      std::fprintf(stderr, "%s\"%s\": %.4f", i == 0 ? "{" : ", ", names[i], seconds[i]);
    std::fputs("}\n", stderr);
  }
};

Sums& sums() {
  static Sums all;
  return all;
}

double processor_time() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

PhaseTimer::PhaseTimer(StepPhase phase) : phase_(phase), begin_(sums().are_wanted ? processor_time() : -1) {}

PhaseTimer::~PhaseTimer() {
  if (begin_ >= 0) sums().seconds[static_cast<std::size_t>(phase_)] += processor_time() - begin_;
}

}  // namespace isocloth
