#pragma once

#include <cstdint>
#include <string>

namespace gpt {

/// Whether an option is part of what a checkpoint is, so that a resumed run cannot change it.
enum class Fixed { yes, no };

/// What a run is made of. The defaults are nanoGPT's recipe for a laptop: about 0.8 million
/// weights.
struct Config {
  std::string text;
  int64_t seed = 1337;

  int64_t context = 64;
  int64_t layers = 4;
  int64_t heads = 4;
  int64_t width = 128;
  double dropout = 0;
  bool bias = false;

  int64_t steps = 2000;
  int64_t batch = 12;
  double lr = 1e-3;
  double min_lr = 1e-4;
  int64_t warmup = 100;
  int64_t decay_steps = 0;
  double weight_decay = 0.1;
  double beta1 = 0.9;
  double beta2 = 0.99;
  double clip = 1;

  /// Names each option once: the command line, the log and the checkpoint are made from this list.
  void visit(auto&& v) {
    v("text", text, Fixed::no,
      "UTF-8 file to learn; without it the King James Bible, or attograd's own sources");
    v("seed", seed, Fixed::yes, "where the random numbers start");
    v("context", context, Fixed::yes, "characters that the model sees at once");
    v("layers", layers, Fixed::yes, "transformer blocks");
    v("heads", heads, Fixed::yes, "attention heads of a block");
    v("width", width, Fixed::yes, "channels of a character, a multiple of the heads");
    v("dropout", dropout, Fixed::yes, "share of activations dropped in training");
    v("bias", bias, Fixed::yes, "give linear maps and layer norms a bias");
    v("steps", steps, Fixed::no, "updates in all");
    v("batch", batch, Fixed::no, "windows of an update");
    v("lr", lr, Fixed::no, "peak learning rate");
    v("min-lr", min_lr, Fixed::no, "learning rate at the end");
    v("warmup", warmup, Fixed::no, "steps until the peak");
    v("decay-steps", decay_steps, Fixed::no,
      "step at which the learning rate reaches its end (0: the last)");
    v("weight-decay", weight_decay, Fixed::no, "decay of matrices (AdamW)");
    v("beta1", beta1, Fixed::no, "memory of the mean gradient (AdamW)");
    v("beta2", beta2, Fixed::no, "memory of the mean squared gradient (AdamW)");
    v("clip", clip, Fixed::no, "largest norm of the gradient");
  }

  /// Throws ValueError naming the first option that makes no sense.
  void validate() const;

  std::string to_json() const;
  /// Throws FormatError unless `json` is what to_json() gave.
  static Config from_json(const std::string& json);
};

}  // namespace gpt
