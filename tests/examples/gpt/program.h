#pragma once

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <tests/temporary_folder.h>

// The program gpt as its users start it.
namespace gpt {

namespace fs = std::filesystem;
using attograd::TemporaryFolder;

struct Outcome {
  int code;
  std::string output;  // standard output and errors
};

/// Runs gpt in `folder`, after some shell and under a program that runs it.
inline Outcome run(const fs::path& folder, const std::string& arguments,
                   const std::string& setup = "true", const std::string& runner = "") {
  const std::string command = "cd '" + folder.string() + "' && " + setup + " && " + runner +
                              " '" ATTOGRAD_BIN_DIR "/gpt' " + arguments + " 2>&1 </dev/null";
  FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 4096> buffer{};
  while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), n);
  const int status = pclose(pipe);
  REQUIRE(WIFEXITED(status));
  return {WEXITSTATUS(status), output};
}

inline std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Characters with something to learn in them.
inline std::string some_text(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "line " + std::to_string(i * i % 97) + " of the text\n";
  return text;
}

inline const std::string kSmall = " --context 8 --layers 1 --heads 2 --width 8 --batch 2 ";

}  // namespace gpt
