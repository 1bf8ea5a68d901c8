// Queues of the test device: what waits in them.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "kernels/launch/queue.hpp"

namespace isocloth {

using DeviceCalls = std::vector<std::function<void()>>;
struct DeviceStream {
  DeviceCalls pending;
  DeviceCalls* recording = nullptr;  ///< where launches go instead
};

inline DeviceStream& stream_of(const Queue& queue) { return *static_cast<DeviceStream*>(queue.stream); }

/// What comes after it in the queue sees what it wrote. Nothing without a queue.
inline void run_pending(const Queue& queue) {
  if (queue.stream == nullptr) return;
  for (const auto& call : std::exchange(stream_of(queue).pending, {})) call();
}

}  // namespace isocloth
