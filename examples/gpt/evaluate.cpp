#include "examples/gpt/evaluate.h"

#include <cstdio>

#include "examples/gpt/commands.h"
#include "examples/gpt/data.h"
#include "examples/gpt/run_folder.h"
#include "examples/gpt/training.h"
#include <attograd/core/autograd.h>
#include <attograd/core/ops.h>

namespace gpt {

using namespace attograd;

namespace {

double sum_of_losses(const nn::Gpt& model, const Batch& batch) {
  return cross_entropy(model(batch.inputs), batch.targets, {.reduction = Reduction::sum}).item();
}

}  // namespace

Loss loss_of_all(const nn::Gpt& model, const std::vector<int64_t>& ids) {
  constexpr int64_t kWindows = 32;  // at a time
  const NoGrad evaluating;
  const int64_t length = model.options.context;
  const auto targets = static_cast<int64_t>(ids.size()) - 1;
  check<ValueError>(targets >= 1, "evaluation: needs at least 2 characters, got ", ids.size());
  double total = 0;
  std::vector<int64_t> begins;
  int64_t begin = 0;
  for (; begin + length <= targets; begin += length) {
    begins.push_back(begin);
    if (static_cast<int64_t>(begins.size()) == kWindows) {
      total += sum_of_losses(model, windows_at(ids, begins, length));
      begins.clear();
    }
  }
  if (!begins.empty()) total += sum_of_losses(model, windows_at(ids, begins, length));
  if (begin < targets) total += sum_of_losses(model, windows_at(ids, {begin}, targets - begin));
  return {total / static_cast<double>(targets), targets};
}

void print_losses(const Corpus& corpus, const Loss& loss) {
  std::printf("baselines   uniform %.4f, bigram %.4f nats per character\n",
              uniform_loss(corpus.vocabulary), bigram_loss(corpus));
  std::printf("validation loss %.4f (whole split, %lld tokens)\n", loss.mean,
              static_cast<long long>(loss.tokens));
  std::fflush(stdout);
}

int evaluate(const EvalOptions& options) {
  const Training training = Training::load(RunFolder::find(options.out).checkpoint());
  const std::string path = options.text.empty() ? training.config.text : options.text;
  Corpus corpus = Corpus::load(path, training.config.context);
  if (corpus.fingerprint != training.text_fingerprint) {
    check<ValueError>(!options.text.empty(), "--text: ", corpus.name,
                      " has changed since the model learned it; name the text to evaluate");
    corpus = corpus.with_vocabulary(training.vocabulary);
  }
  print_losses(corpus, loss_of_all(training.model, corpus.validation));
  return 0;
}

}  // namespace gpt
