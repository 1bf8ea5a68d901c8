// Launches that wait for one another, and go to the device together.
//
// A launch costs the host microseconds, and a step of a garment with contact asks for hundreds. Of a queue
// that open_sequence() was called for, launches are noted, and go when somebody waits for the queue, copies
// or releases memory. Kernels that went before in the same order go as a CUDA graph, in which the arguments
// that have changed are set anew: one launch. Kernels and their order are what they would be without.
// ISOCLOTH_GRAPHS=off in the environment: every launch goes at once.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <span>
#include <type_traits>

#include "kernels/launch/queue.hpp"

namespace isocloth::cuda {

struct KernelLaunch {
  const void* kernel = nullptr;
  unsigned blocks = 0, threads = 0;
  std::size_t shared = 0;  ///< shared memory of a block [bytes]
};
struct KernelArgument {
  const void* value = nullptr;
  std::size_t bytes = 0;
};

/// Notes a launch of a queue with a sequence, does any other at once. A failure shows at the next copy or
/// wait.
void launch(const Queue& queue, const KernelLaunch& launch, std::span<const KernelArgument> arguments);

/// kernel<<<blocks, threads, shared, the queue's stream>>>(arguments...)
template <class... Parameters>
void launch(const Queue& queue, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
            std::size_t shared, std::type_identity_t<Parameters>... arguments) {
  if constexpr (requires { (__builtin_clear_padding(&arguments), ...); })
    (__builtin_clear_padding(&arguments), ...);  // arguments are compared as bytes
  const KernelArgument all[]{{&arguments, sizeof arguments}...};
  launch(queue, {reinterpret_cast<const void*>(kernel), blocks, threads, shared}, all);
}

void open_sequence(const Queue& queue);
void close_sequence(const Queue& queue);
/// Sends what is noted for the queue.
void send_launches(const Queue& queue);
/// Sends what is noted for any queue of a device: before the host waits, as another's work may go on
/// meanwhile, and before memory is released.
void send_launches(int device);
/// Launches of the queue go at once from here on, as a capture of its stream wants them, or are noted again.
void record_launches(const Queue& queue, bool are_recorded);

}  // namespace isocloth::cuda
