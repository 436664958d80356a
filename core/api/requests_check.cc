// Compiles every public header of the API on its own.
#include "core/api/namespace.h"
#include "core/api/registry.h"
