#include "examples/gpt/run_folder.h"

#include <cerrno>
#include <charconv>
#include <cstring>

#include <attograd/core/error.h>

namespace gpt {

namespace fs = std::filesystem;
using attograd::check;
using attograd::FileError;

namespace {

/// The largest N of a folder runs/N; 0 if there is none.
int last_run() {
  int last = 0;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("runs", ignored)) {
    const std::string name = entry.path().filename();
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    constexpr int kLargest = 1'000'000'000;  // names beyond are not ours
    if (error == std::errc() && end == name.data() + name.size() && number < kLargest)
      last = std::max(last, number);
  }
  return last;
}

fs::path numbered(int number) { return fs::path("runs") / std::to_string(number); }

}  // namespace

RunFolder RunFolder::create(const std::string& out, bool overwrite) {
  RunFolder folder{out.empty() ? numbered(last_run() + 1) : fs::path(out)};
  std::error_code error;
  fs::create_directories(folder.path, error);
  check<FileError>(!error && fs::is_directory(folder.path), "--out: cannot make the folder ",
                   folder.path.string(), ": ", error ? error.message() : "a file has its name",
                   "; choose another --out");
  check<FileError>(overwrite || !fs::exists(folder.checkpoint()), "--out: ", folder.path.string(),
                   " already holds a checkpoint; go on with it by --resume, replace it by "
                   "--overwrite, or choose "
                   "another --out");
  return folder;
}

RunFolder RunFolder::find(const std::string& out) {
  const int last = last_run();
  check<FileError>(!out.empty() || last > 0,
                   "--out: there is no run in runs/; train one first, or name its folder");
  RunFolder folder{out.empty() ? numbered(last) : fs::path(out)};
  check<FileError>(fs::exists(folder.checkpoint()), "--out: no checkpoint in ",
                   folder.path.string(), "; train first, or name the folder of a run");
  return folder;
}

Log::Log(const fs::path& path, bool append)
    : name_(path.string()), file_(path, append ? std::ios::app : std::ios::trunc) {
  check<FileError>(file_.is_open(), "log: cannot write ", name_, ": ", std::strerror(errno),
                   "; choose another --out");
}

void Log::line(const std::string& json) {
  file_ << json << '\n' << std::flush;
  check<FileError>(file_.good(), "log: cannot write ", name_, ": ", std::strerror(errno),
                   "; free some space and go on with --resume");
}

}  // namespace gpt
