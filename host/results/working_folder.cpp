#include "host/results/working_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "engine/core/enum_check.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = ".lock";
constexpr std::string_view partial_mark = ".partial-";

[[noreturn]] void refuse(const fs::path& path, const std::string& message) {
  throw FileError(text(path.string(), ": ", message));
}

/// `path` with a suffix to the last name.
fs::path beside(const fs::path& path, const std::string& suffix) {
  fs::path other = path;
  other += suffix;
  return other;
}

fs::path folder_path(const fs::path& dir) {
  if (dir.empty()) throw FileError("output: found an empty name, expected a folder");
  const fs::path normal = fs::absolute(dir).lexically_normal();
  fs::path path = normal.has_filename() ? normal : normal.parent_path();
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::canonical(path, error);
  if (error) {
    refuse(path, text("found a link to ", fs::read_symlink(path, error).string(),
                      ", which is not there; make that folder or name another"));
  }
  return target;
}

bool is_result_folder(const fs::path& dir) {
  std::error_code error;
  return fs::exists(dir / "scene.json", error) &&
         (fs::exists(dir / "trajectory.h5", error) || fs::exists(dir / "drape.obj", error) ||
          fs::exists(dir / "rest.obj", error));
}

OwnedFile open_file(const fs::path& path, int flags) {
  return OwnedFile(::open(path.c_str(), flags | O_CLOEXEC, 0666));
}

/// Whether a living process has locked the folder.
bool is_locked(const fs::path& folder) {
  const OwnedFile file = open_file(folder / lock_name, O_RDWR);
  return file.descriptor() >= 0 && ::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Keeps other runs from looking at a folder while one adds its own to it. Where the file system knows no
/// locks, or a stranger holds this one, runs that start at the same moment may not see each other.
OwnedFile locked_folder(const fs::path& folder) {
  OwnedFile file = open_file(folder, O_RDONLY | O_DIRECTORY);
  for (int tries = 0; tries < 200 && file.descriptor() >= 0; ++tries) {
    if (::flock(file.descriptor(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return file;
}

/// Names of working folders of `dir`, of any process.
std::vector<fs::path> partial_folders(const fs::path& dir) {
  const std::string begin = dir.filename().string().append(partial_mark);
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(dir.parent_path(), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const auto is_of_a_number = [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) || c == '-';
    };
    if (name.starts_with(begin) && name.size() > begin.size() &&
        std::all_of(name.begin() + static_cast<std::ptrdiff_t>(begin.size()), name.end(), is_of_a_number))
      found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// `path` with the first suffix of `stem`, `stem`-2, `stem`-3, ... that is free.
fs::path free_name(const fs::path& path, const std::string& stem) {
  std::error_code ignored;
  fs::path name = beside(path, stem);
  for (int i = 2; fs::exists(fs::symlink_status(name, ignored)); ++i) name = beside(path, text(stem, "-", i));
  return name;
}

}  // namespace

OwnedFile::~OwnedFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}
OwnedFile::OwnedFile(OwnedFile&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
OwnedFile& OwnedFile::operator=(OwnedFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

WorkingFolder::WorkingFolder(const fs::path& dir, IfExists if_exists)
    : dir_(folder_path(dir)), if_exists_(if_exists) {
  require_enum<FileError>("if_exists", if_exists, IfExists::resume);
  check_target();
  check_runs();
}

void WorkingFolder::check_target() const {
  std::error_code error;
  const fs::file_status status = fs::status(dir_, error);
  if (status.type() == fs::file_type::none) refuse(dir_, text("cannot look it up: ", error.message()));
  const bool exists = fs::exists(status);
  if (exists && !fs::is_directory(status))
    refuse(dir_, "found a file, expected a folder for the results or nothing");
  if (!exists) return;
  struct stat here {
  }, above{};
  if (::stat(dir_.c_str(), &here) == 0 && ::stat(dir_.parent_path().c_str(), &above) == 0 &&
      here.st_dev != above.st_dev)
    refuse(dir_, "found a mount point, which no other folder can take the place of; name a folder in it");
  const bool is_empty = fs::is_empty(dir_, error);
  if (error) refuse(dir_, text("cannot look into it: ", error.message()));
  if (is_empty) return;
  if (if_exists_ == IfExists::refuse)
    refuse(dir_, "found a folder that is not empty, expected a new one; name another, overwrite or resume");
  if (if_exists_ == IfExists::overwrite && !is_result_folder(dir_))
    refuse(dir_, "found a folder of other files, expected a result folder to overwrite; name another");
  if (if_exists_ == IfExists::resume && !is_result_folder(dir_))
    refuse(dir_, "found no result folder but other files, expected one to resume");
}

void WorkingFolder::check_runs() const {
  std::vector<fs::path> folders = partial_folders(dir_);
  folders.push_back(dir_);
  for (const fs::path& folder : folders) {
    if (folder == working_ || !is_locked(folder)) continue;
    refuse(dir_, text("found another run that is writing it (", folder.filename().string(),
                      "); wait for its end, stop it, or name another folder"));
  }
}

std::vector<fs::path> WorkingFolder::resumable() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  const std::vector<fs::path> left = leftovers();
  std::vector<fs::path> folders = left;
  folders.push_back(dir_);
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (!is_result_folder(folder) || (folder != dir_ && !fs::exists(folder / "checkpoint.h5", error)))
      continue;
    const auto time = fs::last_write_time(folder / "checkpoint.h5", error);
    found.emplace_back(error ? fs::file_time_type::min() : time, folder);
  }
  if (found.empty() && left.empty())
    refuse(dir_, "found no result folder, expected one to resume, or what a killed run left beside it");
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<fs::path> newest_first;
  for (const auto& [time, folder] : found) newest_first.push_back(folder);
  return newest_first;
}

std::vector<fs::path> WorkingFolder::leftovers() const {
  std::vector<fs::path> left = partial_folders(dir_);
  std::erase_if(left, [this](const fs::path& folder) { return folder == working_ || is_locked(folder); });
  return left;
}

void WorkingFolder::create_parents() {
  std::vector<fs::path> missing;
  std::error_code error;
  for (fs::path above = dir_.parent_path(); !fs::exists(above, error) && !error; above = above.parent_path())
    missing.push_back(above);
  for (auto path = missing.rbegin(); path != missing.rend(); ++path) {
    if (!fs::create_directory(*path, error) && error)
      refuse(dir_, text("cannot create ", path->string(), ": ", error.message()));
    parents_.push_back(*path);
  }
}

void WorkingFolder::create() {
  create_parents();
  const OwnedFile guard = locked_folder(dir_.parent_path());
  // Looked at again now that nobody else can change it.
  check_target();
  check_runs();
  const fs::path path = free_name(dir_, text(partial_mark, ::getpid()));
  std::error_code error;
  if (!fs::create_directory(path, error))
    refuse(dir_, text("cannot create ", path.string(), " for the results: ", error.message()));
  working_ = path;
  lock_ = open_file(path / lock_name, O_RDWR | O_CREAT);
  if (lock_.descriptor() >= 0) ::flock(lock_.descriptor(), LOCK_EX | LOCK_NB);
}

void WorkingFolder::publish(const std::vector<fs::path>& superseded) {
  // Looked at again: the run may have taken hours.
  check_target();
  const fs::path old = free_name(dir_, text(".old-", ::getpid()));
  std::error_code error;
  const bool replaces = fs::exists(dir_, error);
  if (replaces) fs::rename(dir_, old, error);
  if (!error) fs::rename(working_, dir_, error);
  if (error) {
    std::error_code ignored;
    if (replaces && !fs::exists(dir_, ignored)) fs::rename(old, dir_, ignored);
    refuse(dir_, text("cannot put the results in place: ", error.message()));
  }
  working_ = dir_;
  fs::remove(dir_ / lock_name, error);
  if (replaces) fs::remove_all(old, error);
  for (const fs::path& folder : superseded)
    if (folder != dir_ && !is_locked(folder)) fs::remove_all(folder, error);
}

void WorkingFolder::remove() {
  std::error_code ignored;
  if (!working_.empty()) fs::remove_all(working_, ignored);
  // Those that hold anything by now stay.
  for (auto parent = parents_.rbegin(); parent != parents_.rend(); ++parent) fs::remove(*parent, ignored);
}

}  // namespace isocloth
