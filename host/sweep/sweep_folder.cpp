#include "host/sweep/sweep_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

SweepFolder::SweepFolder(const fs::path& dir, IfExists if_exists) {
  const fs::path normal = fs::absolute(dir).lexically_normal();
  dir_ = normal.has_filename() ? normal : normal.parent_path();
  std::error_code error;
  const fs::file_status status = fs::status(dir_, error);
  const bool exists = fs::exists(status);
  if (exists && !fs::is_directory(status))
    fail(dir_, "found a file, expected a folder for the results or nothing");
  const bool is_sweep = fs::exists(dir_ / "sweep.json", error);
  const bool is_empty = !exists || fs::is_empty(dir_, error);
  if (if_exists == IfExists::resume && !is_sweep)
    fail(dir_, "found no sweep, expected one that --resume can go on with");
  if (if_exists == IfExists::refuse && !is_empty)
    fail(dir_, text("found a folder that is not empty, expected a new one; name another",
                    is_sweep ? ", or use --overwrite or --resume" : ""));
  if (if_exists == IfExists::overwrite && !is_empty && !is_sweep)
    fail(dir_, "found a folder of other files, expected a sweep that --overwrite may replace; name another");
}

SweepFolder::~SweepFolder() {
  if (is_saved_) return;
  std::error_code ignored;
  for (auto path = created_.rbegin(); path != created_.rend(); ++path) fs::remove(*path, ignored);
}

void SweepFolder::resume(SweepTable& table, const Json& plan) {
  lock();
  const fs::path path = dir_ / "sweep.json";
  Json root;
  try {
    root = read_json(path);
  } catch (const SceneError& error) {
    throw FileError(error.what());
  }
  if (!root.is_object() || !root.contains("plan") || !root["plan"].is_object() || !root.contains("batches") ||
      !root["batches"].is_array())
    fail(path, "found no plan of a sweep, expected one; the file is damaged");
  for (const auto& [key, expected] : plan.items()) {
    const Json found = root["plan"].value(key, Json());
    if (found != expected)
      fail(path,
           text("plan.", key, ": found ", printable(found.dump()), ", expected ", printable(expected.dump()),
                "; resume with the scene and the arguments that the sweep was begun with"));
  }
  batches_ = root["batches"];
  read_sweep_csv(table, read_whole_file(dir_ / "sweep.csv"), (dir_ / "sweep.csv").string());
  is_saved_ = true;
  saved_rows_ = table.rows.size();
}

void SweepFolder::lock() {
  lock_ = OwnedFile(::open(dir_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_.descriptor() >= 0 && ::flock(lock_.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    fail(dir_, "found another sweep that writes there now, expected none; wait for it or name another");
}

void SweepFolder::create(const std::string& scene_text) {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path above = dir_; !fs::exists(above, error) && !error; above = above.parent_path())
    missing.push_back(above);
  for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
    if (!fs::create_directory(*path, error) && error)
      fail(dir_, text("cannot create ", path->string(), ": ", error.message()));
    created_.push_back(*path);
  }
  if (::access(dir_.c_str(), W_OK | X_OK) != 0) fail(dir_, text("cannot write: ", std::strerror(errno)));
  lock();
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
  for (const CaseStatus status : {CaseStatus::completed, CaseStatus::stalled, CaseStatus::failed})
    counts[to_string(status)] = table.count(status);
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
      {dir_ / "sweep.csv", sweep_csv(table)},
      {dir_ / "sweep.json", root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"}};
  if (!is_saved_) files.push_back({dir_ / "scene.json", scene_text_});
  replace_files(files);
  // Pictures of an earlier sweep are none of this one.
  std::error_code ignored;
  for (const char* name : {"sweep.svg", "sweep.html"})
    if (!is_saved_) fs::remove(dir_ / name, ignored);
  is_saved_ = true;
  saved_rows_ = table.rows.size();
  saved_at_ = Clock::now();
  save_took_ = saved_at_ - start;
}

void SweepFolder::write_pictures(const SweepTable& table, const std::string& title) {
  replace_files(
      {{dir_ / "sweep.svg", sweep_svg(table, 0, title)}, {dir_ / "sweep.html", sweep_page(table, title)}});
}

}  // namespace isocloth
