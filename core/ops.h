#pragma once

// Every operation.
#include <attograd/core/ops/elementwise.h>
#include <attograd/core/ops/parts.h>
#include <attograd/core/ops/products.h>
#include <attograd/core/ops/reduce.h>
#include <attograd/core/ops/shapes.h>
