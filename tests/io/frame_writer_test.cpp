#include "host/results/frame_writer.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "engine/core/errors.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

TrajectoryFrame frame(std::int64_t step, std::size_t node_count = 1) {
  return {step, 0, std::vector<double>(3 * node_count), {}};
}

TEST(FrameWriter, WritesInOrderAndFlushesWhenAsked) {
  std::vector<std::int64_t> steps;
  std::size_t flushed = 0;
  FrameWriter writer([&](const TrajectoryFrame& f) { steps.push_back(f.step); },
                     [&] { flushed = steps.size(); });
  writer.drain();
  EXPECT_EQ(flushed, 0);
  for (std::int64_t i = 0; i < 3000; ++i) {
    writer.push(frame(i, 100));
    if (i % 1000 != 999) continue;
    writer.drain();
    ASSERT_EQ(steps.size(), static_cast<std::size_t>(i + 1));
    EXPECT_EQ(flushed, steps.size());
  }
  for (std::int64_t i = 0; i < 3000; ++i) ASSERT_EQ(steps[static_cast<std::size_t>(i)], i);
}

TEST(FrameWriter, WritesTheRestWhenItEnds) {
  std::size_t written = 0, flushed = 0;
  {
    FrameWriter writer([&](const TrajectoryFrame&) { ++written; }, [&] { flushed = written; });
    for (std::int64_t i = 0; i < 7; ++i) writer.push(frame(i));
  }
  EXPECT_EQ(flushed, 7);
}

TEST(FrameWriter, FlushesBySelf) {
  std::atomic<int> flushed = 0;
  FrameWriter writer([](const TrajectoryFrame&) {}, [&] { ++flushed; });
  writer.push(frame(0));
  for (int tries = 0; tries < 1000 && flushed == 0; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(flushed, 1);
}

TEST(FrameWriter, ThrowsWhatItsThreadMet) {
  const auto fail = [](const TrajectoryFrame& f) {
    if (f.step == 5) throw FileError("t.h5: cannot write: full");
  };
  FrameWriter writer(fail, [] {});
  for (std::int64_t i = 0; i < 6; ++i) writer.push(frame(i));
  EXPECT_EQ(message_of<FileError>([&] { writer.drain(); }), "t.h5: cannot write: full");
  EXPECT_EQ(message_of<FileError>([&] { writer.push(frame(6)); }), "t.h5: cannot write: full");
  FrameWriter full([](const TrajectoryFrame&) {}, [] { throw FileError("t.h5: cannot flush"); });
  full.push(frame(0));
  EXPECT_EQ(message_of<FileError>([&] { full.drain(); }), "t.h5: cannot flush");
  // A caller that never asks is stopped, too.
  FrameWriter late(fail, [] {});
  message_of<FileError>([&] {
    for (std::int64_t i = 0; i < 1000000; ++i) late.push(frame(i, 4000));
  });
}

TEST(FrameWriter, HoldsTheCallerBackRatherThanFillTheMemory) {
  std::atomic<std::int64_t> pushed = 0, written = 0, most_ahead = 0;
  FrameWriter writer(
      [&](const TrajectoryFrame&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        most_ahead = std::max<std::int64_t>(most_ahead, pushed - written++);
      },
      [] {});
  for (int i = 0; i < 90; ++i) {
    writer.push(frame(i, 100000));  // 2.4 MB
    ++pushed;
  }
  writer.drain();
  EXPECT_EQ(written, 90);
  EXPECT_LT(most_ahead, 64);
}

}  // namespace
}  // namespace isocloth
