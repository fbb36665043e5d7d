# A Slurm cluster on this machine: Debian's own slurmctld, slurmd and munge, with folders,
# ports and keys of its own, gone when the test ends. Nothing in /etc is read or written,
# no service manager is asked, and no control groups are used, so it runs in containers.
#
#	. "$WS_SOURCE/tests/cmd/lib.sh"
#	. "$WS_SOURCE/tests/lib/slurm.sh"
#	slurm_start              or the test is skipped, with the reason
#	run srun -n 4 hostname   any Slurm command finds this cluster: SLURM_CONF is exported
#	slurm_stop               also happens by itself when the test ends
#	slurm_kill NAME          a node dies, with all that runs on it
#
# The daemons want root. The nodes are those of $slurm_names, by default one that is named as the
# machine. Each claims $slurm_cpus processors and $slurm_gpus GPUs, whatever the machine has.

slurm_cpus=${slurm_cpus:-8}
slurm_gpus=${slurm_gpus:-0}
slurm_names=${slurm_names:-$(uname -n | cut -d. -f1)}
slurm_kill_wait_s=${slurm_kill_wait_s:-2} # between SIGTERM and SIGKILL of a job that ends
slurm_limit_s=${slurm_limit_s:-30} # for the nodes to come up
slurm_dir=

# slurm_pids VARIABLE: processes of this cluster that have such a variable.
slurm_pids() {
	grep -lzxF -e "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ 2>/dev/null |
		xargs -r grep -lzE -e "$1" 2>/dev/null | cut -d/ -f3
}

# Daemons end up in processes of their own; each leaves its number in a file. Nobody needs what they
# would save, and slurmd takes seconds to end by itself. Jobs and their daemons outlive it.
slurm_stop() {
	[ -n "$slurm_dir" ] || return 0
	{
		for slurm_file in "$slurm_dir"/*.pid; do
			echo "$(cat "$slurm_file")" # some have no line end
		done
		slurm_pids '^SLURM_JOB_?ID='
		for slurm_pid in $(slurm_pids '^SLURM_CONF='); do
			! grep -qx slurmstepd "/proc/$slurm_pid/comm" || echo "$slurm_pid"
		done
	} 2>/dev/null | sort -u | xargs -r kill -KILL 2>/dev/null || :
	rm -rf "$slurm_dir"
	slurm_dir=
}

# Ports that nobody listens on, from the kernel.
slurm_ports() { # NUMBER
	"${PYTHON:-python3}" -c '
import socket, sys
every = [socket.socket() for i in range(int(sys.argv[1]))]
for s in every: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in every])' "$1"
}

# As when its power fails: nobody gets to say anything. Slurm is told, as by a health check.
slurm_kill() {
	{
		echo "$(cat "$slurm_dir/$1.pid")"
		slurm_pids "^SLURMD_NODENAME=$1\$"
	} | xargs -r kill -KILL 2>/dev/null || :
	scontrol update nodename="$1" state=down reason=killed
}

slurm_config() {
	set -- $(slurm_ports $(($(echo $slurm_names | wc -w) + 1)))
	slurm_list=$(echo $slurm_names | tr ' ' ,)
	cat <<-CONF
		ClusterName=test
		SlurmctldHost=$slurm_host(127.0.0.1)
		SlurmctldPort=$1
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$slurm_dir/munge.socket
		CredType=cred/munge
		MpiDefault=none
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		JobAcctGatherType=jobacct_gather/none
		SchedulerType=sched/backfill
		SelectType=select/cons_tres
		SelectTypeParameters=CR_CPU
		SlurmdParameters=config_overrides
		ReturnToService=2
		KillWait=$slurm_kill_wait_s
		MailProg=/bin/true
		StateSaveLocation=$slurm_dir/state
		SlurmdSpoolDir=$slurm_dir/spool.%n
		SlurmctldPidFile=$slurm_dir/slurmctld.pid
		SlurmdPidFile=$slurm_dir/%n.pid
		SlurmctldLogFile=$slurm_dir/slurmctld.log
		SlurmdLogFile=$slurm_dir/%n.log
		PartitionName=test Nodes=$slurm_list Default=YES MaxTime=10 State=UP
	CONF
	slurm_with_gpus=
	if [ "$slurm_gpus" -gt 0 ]; then
		echo GresTypes=gpu
		slurm_with_gpus=Gres=gpu:$slurm_gpus
		slurm_last=$((slurm_gpus - 1))
		for slurm_i in $(seq 0 $slurm_last); do : >"$slurm_dir/gpu$slurm_i"; done
		echo "NodeName=$slurm_list Name=gpu File=$slurm_dir/gpu[0-$slurm_last]" \
			>"$slurm_dir/gres.conf"
	fi
	for slurm_name in $slurm_names; do
		shift
		echo "NodeName=$slurm_name NodeHostname=$slurm_host NodeAddr=127.0.0.1 Port=$1" \
			"CPUs=$slurm_cpus $slurm_with_gpus State=UNKNOWN"
	done
}

# What a daemon says when it does not start is worth more than that it did not.
slurm_daemon() {
	slurm_name=$1
	shift
	"$@" >"$slurm_dir/$slurm_name.out" 2>&1 && return
	sed "s|^|  $slurm_name: |" "$slurm_dir/$slurm_name.out" "$slurm_dir/$slurm_name.log" 2>/dev/null |
		tail -20
	fail "$slurm_name does not start"
}

slurm_start() {
	PATH=$PATH:/usr/sbin:/sbin
	for slurm_name in munged slurmctld slurmd srun; do
		command -v $slurm_name >/dev/null ||
			skip "there is no $slurm_name (Debian: munge slurmctld slurmd slurm-client)"
	done
	[ "$(id -u)" -eq 0 ] || skip "slurmd starts programs as other users: it wants root"
	# Not below $work: the name of a socket may have 107 characters.
	slurm_dir=$(mktemp -d /tmp/ws-slurm.XXXXXX)
	cleanup() { slurm_stop; }
	chmod 755 "$slurm_dir"
	mkdir "$slurm_dir/state"
	slurm_host=$(uname -n | cut -d. -f1)
	SLURM_CONF=$slurm_dir/slurm.conf
	export SLURM_CONF
	slurm_config >"$SLURM_CONF"
	(umask 077 && head -c 128 /dev/urandom >"$slurm_dir/munge.key")
	# --force: /tmp can be written by everybody, which munged otherwise refuses
	slurm_daemon munged munged --force --key-file="$slurm_dir/munge.key" \
		--socket="$slurm_dir/munge.socket" --pid-file="$slurm_dir/munged.pid" \
		--log-file="$slurm_dir/munged.log" --seed-file="$slurm_dir/munge.seed"
	slurm_daemon slurmctld slurmctld -f "$SLURM_CONF"
	for slurm_node in $slurm_names; do
		slurm_daemon "$slurm_node" slurmd -f "$SLURM_CONF" -N "$slurm_node"
	done
	slurm_i=0
	until [ "$(sinfo -h -o %T 2>/dev/null | sort -u)" = idle ]; do
		slurm_i=$((slurm_i + 1))
		if [ $slurm_i -gt $((slurm_limit_s * 5)) ]; then
			sed 's|^|  |' "$slurm_dir"/*.log | tail -40
			fail "the Slurm nodes do not come up in $slurm_limit_s s"
		fi
		sleep 0.2
	done
}
