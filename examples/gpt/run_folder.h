#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace gpt {

/// Where a run keeps its files.
struct RunFolder {
  std::filesystem::path path;

  std::filesystem::path checkpoint() const { return path / "checkpoint.safetensors"; }
  std::filesystem::path log() const { return path / "log.jsonl"; }

  /// For a new run: `out`, or runs/N with the first free N. Throws FileError if it cannot be made,
  /// or holds a checkpoint that may not be overwritten.
  static RunFolder create(const std::string& out, bool overwrite);
  /// Of an earlier run: `out`, or runs/N with the largest N. Throws FileError if there is no
  /// checkpoint in it.
  static RunFolder find(const std::string& out);
};

/// A log of JSON lines, each on the disk before training goes on.
class Log {
 public:
  /// Throws FileError if the file cannot be written.
  Log(const std::filesystem::path& path, bool append);
  void line(const std::string& json);

 private:
  std::string name_;
  std::ofstream file_;
};

}  // namespace gpt
