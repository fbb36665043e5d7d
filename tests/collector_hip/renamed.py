"""renamed: GPU work inside and outside of roctx ranges. hipMemset of device memory is a kernel."""
import ctypes

import roctx

hip = ctypes.CDLL("libamdhip64.so.5")
p = ctypes.c_void_p()
size = ctypes.c_size_t(4096)
assert hip.hipMalloc(ctypes.byref(p), size) == 0
assert hip.hipMemset(p, 1, size) == 0
with roctx.range("step"):
    with roctx.range("fill"):
        assert hip.hipMemset(p, 2, size) == 0
    assert hip.hipMemset(p, 3, size) == 0
    roctx.mark("phase")  # takes over, until the range around it ends
    assert hip.hipMemset(p, 6, size) == 0
    with roctx.range("inner"):
        assert hip.hipMemset(p, 7, size) == 0
    assert hip.hipMemset(p, 8, size) == 0
roctx.profilerPause()
assert hip.hipMemset(p, 4, size) == 0
roctx.profilerResume()
assert hip.hipMemset(p, 5, size) == 0
roctx.mark("rest")
assert hip.hipMemset(p, 9, size) == 0
assert hip.hipDeviceSynchronize() == 0
assert hip.hipFree(p) == 0
