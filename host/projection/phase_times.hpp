// Processor time of the phases of steps, for who asks.
#pragma once

#include <array>

namespace isocloth {

/// Phases of steps that go kernel by kernel. With ISOCLOTH_PHASES in the environment their processor times,
/// of the whole process, which has one thread, are printed to standard error as JSON [s] when it ends; else
/// nothing is measured.
enum class StepPhase { begin, rows_and_obstacles, cloth_contacts, assembly, factor, solve, correct, end };

/// Adds the processor time of its life to a phase. One at a time.
class PhaseTimer {
 public:
  explicit PhaseTimer(StepPhase phase);
  ~PhaseTimer();
  PhaseTimer(const PhaseTimer&) = delete;

 private:
  const StepPhase phase_;
  double begin_ = 0;  ///< [s]; below 0: nobody asks
};

}  // namespace isocloth
