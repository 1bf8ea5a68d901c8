// Launches that are noted and go together, on the software device.
#include "kernels/launch/launch_sequence.cuh"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "kernels/launch/launch.hpp"
#include "tests/device/runtime/counters.hpp"

namespace isocloth::cuda {
namespace {

constexpr Index count = 4;

struct Add {
  double* values;
  double more;
  __device__ void operator()(Index i) const { values[i] += more; }
};
struct Multiply {
  double* values;
  double by;
  __device__ void operator()(Index i) const { values[i] *= by; }
};
struct Write {
  double* values;
  __device__ void operator()(Index i) const { values[i] = i; }
};

/// An array that is 0, 1, 2, ..., and a queue with a sequence.
class Sequence : public testing::Test {
 protected:
  Sequence() {
    cudaMalloc(reinterpret_cast<void**>(&values_), count * sizeof(double));
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    queue_.stream = stream;
    open_sequence(queue_);
    write();
  }
  ~Sequence() override {
    close_sequence(queue_);
    cudaStreamDestroy(stream());
    cudaFree(values_);
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(queue_.stream); }
  void write() const {
    parallel_for(queue_, count, Write{values_});
    send_launches(queue_);
  }
  void add(double more, Index most = count) const { parallel_for(queue_, most, Add{values_, more}); }
  void multiply(double by) const { parallel_for(queue_, count, Multiply{values_, by}); }
  std::vector<double> found() const {
    std::vector<double> host(count);
    cudaMemcpyAsync(host.data(), values_, count * sizeof(double), cudaMemcpyDeviceToHost, stream());
    cudaStreamSynchronize(stream());
    return host;
  }
  /// What a function asks of the device: "launches, graphs, changed arguments".
  template <class Function>
  static std::vector<std::size_t> asked(const Function& function) {
    const software::Counters& c = software::counters();
    const std::vector<std::size_t> before{c.launches, c.graph_launches, c.graph_changes};
    function();
    return {c.launches - before[0], c.graph_launches - before[1], c.graph_changes - before[2]};
  }
  using Asked = std::vector<std::size_t>;

  Queue queue_;
  double* values_ = nullptr;
};

TEST_F(Sequence, NotesLaunchesUntilTheyAreSent) {
  EXPECT_EQ(asked([&] { add(1), multiply(2); }), (Asked{0, 0, 0}));
  EXPECT_EQ(found(), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(asked([&] { send_launches(queue_); }), (Asked{2, 0, 0}));
  EXPECT_EQ(found(), (std::vector<double>{2, 4, 6, 8}));
  EXPECT_EQ(asked([&] { send_launches(queue_); }), (Asked{0, 0, 0}));
}

TEST_F(Sequence, SendsWhatItKnowsAsAGraph) {
  const auto all = [&](double more, double by) {
    add(more), multiply(by), add(more);
    send_launches(queue_);
  };
  EXPECT_EQ(asked([&] { all(1, 2); }), (Asked{3, 0, 0}));
  EXPECT_EQ(found(), (std::vector<double>{3, 5, 7, 9}));
  write();
  EXPECT_EQ(asked([&] { all(1, 2); }), (Asked{0, 1, 0}));
  EXPECT_EQ(found(), (std::vector<double>{3, 5, 7, 9}));
  write();
  EXPECT_EQ(asked([&] { all(1, 2); }), (Asked{0, 1, 0}));
  // Arguments change where they differ, and what is under way keeps those that it has.
  EXPECT_EQ(asked([&] { all(1, 3); }), (Asked{0, 1, 1}));
  EXPECT_EQ(found(), (std::vector<double>{13, 19, 25, 31}));
  write();
  EXPECT_EQ(asked([&] { all(2, 3); }), (Asked{0, 1, 2}));
  EXPECT_EQ(found(), (std::vector<double>{8, 11, 14, 17}));
}

TEST_F(Sequence, SendsOtherKernelsAndSizesAsTheyAre) {
  for (int time = 0; time < 2; ++time) {
    add(1), multiply(2);
    send_launches(queue_);
  }
  write();
  EXPECT_EQ(asked([&] { multiply(2), add(1), send_launches(queue_); }), (Asked{2, 0, 0}));
  EXPECT_EQ(found(), (std::vector<double>{1, 3, 5, 7}));
  EXPECT_EQ(asked([&] { add(1, 1), multiply(2), send_launches(queue_); }), (Asked{0, 1, 1}));
  EXPECT_EQ(found(), (std::vector<double>{4, 6, 10, 14}));
  EXPECT_EQ(asked([&] { add(1), send_launches(queue_); }), (Asked{1, 0, 0}));
}

TEST_F(Sequence, SendsAllOfADevice) {
  add(1);
  send_launches(1);
  EXPECT_EQ(found()[0], 0);
  send_launches(0);
  EXPECT_EQ(found()[0], 1);
}

TEST_F(Sequence, LeavesLaunchesToACapture) {
  add(1);
  record_launches(queue_, true);
  EXPECT_EQ(found()[0], 1);
  cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(asked([&] { add(1), multiply(2); }), (Asked{0, 0, 0}));
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream(), &graph), cudaSuccess);
  record_launches(queue_, false);
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, stream());
  EXPECT_EQ(found()[0], 4);
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_F(Sequence, DoesNotGrowWithWhatItIsAsked) {
  for (int i = 0; i < 1000; ++i) add(1);  // some go before anybody asks
  for (int length = 1; length < 100; ++length) {
    for (int i = 0; i < length; ++i) add(1);
    send_launches(queue_);
  }
  EXPECT_EQ(found()[0], 1000 + 100 * 99 / 2);
}

TEST_F(Sequence, ShowsAFailedLaunchWhenItIsSent) {
  for (int time = 0; time < 3; ++time) {
    add(1);
    for_each_block(queue_, 1, 64 * 1024, [](const Block&, Index) {});  // a queue with no such limit
    const bool is_at_once = cudaGetLastError() != cudaSuccess;
    send_launches(queue_);
    EXPECT_NE(cudaGetLastError(), cudaSuccess) << time;
    EXPECT_FALSE(is_at_once) << time;
  }
}

TEST_F(Sequence, CanBeSwitchedOff) {
  setenv("ISOCLOTH_GRAPHS", "off", 1);
  close_sequence(queue_);
  open_sequence(queue_);
  unsetenv("ISOCLOTH_GRAPHS");
  EXPECT_EQ(asked([&] { add(1), multiply(2); }), (Asked{2, 0, 0}));
  EXPECT_EQ(found(), (std::vector<double>{2, 4, 6, 8}));
}

}  // namespace
}  // namespace isocloth::cuda
