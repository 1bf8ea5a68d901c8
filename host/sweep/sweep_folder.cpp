#include "host/sweep/sweep_folder.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"
#include "host/sweep/sweep_page.hpp"
#include "host/sweep/sweep_plot.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const std::string& message) {
  throw FileError(text(path.string(), ": ", message));
}

}  // namespace

SweepFolder::SweepFolder(const fs::path& dir, IfExists if_exists)
    : folder_(dir, if_exists, "sweep.json", "sweep") {}

void SweepFolder::resume(SweepTable& table, const Json& plan) {
  folder_.lock();
  const fs::path file = path() / "sweep.json";
  Json root;
  try {
    root = read_json(file);
  } catch (const SceneError& error) {
    throw FileError(error.what());
  }
  if (!root.is_object() || !root.contains("plan") || !root["plan"].is_object() || !root.contains("batches") ||
      !root["batches"].is_array())
    fail(file, "found no plan of a sweep, expected one; the file is damaged");
  for (const auto& [key, expected] : plan.items()) {
    const Json found = root["plan"].value(key, Json());
    if (found != expected)
      fail(file,
           text("plan.", key, ": found ", printable(found.dump()), ", expected ", printable(expected.dump()),
                "; resume with the scene and the arguments that the sweep was begun with"));
  }
  batches_ = root["batches"];
  read_sweep_csv(table, read_whole_file(path() / "sweep.csv"), (path() / "sweep.csv").string());
  folder_.keep();
  saved_rows_ = table.rows.size();
}

void SweepFolder::create(const std::string& scene_text) {
  folder_.create();
  scene_text_ = scene_text;
}

void SweepFolder::add(const SweepBatch& batch) {
  batches_.push_back({{"first", batch.first},
                      {"count", batch.count},
                      {"wall_seconds", batch.wall_seconds},
                      {"realtime_factor", batch.realtime_factor}});
}

void SweepFolder::save_often(const SweepTable& table, const Json& plan, const Json& execution) {
  const std::size_t rows = table.rows.size();
  if (20 * (rows - saved_rows_) >= rows || Clock::now() - saved_at_ >= 20 * save_took_)
    save(table, plan, execution);
}

void SweepFolder::save(const SweepTable& table, const Json& plan, const Json& execution) {
  const Clock::time_point start = Clock::now();
  const bool is_complete = table.rows.size() == table.plan.case_count;
  Json counts, cases = Json::array();
  for (const CaseStatus status : case_statuses) counts[to_string(status)] = table.count(status);
  for (const SweepRow& row : table.rows) cases.push_back(to_string(row.status));
  const Json root{{"status", is_complete ? "completed" : "interrupted"},
                  {"cases_done", table.rows.size()},
                  {"case_counts", std::move(counts)},
                  {"plan", plan},
                  {"execution", execution},
                  {"batches", batches_},
                  {"case_status", std::move(cases)}};
  // The table first: rows that sweep.json does not know yet are taken up again, not the other way round.
  std::vector<FileContent> files{
      {path() / "sweep.csv", sweep_csv(table)},
      {path() / "sweep.json", root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"}};
  if (!folder_.is_kept()) files.push_back({path() / "scene.json", scene_text_});
  replace_files(files);
  // Pictures of an earlier sweep are none of this one.
  std::error_code ignored;
  for (const char* name : {"sweep.svg", "sweep.html"})
    if (!folder_.is_kept()) fs::remove(path() / name, ignored);
  folder_.keep();
  saved_rows_ = table.rows.size();
  saved_at_ = Clock::now();
  save_took_ = saved_at_ - start;
}

void SweepFolder::write_pictures(const SweepTable& table, const std::string& title) {
  replace_files({{path() / "sweep.svg", sweep_svg(table, 0, title)},
                 {path() / "sweep.html", sweep_page(table, title)}});
}

}  // namespace isocloth
