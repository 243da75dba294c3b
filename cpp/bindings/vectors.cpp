#include "vectors.hpp"

#include "../vectors/l1.hpp"
#include "arrays.hpp"

namespace bindings {
namespace {

template <class T>
using Rows = nb::ndarray<T, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
auto flat(const Rows<T>& rows) -> std::span<T> {
    return {rows.data(), rows.shape(0) * rows.shape(1)};
}

void require_square(const Rows<const float>& rows, std::size_t first, std::size_t second) {
    require(first == rows.shape(0) && second == rows.shape(0), "a square matrix with a row per vector is needed");
}

void l1_between_rows(const Rows<const float>& rows, const Rows<float>& distance) {
    require_square(rows, distance.shape(0), distance.shape(1));
    const nb::gil_scoped_release release;
    uge::vectors::l1_between_rows(flat(rows), rows.shape(0), rows.shape(1), flat(distance));
}

void l1_between_rows_backward(const Rows<const float>& rows, const Rows<const float>& weight,
                              const Rows<float>& gradient) {
    require_square(rows, weight.shape(0), weight.shape(1));
    require(gradient.shape(0) == rows.shape(0) && gradient.shape(1) == rows.shape(1), "a gradient per number");
    const nb::gil_scoped_release release;
    uge::vectors::l1_between_rows_backward(flat(rows), rows.shape(0), rows.shape(1), flat(weight), flat(gradient));
}

}  // namespace

void define_vectors(nb::module_& m) {
    m.def("l1_between_rows", &l1_between_rows, "rows"_a, "distance"_a);
    m.def("l1_between_rows_backward", &l1_between_rows_backward, "rows"_a, "weight"_a, "gradient"_a);
}

}  // namespace bindings
