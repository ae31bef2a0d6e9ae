/// Everything a user of attograd needs, in one include.
#pragma once

#include <attograd/core/autograd.h>
#include <attograd/core/create.h>
#include <attograd/core/file.h>
#include <attograd/core/finite_difference.h>
#include <attograd/core/gradcheck.h>
#include <attograd/core/map.h>
#include <attograd/core/mask.h>
#include <attograd/core/multiply.h>
#include <attograd/core/named_tensors.h>
#include <attograd/core/op_list.h>
#include <attograd/core/ops.h>
#include <attograd/core/random.h>
#include <attograd/core/safetensors.h>
#include <attograd/optim/adamw.h>
#include <attograd/optim/clip.h>
#include <attograd/optim/schedule.h>
#include <attograd/optim/sgd.h>
