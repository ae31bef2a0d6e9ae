#pragma once

// Every operation.
#include <attograd/core/ops/attention.h>
#include <attograd/core/ops/cross_entropy.h>
#include <attograd/core/ops/dropout.h>
#include <attograd/core/ops/elementwise.h>
#include <attograd/core/ops/gelu.h>
#include <attograd/core/ops/indexing.h>
#include <attograd/core/ops/linear.h>
#include <attograd/core/ops/normalization.h>
#include <attograd/core/ops/parts.h>
#include <attograd/core/ops/products.h>
#include <attograd/core/ops/reduce.h>
#include <attograd/core/ops/shapes.h>
#include <attograd/core/ops/softmax.h>
