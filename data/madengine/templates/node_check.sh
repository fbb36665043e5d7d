# Is this node free? Prints one line per finding: a process that an earlier job left, memory of a
# GPU in use. With "clean" as argument such processes of this user are ended first.
# The brackets keep the pattern from matching the command line that it is part of.
stale() {
	for pid in $(pgrep "$@" -f '[r]ay::|[R]ayWorkerWrapper|[r]aylet|[v]llm'); do
		read -r name 2>/dev/null <"/proc/$pid/comm" || continue
		case $name in
		madengine | wavescope | srun | sbatch | slurm* | bash | sh) ;;
		*) echo "$pid" ;;
		esac
	done
}
if [ "${1:-}" = clean ]; then
	for pid in $(stale -u "$(id -u)"); do
		kill -KILL "$pid" 2>/dev/null
	done
	sleep 1
fi
for pid in $(stale); do
	echo "process $pid ($(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline" | cut -c1-60)) is left over"
done
for file in /sys/class/drm/card*/device/mem_info_vram_used; do
	[ -r "$file" ] || continue
	card=${file#/sys/class/drm/}
	used=$(($(cat "$file") / 1000000000))
	[ "$used" -le 50 ] || echo "${card%%/*} has ${used} GB of its memory in use"
done
echo checked
