// What an action takes: wall time, processor time of all threads, memory of the process.
#pragma once

#include <algorithm>
#include <cstddef>

namespace isocloth::bench {

struct Seconds {
  double wall = 0;
  double cpu = 0;  ///< of all threads of the process together
};

/// Time since an arbitrary moment.
Seconds now();

inline Seconds operator-(Seconds a, Seconds b) { return {a.wall - b.wall, a.cpu - b.cpu}; }
inline Seconds operator+(Seconds a, Seconds b) { return {a.wall + b.wall, a.cpu + b.cpu}; }
/// The smaller of each: other load on the machine only ever adds.
inline Seconds least(Seconds a, Seconds b) { return {std::min(a.wall, b.wall), std::min(a.cpu, b.cpu)}; }

template <class Action>
Seconds time_of(const Action& action) {
  const Seconds begin = now();
  action();
  return now() - begin;
}

/// Processor time of the calling thread, in all or in an action [s].
double thread_cpu_seconds();
template <class Action>
double thread_cpu_seconds(const Action& action) {
  const double begin = thread_cpu_seconds();
  action();
  return thread_cpu_seconds() - begin;
}

/// Resident memory of this process [bytes]; 0 where the system does not tell.
std::size_t resident_bytes();

}  // namespace isocloth::bench
