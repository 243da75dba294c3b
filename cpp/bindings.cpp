// The only file that knows Python. Arrays come in as they are and results are written straight into NumPy's memory.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace {

auto cpu_has_avx2() -> bool {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

}  // namespace

NB_MODULE(UGRAPHEMB_MODULE, m) {
    m.doc() = "The compiled core of ugraphemb: arrays in, arrays out.";
    m.def("cpu_has_avx2", &cpu_has_avx2, "Whether this processor can run the faster of the two builds.");
}
