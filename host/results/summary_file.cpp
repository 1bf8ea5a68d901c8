#include "host/results/summary_file.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>
#include <type_traits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/json_text.hpp"
#include "host/files/names.hpp"
#include "host/files/text_file.hpp"
#include "host/results/metric_columns.hpp"

namespace isocloth {

static void to_json(Json& to, const IntersectingPair& pair) {
  to = Json{{"time", pair.time}, {"edge_garment", pair.edge_garment},
            {"edge", pair.edge}, {"face_garment", pair.face_garment},
            {"face", pair.face}, {"place", pair.position}};
}

static void from_json(const Json& from, IntersectingPair& pair) {
  from.at("time").get_to(pair.time);
  from.at("edge_garment").get_to(pair.edge_garment);
  from.at("edge").get_to(pair.edge);
  from.at("face_garment").get_to(pair.face_garment);
  from.at("face").get_to(pair.face);
  from.at("place").get_to(pair.position);
}

namespace {

/// Calls visit(key, about, member) for every number of the summary.
template <class Part, class Found, class Visit>
void for_each_key(Found& found, const Visit& visit) {
  constexpr bool is_own = std::is_same_v<Part, RunSummary>;
  for_each_quantity<Part>([&](const auto& quantity) {
    auto& value = found.*quantity.member;
    using Type = std::remove_cvref_t<decltype(value)>;
    const char* const key = is_own ? quantity.name : quantity.about.files.summary;
    if constexpr (HasQuantities<Type>)
      for_each_key<Type>(value, visit);
    else if constexpr (is_own || std::is_arithmetic_v<Type>)
      if (key != nullptr) visit(key, quantity.about, value);
  });
}

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"") == std::string::npos) return name;
  std::string all = "\"";
  for (const char c : name) all += c == '"' ? std::string("\"\"") : std::string(1, c);
  return all.append("\"");
}

}  // namespace

std::string summary_json(const RunSummary& summary) {
  Json root;
  for_each_key<RunSummary>(summary, [&root](const char* name, const About&, const auto& member) {
    if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(member)>>) {
      if (std::isinf(member)) {
        throw NumericalError(text("summary: found ", name, " ", member, ", expected a finite number"));
      }
      if (std::isnan(member)) {
        root[name] = nullptr;
        return;
      }
    }
    root[name] = member;
  });
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<SummaryKey> summary_keys() {
  std::vector<SummaryKey> keys;
  RunSummary none;
  for_each_key<RunSummary>(none, [&](const char* name, const About& about, const auto&) {
    keys.push_back({name, about});
  });
  return keys;
}

RunSummary parse_summary(const std::string& content, const std::string& source) {
  RunSummary summary;
  try {
    const Json root = parse_json(content, source);
    for_each_key<RunSummary>(summary, [&root](const char* name, const About& about, auto& member) {
      using Member = std::remove_cvref_t<decltype(member)>;
      if (about.files.is_optional && !root.contains(name)) return;
      const Json& found = root.at(name);
      if constexpr (std::is_floating_point_v<Member>) {
        member = found.is_null() ? std::numeric_limits<double>::quiet_NaN() : found.get<double>();
      } else {
        member = found.get<Member>();
      }
    });
  } catch (const Json::exception& error) {
    const std::string_view what = error.what();
    throw FileError(
        text(source, ": not a summary of this version: ", printable(what.substr(what.find("] ") + 2), 200)));
  } catch (const SceneError& error) {
    throw FileError(error.what());
  }
  return summary;
}

RunSummary read_summary(const std::filesystem::path& path) {
  return parse_summary(read_whole_file(path), path.string());
}

std::string metric_names(bool has_energies) {
  std::string names;
  for (const MetricColumn& column : metric_columns(has_energies))
    names += (names.empty() ? "" : ",") + column.name;
  return names;
}

std::string metrics_header(bool has_energies) {
  return "frame,step,time,garment,status," + metric_names(has_energies) + "\n";
}

std::string metrics_lines(std::int64_t frame, std::int64_t step, double time,
                          const std::vector<std::string>& garments, const std::vector<FrameMetrics>& metrics,
                          bool has_energies) {
  const std::vector<MetricColumn> columns = metric_columns(has_energies);
  const std::string begin = text(frame, ",", step, ",", shortest(time), ",");
  std::string lines;
  for (std::size_t g = 0; g < metrics.size(); ++g) {
    lines.append(begin).append(quoted(garments[g])).append(",").append(to_string(metrics[g].steps.status));
    for (const MetricColumn& column : columns) {
      char number[40];
      number[0] = ',';
      const char* const end = std::to_chars(number + 1, number + sizeof number, column.get(metrics[g])).ptr;
      lines.append(number, static_cast<std::size_t>(end - number));
    }
    lines += "\n";
  }
  return lines;
}

}  // namespace isocloth
