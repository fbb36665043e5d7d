#!/bin/sh
# What run_package.py sees of a googletest program. Each test behaves as its name says.
names='passes fails skips crashes spins child_spins sleeps DISABLED_fails last'
case $1 in
--gtest_list_tests)
	echo 'Some text of the program.'
	echo 'Fake/0.  # TypeParam = int'
	for name in $names; do echo "  $name  # GetParam() = 1"; done
	exit
	;;
--gtest_filter=*) wanted=:${1#*=}: ;;
esac
for name in $names; do
	case $wanted in *":Fake/0.$name:"*) ;; *) continue ;; esac
	echo "[ RUN      ] Fake/0.$name"
	case $name in
	passes | last) echo "text of the test[       OK ] Fake/0.$name (0 ms)" ;;
	fails) echo "[  FAILED  ] Fake/0.$name, where TypeParam = int (0 ms)" ;;
	skips) echo "[  SKIPPED ] Fake/0.$name (0 ms)" ;;
	crashes) kill -SEGV $$ ;;
	spins) while :; do :; done ;;
	child_spins) sh -c 'while :; do :; done' ;;
	sleeps) sleep 100 ;;
	esac
done
echo '[==========] 8 tests from 1 test suite ran. (0 ms total)'
