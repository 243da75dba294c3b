#pragma once
#include <nanobind/nanobind.h>

namespace bindings {

/// Profiles of a collection, and the search that uses them.
void define_search(nanobind::module_& m);

}  // namespace bindings
