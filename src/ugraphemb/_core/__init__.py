"""The compiled core: one code built twice, for any x86-64 and for AVX2. UGRAPHEMB_CPU=baseline takes the first."""

import os

from ugraphemb._core import baseline

if os.environ.get("UGRAPHEMB_CPU") != "baseline" and baseline.cpu_has_avx2():
    from ugraphemb._core.avx2 import *  # noqa: F403
else:
    from ugraphemb._core.baseline import *  # noqa: F403
