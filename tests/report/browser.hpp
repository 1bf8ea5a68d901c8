// A browser without a window, driven by its DevTools protocol over two pipes.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace isocloth::test {

class Browser {
 public:
  using Json = nlohmann::json;

  /// Starts `program`, keeps its profile in `folder` and saves there what a page downloads. Throws
  /// std::runtime_error when it does not start.
  Browser(const std::string& program, const std::filesystem::path& folder) {
    if (program.empty())
      throw std::runtime_error(
          "no browser found when the tests were configured; install the Debian package "
          "chromium-headless-shell, or set ISOCLOTH_BROWSER to the program of a Chromium, and configure "
          "again");
    int to_child[2], from_child[2];
    if (pipe2(to_child, O_CLOEXEC) != 0 || pipe2(from_child, O_CLOEXEC) != 0)
      throw std::runtime_error("cannot create pipes");
    // The child expects them as 3 and 4: out of their way first.
    constexpr int free_number = 10;
    const int child_in = fcntl(to_child[0], F_DUPFD_CLOEXEC, free_number);
    const int child_out = fcntl(from_child[1], F_DUPFD_CLOEXEC, free_number);
    close(to_child[0]);
    close(from_child[1]);
    in_ = to_child[1];
    out_ = from_child[0];
    const std::string profile = "--user-data-dir=" + (folder / "profile").string();
    std::vector<std::string> arguments = {program,
                                          "--headless",
                                          "--no-sandbox",
                                          "--disable-dev-shm-usage",
                                          "--hide-scrollbars",
                                          "--no-first-run",
                                          "--use-angle=swiftshader",
                                          "--enable-unsafe-swiftshader",
                                          profile,
                                          "--remote-debugging-pipe",
                                          "about:blank"};
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, child_in, 3);
    posix_spawn_file_actions_adddup2(&actions, child_out, 4);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const int error = posix_spawn(&pid_, program.c_str(), &actions, nullptr, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(child_in);
    close(child_out);
    if (error != 0) throw std::runtime_error(program + " does not start");
    call("Browser.setDownloadBehavior", {{"behavior", "allow"}, {"downloadPath", folder.string()}});
    const Json target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ =
        call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}})["sessionId"];
    call("Page.enable");
    call("Runtime.enable");
  }

  ~Browser() {
    close(in_);
    close(out_);  // it ends by itself then
    for (int i = 0; i < 40 && waitpid(pid_, nullptr, WNOHANG) == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    if (kill(pid_, 0) != 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  /// Shows a page, `options` behind its #, in a window of this size, and waits until it is drawn.
  void open(const std::filesystem::path& file, int width, int height, const std::string& options = "") {
    complaints.clear();
    call("Page.navigate", {{"url", "about:blank"}});
    resize(width, height);
    call("Page.navigate", {{"url", "file://" + file.string() + "#" + options}});
    evaluate(
        "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', "
        "done))");
    draw();
  }

  /// Half a pixel per point: 3D pictures without a graphics card are slow.
  void resize(int width, int height) {
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", height}, {"deviceScaleFactor", 0.5}, {"mobile", width < 600}});
    draw();
  }

  void set_theme(const std::string& theme) {
    const Json feature = {{"name", "prefers-color-scheme"}, {"value", theme}};
    call("Emulation.setEmulatedMedia", {{"features", Json::array({feature})}});
  }

  /// Waits for pictures that the page has asked for.
  void draw() {
    evaluate(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => "
        "requestAnimationFrame(done))))");
  }

  /// Value of an expression, or what its promise brings. Throws std::runtime_error with what it throws.
  Json evaluate(const std::string& expression) {
    const Json answer = call("Runtime.evaluate",
                             {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
    if (answer.contains("exceptionDetails")) throw std::runtime_error(answer["exceptionDetails"].dump());
    return answer["result"].value("value", Json());
  }

  std::vector<std::string> complaints;  ///< exceptions and warnings of the page since it was opened

 private:
  Json call(const std::string& method, const Json& parameters = Json::object()) {
    Json message = {{"id", ++id_}, {"method", method}, {"params", parameters}};
    if (!session_.empty()) message["sessionId"] = session_;
    const std::string text = message.dump() + '\0';
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t count = write(in_, text.data() + at, text.size() - at);
      if (count <= 0) throw std::runtime_error("the browser takes no commands");
      at += static_cast<std::size_t>(count);
    }
    for (;;) {
      const Json found = receive();
      if (found.value("id", 0) == id_) {
        if (found.contains("error")) throw std::runtime_error(method + ": " + found["error"].dump());
        return found["result"];
      }
      const std::string event = found.value("method", "");
      if (event == "Runtime.exceptionThrown")
        complaints.push_back(found["params"]["exceptionDetails"].dump());
      if (event == "Runtime.consoleAPICalled") complaints.push_back(found["params"]["args"].dump());
    }
  }

  Json receive() {
    constexpr int patience_ms = 60000;
    std::size_t end;
    while ((end = received_.find('\0')) == std::string::npos) {
      pollfd wait{out_, POLLIN, 0};
      char part[65536];
      const ssize_t count = poll(&wait, 1, patience_ms) == 1 ? read(out_, part, sizeof part) : 0;
      if (count <= 0) throw std::runtime_error("the browser does not answer");
      received_.append(part, static_cast<std::size_t>(count));
    }
    const Json message = Json::parse(received_.substr(0, end));
    received_.erase(0, end + 1);
    return message;
  }

  int in_ = -1, out_ = -1, id_ = 0;
  pid_t pid_ = -1;
  std::string session_, received_;
};

}  // namespace isocloth::test
