// Reductions, scans, sorts and selections by the engine and by libraries.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "bench/libraries.hpp"
#include "engine/core/text.hpp"
#include "host/garment/reducer.hpp"

namespace isocloth::bench {
namespace {

using Generator = std::mt19937_64;  // seeded alike every time

/// Where one result differs from another, of all.
double share_of_differences(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size()) return 1;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != expected[i];
  return static_cast<double>(wrong) / static_cast<double>(std::max<std::size_t>(1, found.size()));
}

template <class T>
std::vector<double> as_doubles(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

/// A library's task, and the copy of its result to the host.
class TaskThenRead final : public LibraryTask {
 public:
  TaskThenRead(std::unique_ptr<LibraryTask> task, std::function<void()> read)
      : task_(std::move(task)), read_(std::move(read)) {}
  std::string name() const override { return task_->name() + ", then those"; }
  void run() override {
    task_->run();
    read_();
  }

 private:
  std::unique_ptr<LibraryTask> task_;
  std::function<void()> read_;
};

template <class Real>
void contest_reduction(Contests& contests, int length) {
  const Device& device = contests.device();
  std::vector<Real> values;
  Generator generator;
  for (int i = 0; i < length; ++i)
    values.push_back(static_cast<Real>(std::ldexp(static_cast<double>(generator()), -64) - 0.5));
  long double sum = 0, magnitudes = 0;
  Real maximum = 0;
  for (const Real x : values) {
    sum += x;
    magnitudes += std::abs(x);
    maximum = std::max(maximum, std::abs(x));
  }
  const Buffer<Real> device_values(device, values);
  Buffer<Reduction<Real>> partials(device, static_cast<std::size_t>(reduction_count(values.size())));
  const Reduce<Real> arrays{.values = device_values.view(), .partials = partials.view()};
  contests.begin(
      {.work = "sums and largest values",
       .size = text(length),
       .precision = sizeof(Real) == sizeof(float) ? "float32" : "float64",
       // A chunk's sum is off by half a rounding per addition at most.
       .tolerance = 0.5 * reduction_chunk * static_cast<double>(std::numeric_limits<Real>::epsilon()),
       .spoil = [&] { partials.upload(std::vector<Reduction<Real>>(partials.size(), {.maximum = -1})); },
       .result =
           [&] {
             std::vector<double> flat;
             for (const Reduction<Real>& r : partials.download())
               for (const Real x : {r.maximum, r.sum, r.magnitude_sum, r.square_sum, Real(r.first_bad)})
                 flat.push_back(static_cast<double>(x));
             return flat;
           },
       .error_of =
           [&](const std::vector<double>& flat) {
             long double total = 0;
             double largest = 0;
             bool is_finite = true;
             for (std::size_t i = 0; i < flat.size(); i += 5) {
               largest = std::max(largest, flat[i]);
               total += flat[i + 1];
               is_finite = is_finite && flat[i + 4] == -1;
             }
             if (largest != static_cast<double>(maximum) || !is_finite) return 1.0;
             return static_cast<double>(std::abs(total - sum) / magnitudes);
           }});
  contests.add("engine", [&] { step_kernels<Real>(device.backend()).reduce(device.queue(), arrays); });
  contests.add(contests.libraries().reductions(device.queue(), arrays));
}

}  // namespace

void contest_reductions(Contests& contests, int length) {
  contest_reduction<float>(contests, length);
  contest_reduction<double>(contests, length);
}

void contest_scans(Contests& contests, int length) {
  const Device& device = contests.device();
  std::vector<Index> counts, offsets(static_cast<std::size_t>(length));
  Generator generator;
  for (int i = 0; i < length; ++i) counts.push_back(static_cast<Index>(generator() >> 62));
  const Buffer<Index> from(device, counts);
  Buffer<Index> to(device, counts.size());
  std::vector<Index> expected(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), expected.begin(), Index(0));
  bool on_host = true;
  contests.begin(
      {.work = "offsets of counts",
       .size = text(length),
       .precision = {},
       .spoil =
           [&] {
             std::fill(offsets.begin(), offsets.end(), -1);
             to.upload(offsets);
           },
       .result = [&] { return as_doubles(on_host ? offsets : to.download()); },
       .error_of = [&](const auto& found) { return share_of_differences(found, as_doubles(expected)); }});
  contests.add("engine: std::exclusive_scan on the host",
               [&] { std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), Index(0)); });
  on_host = false;
  contests.add(contests.libraries().scans(device.queue(), from.view(), to.view()));
}

void contest_sorts(Contests& contests, int length) {
  struct Keyed {
    std::uint64_t key;
    Index value;
    bool operator<(const Keyed& other) const {
      return std::tie(key, value) < std::tie(other.key, other.value);
    }
  };
  const Device& device = contests.device();
  std::vector<Keyed> pairs, sorted;
  std::vector<std::uint64_t> keys;
  std::vector<Index> values;
  Generator generator;
  for (Index i = 0; i < length; ++i) {
    pairs.push_back({i % 2 == 0 ? generator() : keys.back(), i});  // every key twice
    keys.push_back(pairs.back().key);
    values.push_back(pairs.back().value);
  }
  std::vector<Keyed> expected = pairs;
  std::sort(expected.begin(), expected.end());
  const auto order_of = [](const std::vector<Keyed>& all) {
    std::vector<double> order;
    for (const Keyed& one : all) order.push_back(one.value);
    return order;
  };
  const Buffer<std::uint64_t> device_keys(device, keys);
  const Buffer<Index> device_values(device, values);
  Buffer<std::uint64_t> sorted_keys(device, keys.size());
  Buffer<Index> sorted_values(device, values.size());
  bool on_host = true;
  contests.begin(
      {.work = "sort by keys",
       .size = text(length),
       .precision = {},
       .spoil =
           [&] {
             sorted.clear();
             sorted_values.upload(std::vector<Index>(values.size(), -1));
           },
       .result = [&] { return on_host ? order_of(sorted) : as_doubles(sorted_values.download()); },
       .error_of = [&](const auto& found) { return share_of_differences(found, order_of(expected)); }});
  contests.add("engine: std::sort on the host", [&] {
    sorted = pairs;
    std::sort(sorted.begin(), sorted.end());
  });
  on_host = false;
  contests.add(contests.libraries().sorts(device.queue(), {.keys = device_keys.view(),
                                                           .values = device_values.view(),
                                                           .sorted_keys = sorted_keys.view(),
                                                           .sorted_values = sorted_values.view()}));
}

void contest_selections(Contests& contests, int length) {
  constexpr std::size_t one_of = 73;  // as a body that walks in three garments has them
  const Device& device = contests.device();
  const std::size_t size = static_cast<std::size_t>(length);
  std::vector<PairStatus> statuses(size, PairStatus::apart);
  std::vector<FoundContact> contacts(size);
  std::vector<double> expected;
  Generator generator;
  for (std::size_t i = 0; i < size; ++i) {
    contacts[i].key = i;
    if (generator() % one_of != 0) continue;
    statuses[i] = PairStatus::near_by;
    expected.push_back(static_cast<double>(i));
  }
  const Buffer<PairStatus> device_statuses(device, statuses);
  const Buffer<FoundContact> found(device, contacts);
  Buffer<FoundContact> selected(device, size);
  Buffer<Index> count(device, 1);
  std::vector<FoundContact> chosen, staging;
  std::vector<PairStatus> status_staging;
  contests.begin({.work = "contacts to the host",
                  .size = text(length, " pairs"),
                  .precision = {},
                  .spoil =
                      [&] {
                        chosen.clear();
                        selected.upload(std::vector<FoundContact>(size));
                        count.upload(std::vector<Index>{0});
                      },
                  .result =
                      [&] {
                        std::vector<double> keys;
                        for (const FoundContact& contact : chosen)
                          keys.push_back(static_cast<double>(contact.key));
                        return keys;
                      },
                  .error_of = [&](const auto& keys) { return share_of_differences(keys, expected); }});
  contests.add("engine: all, chosen there", [&] {
    chosen.clear();
    const PairStatus* const all_statuses = device_statuses.read(0, size, status_staging);
    const FoundContact* const all = found.read(0, size, staging);
    for (std::size_t i = 0; i < size; ++i)
      if (all_statuses[i] != PairStatus::apart) chosen.push_back(all[i]);
  });
  const auto read_selected = [&] {
    const std::size_t most = static_cast<std::size_t>(count.download().front());
    const FoundContact* const few = std::as_const(selected).read(0, most, staging);
    chosen.assign(few, few + most);
  };
  TaskMakers<> selections;
  for (const auto& make : contests.libraries().selections(device.queue(), {.statuses = device_statuses.view(),
                                                                          .found = found.view(),
                                                                          .selected = selected.view(),
                                                                          .count = count.view()}))
    selections.push_back([=] { return std::make_unique<TaskThenRead>(make(), read_selected); });
  contests.add(selections);
}

}  // namespace isocloth::bench
