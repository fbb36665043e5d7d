"""ctypes_hip: HIP from Python, as a script without any package does it."""
import ctypes
import sys

how = sys.argv[1] if len(sys.argv) > 1 else ""
mode = ctypes.RTLD_GLOBAL if how == "global" else ctypes.RTLD_LOCAL
hip = ctypes.CDLL(how if how.startswith("lib") else "libamdhip64.so.5", mode=mode)
n, p, s = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
size = ctypes.c_size_t(4096)
buf = (ctypes.c_char * 4096)()
print("count", hip.hipGetDeviceCount(ctypes.byref(n)), n.value)
print("malloc", hip.hipMalloc(ctypes.byref(p), size))
print("stream", hip.hipStreamCreate(ctypes.byref(s)))
print("memset", hip.hipMemsetAsync(p, 7, size, s))
print("sync", hip.hipStreamSynchronize(s))
print("copy", hip.hipMemcpy(buf, p, size, 2), buf.raw == b"\x07" * 4096)
print("bad", hip.hipSetDevice(99), hip.hipGetLastError(), hip.hipGetLastError())
print("destroy", hip.hipStreamDestroy(s))
print("free", hip.hipFree(p))
