#include "host/results/checkpoint_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

#include "engine/core/errors.hpp"
#include "host/files/hdf5_file.hpp"
#include "tests/io/limited_process.hpp"
#include "tests/io/run_cases.hpp"
#include "tests/io/temporary_folder.hpp"

namespace isocloth {
namespace {

/// Finite doubles of every kind: random bits, denormal and signed zero among them.
std::vector<double> random_doubles(std::size_t count, std::mt19937_64& random) {
  std::vector<double> values{-0.0, std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::max()};
  while (values.size() < count) {
    const std::uint64_t bits = random();
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) values.push_back(value);
  }
  values.resize(count);
  return values;
}

Checkpoint checkpoint_of(const Scene& scene) {
  std::mt19937_64 random(11);
  Checkpoint checkpoint;
  checkpoint.step_index = 12345678901;
  checkpoint.summary.status = "interrupted";
  checkpoint.summary.wall_seconds = 1. / 3;
  checkpoint.summary.overall.steps.residual = std::nan("");
  checkpoint.summary.seed = std::numeric_limits<std::uint64_t>::max();
  checkpoint.since_frame = metrics_at(scene, 7, true);
  for (const Garment& garment : scene.garments) {
    const std::size_t count = 3 * garment.mesh.positions.size();
    const auto vector = [&random] {
      const std::vector<double> d = random_doubles(6, random);
      return Vec3d{d[3], d[4], d[5]};
    };
    checkpoint.garments.emplace_back();
    // All members, so that one that is new must be set here, too.
    auto& [positions, velocities, multipliers, contacts, eased, holds, previous_positions,
           previous_velocities, previous_step, step_index, frozen, diverged, cloth_contacts, plastic_strains,
           air, fasteners, rest_time] = checkpoint.garments.back();
    rest_time = vector().z;
    fasteners.zippers = {{.number = 2, .share = vector().x}, {.number = 5, .share = vector().y}};
    fasteners.drawstrings = {{.number = 1, .share = vector().z}};
    fasteners.released = {3, 4, static_cast<Index>(random() % 1000)};
    auto& [circulations, wake_points, wake_circulations, pressures, loads, node_velocities] = air;
    std::size_t air_count = 0;
    for (std::vector<double>* values :
         {&circulations, &wake_points, &wake_circulations, &pressures, &loads, &node_velocities})
      *values = random_doubles(20 + ++air_count, random);
    cloth_contacts = {{.key = 5, .force = vector()}, {.key = -(std::int64_t{1} << 62), .force = vector()}};
    previous_positions = random_doubles(count, random);
    previous_velocities = random_doubles(count, random);
    plastic_strains = random_doubles(count, random);
    previous_step = 0.01 / 3;
    positions = random_doubles(count, random);
    velocities = random_doubles(count, random);
    multipliers = random_doubles(50, random);
    contacts.resize(8);
    for (auto& [obstacle, mode, force, slip, place] : contacts) {
      obstacle = static_cast<Index>(random() % 1000);
      mode = static_cast<ContactMode>(1 + random() % 4);
      force = vector();
      slip = vector().x;
      place = {vector().x, vector().y};
    }
    eased.resize(6);
    for (auto& [obstacle, depth] : eased) {
      obstacle = static_cast<Index>(random() % 1000);
      depth = vector().x;
    }
    holds.resize(14);
    for (auto& [gripper, place, force] : holds) {
      gripper = static_cast<Index>(random() % 1000);
      place = vector();
      force = vector();
    }
    step_index = 9007199254740993 + static_cast<std::int64_t>(random() % 1000);
    frozen = checkpoint.garments.size() == 2;
    diverged = frozen;
  }
  checkpoint.garments[1].multipliers.clear();
  checkpoint.garments[0].contacts.clear();
  return checkpoint;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

TEST(CheckpointFile, KeepsEveryBit) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  const Checkpoint written = checkpoint_of(scene);
  write_checkpoint(folder / "c.h5", scene, written);
  write_checkpoint(folder / "c.h5", scene, written);
  EXPECT_EQ(folder.entry_count(), 1);
  const Checkpoint read = read_checkpoint(folder / "c.h5", scene, Precision::float64);
  EXPECT_EQ(read.step_index, written.step_index);
  EXPECT_EQ(read.precision, Precision::float64);
  ASSERT_EQ(read.garments.size(), 2);
  for (std::size_t g = 0; g < 2; ++g) {
    EXPECT_TRUE(same_bits(read.garments[g].positions, written.garments[g].positions));
    EXPECT_TRUE(same_bits(read.garments[g].velocities, written.garments[g].velocities));
    EXPECT_TRUE(same_bits(read.garments[g].multipliers, written.garments[g].multipliers));
    EXPECT_TRUE(read.garments[g] == written.garments[g]);
    EXPECT_EQ(read.garments[g].frozen, g == 1);
  }
  EXPECT_TRUE(same(read.since_frame, written.since_frame));
  EXPECT_EQ(read.summary.status, "interrupted");
  EXPECT_EQ(read.summary.wall_seconds, 1. / 3);
  EXPECT_TRUE(std::isnan(read.summary.overall.steps.residual));
  EXPECT_EQ(read.summary.seed, written.summary.seed);
}

TEST(CheckpointFile, KeepsEveryFieldOfBodies) {
  const TemporaryFolder folder;
  Scene scene = two_garments();
  scene.bodies.resize(2);
  Checkpoint written = checkpoint_of(scene);
  double next = 0;
  for (int i = 0; i < 2; ++i) {
    auto& [pose, velocity, angular_momentum] = written.bodies.emplace_back();
    auto& [center, axes] = pose;
    for (Vec3d* v : {&center, &axes[0], &axes[1], &axes[2], &velocity, &angular_momentum})
      for_each_number(*v, [&next](double& number) { number = ++next; });
  }
  write_checkpoint(folder / "c.h5", scene, written);
  const Checkpoint read = read_checkpoint(folder / "c.h5", scene, Precision::float64);
  ASSERT_EQ(read.bodies.size(), 2);
  for (std::size_t b = 0; b < 2; ++b) EXPECT_TRUE(read.bodies[b] == written.bodies[b]);
}

TEST(CheckpointFile, RefusesAnotherScenePrecisionOrVersion) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  write_checkpoint(folder / "c.h5", scene, checkpoint_of(scene));
  Scene longer = scene;
  longer.duration = 77;
  EXPECT_NO_THROW(read_checkpoint(folder / "c.h5", longer, Precision::float64));
  Scene other = scene;
  other.garments[1].fabric.mass_damping += 1e-12;
  std::string message =
      message_of<FileError>([&] { read_checkpoint(folder / "c.h5", other, Precision::float64); });
  EXPECT_NE(message.find("c.h5: found the state of another scene"), std::string::npos) << message;
  message = message_of<FileError>([&] { read_checkpoint(folder / "c.h5", scene, Precision::float32); });
  EXPECT_NE(message.find("found a state in float64, expected float32"), std::string::npos) << message;
  Hdf5File file = Hdf5File::create(folder / "future.h5");
  file.write_attribute("format", std::string("isocloth checkpoint"));
  file.write_attribute("version", std::uint64_t{99});
  file.close();
  message = message_of<FileError>([&] { read_checkpoint(folder / "future.h5", scene, Precision::float64); });
  EXPECT_NE(message.find("version 99, expected \"isocloth checkpoint\" version 15"), std::string::npos)
      << message;
}

TEST(CheckpointFile, RefusesEveryDamage) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  const Checkpoint written = checkpoint_of(scene);
  write_checkpoint(folder / "c.h5", scene, written);
  const std::string whole = read_whole_file(folder / "c.h5");
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    std::string damaged = whole;
    if (i % 3 == 0) damaged.resize(random() % whole.size());
    if (i % 3) damaged[random() % whole.size()] ^= static_cast<char>(1 + random() % 255);
    folder.write("damaged.h5", damaged);
    try {
      // Bytes that HDF5 does not use may change; nothing that is read may.
      const Checkpoint read = read_checkpoint(folder / "damaged.h5", scene, Precision::float64);
      EXPECT_EQ(read.step_index, written.step_index);
      for (std::size_t g = 0; g < 2; ++g) EXPECT_TRUE(read.garments[g] == written.garments[g]);
      EXPECT_NE(i % 3, 0) << "a truncated file was read";
    } catch (const FileError& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
      ++refused;
    }
  }
  EXPECT_GT(refused, 250);
}

TEST(CheckpointFile, RefusesWhatIsNotFiniteOrOfTheWrongSize) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  const auto expect_refused = [&]<class ExpectedError>(ExpectedError*, auto change) {
    Checkpoint checkpoint = checkpoint_of(scene);
    change(checkpoint);
    message_of<ExpectedError>([&] { write_checkpoint(folder / "c.h5", scene, checkpoint); });
    EXPECT_EQ(folder.entry_count(), 0);
  };
  NumericalError* const numerical = nullptr;
  ShapeError* const shape = nullptr;
  expect_refused(numerical, [](Checkpoint& c) { c.garments[1].velocities[5] = std::nan(""); });
  expect_refused(numerical, [](Checkpoint& c) { c.garments[0].multipliers[0] = HUGE_VAL; });
  expect_refused(shape, [](Checkpoint& c) { c.garments.pop_back(); });
  expect_refused(shape, [](Checkpoint& c) { c.garments[0].positions.pop_back(); });
  expect_refused(shape, [](Checkpoint& c) { c.since_frame.pop_back(); });
}

TEST(CheckpointFile, AFullDiskKeepsTheOldOne) {
  const TemporaryFolder folder;
  const Scene scene = two_garments();
  const Checkpoint old = checkpoint_of(scene);
  write_checkpoint(folder / "c.h5", scene, old);
  for (const rlim_t bytes : {rlim_t{100}, rlim_t{3000}, rlim_t{5000}}) {
    Checkpoint changed = old;
    changed.step_index = 1;
    const std::string message =
        message_with_file_limit(bytes, [&] { write_checkpoint(folder / "c.h5", scene, changed); });
    EXPECT_EQ(message.find((folder / "c.h5").string()), 0) << message;
    EXPECT_NE(message.find("File too large"), std::string::npos) << message;
    EXPECT_EQ(folder.entry_count(), 1);
    EXPECT_EQ(read_checkpoint(folder / "c.h5", scene, Precision::float64).step_index, old.step_index);
  }
}

}  // namespace
}  // namespace isocloth
