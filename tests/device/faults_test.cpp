// Faults of GPU code that the software device must find: each is planted here, and one that it did not find
// fails.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "kernels/launch/launch.hpp"
#include "tests/device/runtime/device_memory.hpp"

namespace isocloth::cuda {
namespace {

constexpr Index count = 256;  // two blocks of parallel_for()

// Comes first: none of the devices is in use yet.
TEST(CurrentDevice, GivesBackWhatWasChosenAndTouchesNoOther) {
  int device = -1;
  { const CurrentDevice current(1); }
  cudaGetDevice(&device);
  EXPECT_EQ(device, 1);
  EXPECT_FALSE(is_in_use(0));
  cudaSetDevice(0);
  {
    const CurrentDevice current(1);
    cudaGetDevice(&device);
    EXPECT_EQ(device, 1);
  }
  cudaGetDevice(&device);
  EXPECT_EQ(device, 0);
}

/// An array of the device, and a stream.
class SoftwareDevice : public testing::Test {
 protected:
  SoftwareDevice() {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&values_), count * sizeof(double)), cudaSuccess);
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    queue_.stream = stream;
  }
  ~SoftwareDevice() override {
    cudaStreamDestroy(stream());
    cudaFree(values_);
    unsetenv("ISOCLOTH_TEST_DEVICE_ORDER");
  }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(queue_.stream); }
  std::vector<double> downloaded() const {
    std::vector<double> host(count);
    cudaMemcpyAsync(host.data(), values_, count * sizeof(double), cudaMemcpyDeviceToHost, stream());
    cudaStreamSynchronize(stream());
    return host;
  }

  Queue queue_;
  double* values_ = nullptr;
};

struct Number {
  double* values;
  __device__ void operator()(Index i) const { values[i] = i; }
};

TEST_F(SoftwareDevice, RunsKernels) {
  for (const double value : downloaded()) EXPECT_TRUE(std::isnan(value));
  parallel_for(queue_, count, Number{values_});
  const std::vector<double> found = downloaded();
  for (Index i = 0; i < count; ++i) EXPECT_EQ(found[i], i);
}

TEST_F(SoftwareDevice, ShowsAMissingWait) {
  double first = -1;
  parallel_for(queue_, count, Number{values_});
  cudaMemcpyAsync(&first, values_ + 1, sizeof first, cudaMemcpyDeviceToHost, stream());
  EXPECT_EQ(first, -1);
  cudaStreamSynchronize(stream());
  EXPECT_EQ(first, 1);
}

TEST_F(SoftwareDevice, EndsAHostThatReadsItsMemory) {
  const volatile double* const first = values_;
  EXPECT_DEATH(static_cast<void>(*first), "the host touches memory of the device");
}

struct Overrun {
  double* values;
  __device__ void operator()(Index i) const { values[i + 1] = i; }
};
TEST_F(SoftwareDevice, EndsAKernelThatWritesBehindAnArray) {
  EXPECT_DEATH(
      {
        parallel_for(queue_, count, Overrun{values_});
        cudaStreamSynchronize(stream());
      },
      "a kernel touches memory behind an array.*Overrun");
}

TEST_F(SoftwareDevice, EndsAKernelThatReadsWhatWasReleased) {
  double* released = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&released), count * sizeof(double)), cudaSuccess);
  ASSERT_EQ(cudaFree(released), cudaSuccess);
  EXPECT_DEATH(
      {
        parallel_for(queue_, count, Number{released});
        cudaStreamSynchronize(stream());
      },
      "behind an array, released");
}

TEST_F(SoftwareDevice, RefusesAPointerToTheHostsMemory) {
  std::vector<double> host(count);
  EXPECT_DEATH(parallel_for(queue_, count, Number{host.data()}), "a pointer to the host's memory.*Number");
}

/// Sums of the block's numbers by halves: the threads of the second half have nothing to do.
template <bool all_meet>
struct SumOfBlock {
  double* sums;
  __device__ void operator()(const Block& block, Index item) const {
    double* const shared = block.shared<double>();
    shared[block.rank()] = block.rank();
    for (int half = block.size() / 2; half > 0; half /= 2) {
      if (!all_meet && block.rank() >= half) return;
      block.sync();
      if (block.rank() < half) shared[block.rank()] += shared[block.rank() + half];
    }
    if (block.rank() == 0) sums[item] = shared[0];
  }
};
TEST_F(SoftwareDevice, FindsABarrierThatSomeThreadsDoNotReach) {
  for_each_block(queue_, 2, 128 * sizeof(double), SumOfBlock<true>{values_});
  const std::vector<double> sums = downloaded();
  EXPECT_EQ(sums[0], 127 * 128 / 2);
  EXPECT_EQ(sums[1], 127 * 128 / 2);
  EXPECT_DEATH(
      {
        for_each_block(queue_, 2, 128 * sizeof(double), SumOfBlock<false>{values_});
        cudaStreamSynchronize(stream());
      },
      "end before a barrier at which others wait");
}

struct TwoBarriers {
  __device__ void operator()(const Block& block, Index) const {
    if (block.rank() % 2 == 0)
      block.sync();
    else
      block.sync();
  }
};
TEST_F(SoftwareDevice, FindsThreadsAtDifferentBarriers) {
  EXPECT_DEATH(
      {
        for_each_block(queue_, 1, 0, TwoBarriers{});
        cudaStreamSynchronize(stream());
      },
      "wait at different barriers");
}

/// Each thread reads what the next one wrote, or will write.
template <bool waits>
struct ReadNext {
  double* values;
  __device__ void operator()(const Block& block, Index item) const {
    double* const shared = block.shared<double>();
    shared[block.rank()] = block.rank();
    if (waits) block.sync();
    const int next = (block.rank() + 1) % block.size();
    values[item * block.size() + block.rank()] = std::isnan(shared[next]) ? -1 : shared[next];
  }
};
TEST_F(SoftwareDevice, ShowsARace) {
  const auto in_order = [&](const char* order, auto body) {
    setenv("ISOCLOTH_TEST_DEVICE_ORDER", order, 1);
    for_each_block(queue_, 2, 128 * sizeof(double), body);
    return downloaded();
  };
  const std::vector<double> expected = in_order("ascending", ReadNext<true>{values_});
  EXPECT_EQ(in_order("descending", ReadNext<true>{values_}), expected);
  EXPECT_EQ(in_order("random", ReadNext<true>{values_}), expected);
  EXPECT_NE(in_order("ascending", ReadNext<false>{values_}),
            in_order("descending", ReadNext<false>{values_}));
}

struct SharedOverrun {
  double* values;
  __device__ void operator()(const Block& block, Index) const {
    values[block.rank()] = block.shared<double>()[block.rank() + 1];
  }
};
TEST_F(SoftwareDevice, EndsAKernelThatReadsBehindSharedMemory) {
  EXPECT_DEATH(
      {
        for_each_block(queue_, 1, 128 * sizeof(double), SharedOverrun{values_});
        cudaStreamSynchronize(stream());
      },
      "a kernel touches.*SharedOverrun");
}

TEST_F(SoftwareDevice, RefusesLaunchesThatADeviceRefuses) {
  const auto nothing = [](const Block&, Index) {};
  queue_.block_threads = 0;
  for_each_block(queue_, 1, 64 * 1024, nothing);  // no limit was asked for, and there is no workspace
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  queue_.shared_limit = 300 * 1024;
  for_each_block(queue_, 1, 64 * 1024, nothing);
  EXPECT_NE(cudaGetLastError(), cudaSuccess);
  queue_.shared_limit = 200 * 1024;
  for_each_block(queue_, 1, 64 * 1024, nothing);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(SoftwareDevice, RefusesCopiesBesideArrays) {
  double host = 0;
  EXPECT_DEATH(cudaMemcpyAsync(values_ + count, &host, sizeof host, cudaMemcpyHostToDevice,
                               queue_.stream != nullptr ? stream() : nullptr),
               "not within an array");
}

/// An array and a stream of the other device.
class TwoSoftwareDevices : public SoftwareDevice {
 protected:
  TwoSoftwareDevices() {
    const CurrentDevice current(1);
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&others_), count * sizeof(double)), cudaSuccess);
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    other_queue_.device = 1;
    other_queue_.stream = stream;
  }
  ~TwoSoftwareDevices() override {
    cudaStreamDestroy(static_cast<cudaStream_t>(other_queue_.stream));
    cudaFree(others_);
  }

  Queue other_queue_;
  double* others_ = nullptr;
};

TEST_F(TwoSoftwareDevices, EachRunsItsKernels) {
  parallel_for(queue_, count, Number{values_});
  parallel_for(other_queue_, count, Number{others_});
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  std::swap(queue_, other_queue_);
  std::swap(values_, others_);
  EXPECT_EQ(downloaded()[1], 1);
}

TEST_F(TwoSoftwareDevices, RefuseEachOthersMemory) {
  EXPECT_DEATH(parallel_for(other_queue_, count, Number{values_}), "a pointer to memory of device 0.*Number");
  EXPECT_DEATH(cudaMemcpyAsync(others_, others_, 8, cudaMemcpyHostToDevice, stream()),
               "not within an array of the stream's device");
}

/// A kernel that comes to an array by a pointer in memory.
struct Hidden {
  double** values;
  __device__ void operator()(Index i) const { values[0][i] = i; }
};
TEST_F(TwoSoftwareDevices, EndAKernelThatReachesTheOthersMemory) {
  cudaMemcpyAsync(values_, &others_, sizeof others_, cudaMemcpyHostToDevice, stream());
  cudaStreamSynchronize(stream());
  EXPECT_DEATH(
      {
        parallel_for(queue_, 1, Hidden{reinterpret_cast<double**>(values_)});
        cudaStreamSynchronize(stream());
      },
      "a kernel touches memory behind an array, released or of another device");
}

TEST_F(TwoSoftwareDevices, RefuseEachOthersStreamsAndGraphs) {
  other_queue_.device = 0;
  parallel_for(other_queue_, count, Number{values_});
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidResourceHandle);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal);
  parallel_for(queue_, count, Number{values_});
  ASSERT_EQ(cudaStreamEndCapture(stream(), &graph), cudaSuccess);
  cudaGraphInstantiate(&executable, graph, 0);
  EXPECT_EQ(cudaGraphLaunch(executable, static_cast<cudaStream_t>(other_queue_.stream)),
            cudaErrorInvalidResourceHandle);
  cudaGetLastError();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}

TEST_F(SoftwareDevice, RecordsGraphsAndWhatTheyForbid) {
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal);
  parallel_for(queue_, count, Number{values_});
  ASSERT_EQ(cudaStreamEndCapture(stream(), &graph), cudaSuccess);
  EXPECT_TRUE(std::isnan(downloaded()[1]));
  cudaGraphExec_t executable = nullptr;
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  cudaGraphLaunch(executable, stream());
  cudaGraphExecDestroy(executable);  // what is under way goes on
  EXPECT_EQ(downloaded()[1], 1);

  cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal);
  EXPECT_EQ(cudaStreamSynchronize(stream()), cudaErrorStreamCaptureUnsupported);
  EXPECT_NE(cudaStreamEndCapture(stream(), &graph), cudaSuccess);
  cudaGetLastError();
  EXPECT_DEATH(
      {
        cudaStreamBeginCapture(stream(), cudaStreamCaptureModeThreadLocal);
        void* more = nullptr;
        cudaMalloc(&more, 8);
      },
      "while a stream captures");
}

}  // namespace
}  // namespace isocloth::cuda
