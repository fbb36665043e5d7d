// The headers are for C++, too: this has to compile and link, and is run without the profiler.
#include <rocprofiler-systems/causal.h>
#include <rocprofiler-systems/user.h>

int main()
{
	rocprofsys_user_callbacks_t none = ROCPROFSYS_USER_CALLBACKS_INIT;
	int32_t value = 1;
	rocprofsys_annotation_t annotation = { "value", ROCPROFSYS_I32, &value };

	ROCPROFSYS_CAUSAL_PROGRESS
	ROCPROFSYS_CAUSAL_BEGIN("region")
	ROCPROFSYS_CAUSAL_END("region")
	if (rocprofsys_user_push_annotated_region("x", &annotation, 1) !=
	    ROCPROFSYS_USER_ERROR_NO_BINDING)
		return 1;
	return rocprofsys_user_configure(ROCPROFSYS_USER_REPLACE_CONFIG, none, nullptr);
}
