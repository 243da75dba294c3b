#pragma once
#include <nanobind/nanobind.h>

namespace bindings {

/// Distances of vectors, and their gradients.
void define_vectors(nanobind::module_& m);

}  // namespace bindings
