"""rocprofv3_avail_module.avail under its newest name."""
import sys

from rocprofv3_avail_module import avail

if __name__ == "__main__":
    sys.exit(avail.main())
# The module itself: what is set in one, such as loadLibrary.libname, is set in the other.
sys.modules[__name__] = avail
