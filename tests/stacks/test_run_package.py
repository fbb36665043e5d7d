#!/usr/bin/env python3
"""run_package.py on a program whose tests pass, fail, crash, hang and take too long."""
import io
import os
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run_package  # noqa: E402  pylint: disable=wrong-import-position

PROGRAM = os.path.join(HERE, 'fake_gtest.sh')
NAMES = ['Fake/0.' + name for name in ('passes', 'fails', 'skips', 'crashes', 'spins', 'child_spins', 'sleeps',
                                     'last')]


class RunPackage(unittest.TestCase):
    def test_lists_names_without_parameters_and_disabled_tests(self):
        self.assertEqual(run_package.listed(PROGRAM, [], os.environ), NAMES)

    def test_a_program_of_another_kind_lists_nothing(self):
        self.assertEqual(run_package.listed('/bin/true', [], os.environ), [])

    def test_each_test_gets_its_result_and_the_next_ones_still_run(self):
        run_package.IDLE_SECONDS = 1
        run_package.WALL_FACTOR = 500  # a fifth of a second of CPU time can take long
        results = run_package.run_program(PROGRAM, NAMES, [], os.environ, 0.2, io.BytesIO())
        self.assertEqual(results, dict(zip(NAMES, [
            'passed', 'failed', 'skipped', 'ends with status -11', 'too slow', 'too slow', 'hangs', 'passed'])))
        self.assertGreaterEqual(run_package.Process.all_spent, 0.4)

    def test_a_program_that_does_not_start_is_a_failure(self):
        results = run_package.run_program('/bin/false', NAMES, [], os.environ, 1, io.BytesIO())
        self.assertEqual(results, {run_package.START: 'ends with status 1 before the first test'})

    def test_the_status_of_a_whole_program_is_its_result(self):
        for program, result in (('/bin/true', 'passed'), ('/bin/false', 'ends with status 1')):
            self.assertEqual(run_package.run_program(program, [run_package.WHOLE], [], os.environ, 1, io.BytesIO()),
                             {run_package.WHOLE: result})

    def test_long_lists_are_divided(self):
        names = ['n' * 999] * 250
        groups = list(run_package.batches(names))
        self.assertEqual(sum(groups, []), names)
        self.assertEqual([len(group) for group in groups], [100, 100, 50])

    def test_settings_are_not_arguments(self):
        self.assertEqual(run_package.divide(['--seed=1', 'FOLDER=/a=b', '-x']), (['--seed=1', '-x'], {'FOLDER': '/a=b'}))

    def test_known_failures_of_this_package_only(self):
        with tempfile.NamedTemporaryFile('w', suffix='.txt') as file:
            file.write('# stack package test reason\n'
                       'sid one-tests a:* slow on purpose\n* one-tests b:* other\nsid two-tests c:* third\n')
            file.flush()
            self.assertEqual(run_package.read_known(file.name, 'sid', 'one-tests'),
                             [('a:*', 'slow on purpose'), ('b:*', 'other')])


if __name__ == '__main__':
    unittest.main()
