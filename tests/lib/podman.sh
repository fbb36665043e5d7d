# A podman with storage of its own, gone when the test ends, and a small image.
#
#	. "$WS_SOURCE/tests/cmd/lib.sh"
#	. "$WS_SOURCE/tests/lib/podman.sh"
#	podman_start "$@"      first of all; or the test is skipped, with the reason
#
# The image localhost/base has no files but a user; a test mounts /usr of this machine into its
# containers. Where control groups are as in containers and old virtual machines, neither crun nor
# podman works with them. So the test runs again in a mount namespace with others.

podman_self=$(realpath "$0")

podman_start() {
	need_program podman
	need_program unshare
	[ "$(id -u)" -eq 0 ] || skip "containers are started as root here"
	if [ -z "${PODMAN_INSIDE:-}" ]; then
		unshare -m true 2>/dev/null || skip "no mount namespaces here"
		rm -rf "$work"
		PODMAN_INSIDE=yes exec unshare -m "$podman_self" "$@"
	fi
	mount --make-rprivate /
	umount -R /sys/fs/cgroup 2>/dev/null || :
	mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null || skip "no control groups of version 2 here"
	podman_dir=$(mktemp -d /tmp/ws-podman.XXXXXX) # a short name: it has sockets
	cleanup() {
		podman kill -a >/dev/null 2>&1 || :
		podman rm -fa >/dev/null 2>&1 || :
		rm -rf "$podman_dir"
	}
	cat >"$podman_dir/storage.conf" <<-CONF
		[storage]
		driver = "vfs"
		graphroot = "$podman_dir/root"
		runroot = "$podman_dir/run"
	CONF
	cat >"$podman_dir/containers.conf" <<-CONF
		[containers]
		cgroups = "disabled"
		default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
		[engine]
		cgroup_manager = "cgroupfs"
		events_logger = "file"
		tmp_dir = "$podman_dir/tmp"
	CONF
	# Podman 4 has both kinds of network, and Debian 12 only the programs of this one.
	case $(podman --version) in
	*" "[1-4].*) printf '[network]\nnetwork_backend = "cni"\n' >>"$podman_dir/containers.conf" ;;
	esac
	# Nothing is asked of a registry, not even of one on this machine.
	cat >"$podman_dir/registries.conf" <<-CONF
		[[registry]]
		location = "localhost"
		blocked = true
	CONF
	CONTAINERS_REGISTRIES_CONF=$podman_dir/registries.conf
	export CONTAINERS_REGISTRIES_CONF
	CONTAINERS_CONF=$podman_dir/containers.conf CONTAINERS_STORAGE_CONF=$podman_dir/storage.conf
	export CONTAINERS_CONF CONTAINERS_STORAGE_CONF
	files=$podman_dir/files
	mkdir -p $files/usr $files/etc $files/tmp $files/opt $files/root
	for folder in bin sbin lib lib64; do
		ln -s usr/$folder $files/$folder
	done
	echo 'root:x:0:0:root:/root:/bin/sh' >$files/etc/passwd
	printf 'root:x:0:\nvideo:x:44:\n' >$files/etc/group
	run sh -c 'tar -C "$1" -cf - . | podman import - localhost/base' sh "$files"
	rc_is 0
	run podman run --rm --network host --device /dev/fuse -v /usr:/usr localhost/base true
	[ "$rc" -eq 0 ] || skip "no container starts here: $(tail -n 1 "$err")"
}
