// Described structs as datasets of a file: one for every member, whatever the number of structs.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/core/fields.hpp"
#include "engine/core/text.hpp"
#include "host/files/hdf5_file.hpp"
#include "host/results/scene_digest.hpp"

namespace isocloth {

/// What the numbers of a value are stored as, and how many there are.
template <class T>
using Stored =
    std::conditional_t<!std::is_integral_v<T> && !std::is_enum_v<T>, double,
                       std::conditional_t<sizeof(T) == sizeof(std::int64_t), std::int64_t, std::int32_t>>;
template <class T>
constexpr std::size_t number_count = [] {
  T value{};
  std::size_t count = 0;
  for_each_number(value, [&count](const auto&) { ++count; });
  return count;
}();

/// Numbers of a dataset, in the digest of all.
template <class Number>
void add_bytes(Digest& digest, const std::vector<Number>& numbers) {
  digest.add(
      std::string_view(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number)));
}
template <class T>
Hdf5Shape column_shape(std::size_t rows) {
  return number_count<T> == 1 ? Hdf5Shape{rows} : Hdf5Shape{rows, number_count<T>};
}

/// Writes `rows`: members of structs as name/member, arrays one after another beside name_sizes, numbers as
/// they are.
template <class T>
void write_columns(Hdf5File& file, const std::string& name, const std::vector<T>& rows, Digest& digest) {
  if constexpr (Described<T>) {
    for_each_field<T>([&](const char* member_name, auto member) {
      std::vector<std::remove_cvref_t<decltype(rows.front().*member)>> column;
      for (const T& row : rows) column.push_back(row.*member);
      write_columns(file, text(name, "/", member_name), column, digest);
    });
  } else if constexpr (is_vector<T>) {
    std::vector<std::int64_t> sizes;
    T all;
    for (const T& row : rows) {
      sizes.push_back(static_cast<std::int64_t>(row.size()));
      all.insert(all.end(), row.begin(), row.end());
    }
    write_columns(file, name + "_sizes", sizes, digest);
    write_columns(file, name, all, digest);
  } else {
    using Number = Stored<T>;
    std::vector<Number> numbers;
    numbers.reserve(rows.size() * number_count<T>);
    for (const T& row : rows)
      for_each_number(row, [&](const auto& number) { numbers.push_back(static_cast<Number>(number)); });
    add_bytes(digest, numbers);
    file.write<Number>(name, numbers, column_shape<T>(rows.size()));
  }
}

/// Reads what write_columns has written of `count` rows; throws FileError where sizes do not fit.
template <class T>
std::vector<T> read_columns(const Hdf5File& file, const std::string& name, std::size_t count,
                            Digest& digest) {
  std::vector<T> rows;
  if constexpr (Described<T>) {
    for_each_field<T>([&](const char* member_name, auto member) {
      using Member = std::remove_cvref_t<decltype(rows.front().*member)>;
      std::vector<Member> column = read_columns<Member>(file, text(name, "/", member_name), count, digest);
      rows.resize(count);  // not before a column has shown that there are so many
      for (std::size_t i = 0; i < count; ++i) rows[i].*member = std::move(column[i]);
    });
  } else if constexpr (is_vector<T>) {
    std::int64_t total = 0;
    const auto sizes = read_columns<std::int64_t>(file, name + "_sizes", count, digest);
    for (const std::int64_t size : sizes) {
      if (size < 0 || size > std::numeric_limits<std::int64_t>::max() - total)
        throw FileError(
            text(file.path().string(), ": ", name, "_sizes: found ", size, "; the file is damaged"));
      total += size;
    }
    const T all = read_columns<typename T::value_type>(file, name, static_cast<std::size_t>(total), digest);
    auto begin = all.begin();
    for (const std::int64_t size : sizes) {
      rows.emplace_back(begin, begin + size);
      begin += size;
    }
  } else {
    using Number = Stored<T>;
    const auto numbers = file.read<Number>(name, column_shape<T>(count));
    add_bytes(digest, numbers);
    auto next = numbers.begin();
    rows.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      T row{};
      for_each_number(row, [&]<class Own>(Own& number) { number = static_cast<Own>(*next++); });
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace isocloth
