#include "kernels/cloth_contact/selections.hpp"

#if defined(__CUDACC__)

#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

namespace isocloth::cuda {
namespace {

struct Touches {
  __device__ bool operator()(const FoundContact& found) const { return found.status != PairStatus::apart; }
};

// CUB's two calls in one: without work memory they say in `bytes` how much they need. A launch that fails
// shows at the next copy or wait of the queue, as any does.
void scan(void* work, std::size_t& bytes, const Index* values, Index* sums, Index count, void* stream) {
  cub::DeviceScan::ExclusiveSum(work, bytes, values, sums, count, static_cast<cudaStream_t>(stream));
}
void list(void* work, std::size_t& bytes, const std::uint8_t* flags, Index* places, Index* selected,
          Index count, void* stream) {
  cub::DeviceSelect::Flagged(work, bytes, thrust::counting_iterator<Index>(0), flags, places, selected, count,
                             static_cast<cudaStream_t>(stream));
}
void select(void* work, std::size_t& bytes, const FoundContact* found, FoundContact* to, Index* selected,
            Index count, void* stream) {
  cub::DeviceSelect::If(work, bytes, found, to, selected, count, Touches{},
                        static_cast<cudaStream_t>(stream));
}

}  // namespace

std::size_t selection_bytes(Index count) {
  std::size_t sums = 0, places = 0, contacts = 0;
  scan(nullptr, sums, nullptr, nullptr, count, nullptr);
  list(nullptr, places, nullptr, nullptr, nullptr, count, nullptr);
  select(nullptr, contacts, nullptr, nullptr, nullptr, count, nullptr);
  const std::size_t more = sums > places ? sums : places;
  return more > contacts ? more : contacts;
}
void running_sums(const Queue& queue, const RunningSums& args) {
  std::size_t bytes = args.work.size();
  scan(args.work.data(), bytes, args.values.data(), args.sums.data(), static_cast<Index>(args.values.size()),
       queue.stream);
}
void list_flagged(const Queue& queue, const ListFlagged& args) {
  std::size_t bytes = args.work.size();
  list(args.work.data(), bytes, args.flags.data(), args.places.data(), args.count.data(),
       static_cast<Index>(args.flags.size()), queue.stream);
}
void select_contacts(const Queue& queue, const SelectContacts& args) {
  std::size_t bytes = args.work.size();
  select(args.work.data(), bytes, args.found.data(), args.selected.data(), args.count.data(),
         static_cast<Index>(args.found.size()), queue.stream);
}

}  // namespace isocloth::cuda

#else

namespace isocloth::ISOCLOTH_BACKEND {

// Loops: functions of the standard library would be shared among instruction sets.
std::size_t selection_bytes(Index) { return 0; }
void running_sums(const Queue&, const RunningSums& args) {
  Index sum = 0;
  for (std::size_t i = 0; i < args.values.size(); ++i) {
    args.sums[i] = sum;
    sum += args.values[i];
  }
}
void list_flagged(const Queue&, const ListFlagged& args) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < args.flags.size(); ++i)
    if (args.flags[i] != 0) args.places[count++] = static_cast<Index>(i);
  args.count[0] = static_cast<Index>(count);
}
void select_contacts(const Queue&, const SelectContacts& args) {
  std::size_t count = 0;
  for (const FoundContact& found : args.found)
    if (found.status != PairStatus::apart) args.selected[count++] = found;
  args.count[0] = static_cast<Index>(count);
}

}  // namespace isocloth::ISOCLOTH_BACKEND

#endif
