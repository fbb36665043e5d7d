#!/bin/sh
# Prints whether ROCm is a build of TheRock, which marks its folders with a manifest.
for root in "${ROCM_PATH:-}" /opt/rocm "$(python3 -c 'import _rocm_sdk_core as r; print(r.__path__[0])' 2>/dev/null)"; do
	for manifest in "$root/share/therock/therock_manifest.json" "$root/therock_manifest.json" "$root/share/therock/dist_info.json"; do
		if [ -e "$manifest" ]; then
			echo "TheRock: yes, $manifest"
			exit 0
		fi
	done
done
echo "TheRock: no"
exit 0
