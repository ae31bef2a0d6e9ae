/// Everything a user of attograd needs, in one include.
#pragma once

namespace attograd {}
