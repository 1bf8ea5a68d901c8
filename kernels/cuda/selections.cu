// Running sums and selections by CUB.
#include <thrust/iterator/counting_iterator.h>

#include <cub/device/device_scan.cuh>
#include <cub/device/device_select.cuh>

#include "kernels/cloth_contact/selections.hpp"
#include "kernels/cuda/failure.cuh"
#include "kernels/launch/current_device.cuh"
#include "kernels/launch/launch_sequence.cuh"

namespace isocloth::cuda {
namespace {

struct Touches {
  __device__ bool operator()(const FoundContact& found) const { return found.status != PairStatus::apart; }
};
cudaStream_t stream_of(const Queue& queue) { return static_cast<cudaStream_t>(queue.stream); }

// CUB's two calls in one: without work memory they say in `bytes` how much they need.
cudaError_t scan(const Queue& queue, const RunningSums& a, void* work, std::size_t& bytes, Index count) {
  return cub::DeviceScan::ExclusiveSum(work, bytes, a.values.data(), a.sums.data(), count, stream_of(queue));
}
cudaError_t list(const Queue& queue, const ListFlagged& a, void* work, std::size_t& bytes, Index count) {
  return cub::DeviceSelect::Flagged(work, bytes, thrust::counting_iterator<Index>(0), a.flags.data(),
                                    a.indices.data(), a.count.data(), count, stream_of(queue));
}
cudaError_t select(const Queue& queue, const SelectContacts& a, void* work, std::size_t& bytes, Index count) {
  return cub::DeviceSelect::If(work, bytes, a.contacts.data(), a.selected.data(), a.count.data(), count,
                               Touches{}, stream_of(queue));
}

/// CUB takes the error of a launch before it for its own, and forgets it.
template <class Args, class Call>
bool run(const Queue& queue, const Args& args, std::size_t count, const Call& call) {
  send_launches(queue);
  const CurrentDevice current(queue.device);
  std::size_t bytes = args.work.size();
  return worked(cudaGetLastError()) &&
         worked(call(queue, args, args.work.data(), bytes, static_cast<Index>(count)));
}

}  // namespace

bool selection_work_bytes(const Queue& queue, Index count, std::size_t* bytes) {
  const CurrentDevice current(queue.device);
  std::size_t sums = 0, indices = 0, contacts = 0;
  if (!worked(cudaGetLastError()) || !worked(scan(queue, {}, nullptr, sums, count)) ||
      !worked(list(queue, {}, nullptr, indices, count)) ||
      !worked(select(queue, {}, nullptr, contacts, count)))
    return false;
  *bytes = sums > indices ? sums : indices;
  if (contacts > *bytes) *bytes = contacts;
  return true;
}
bool running_sums(const Queue& queue, const RunningSums& args) {
  return run(queue, args, args.values.size(), scan);
}
bool list_flagged(const Queue& queue, const ListFlagged& args) {
  return run(queue, args, args.flags.size(), list);
}
bool select_contacts(const Queue& queue, const SelectContacts& args) {
  return run(queue, args, args.contacts.size(), select);
}

}  // namespace isocloth::cuda
