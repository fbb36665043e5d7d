"""The package rocpd against sqlite3 and against the command, on a_, b_ and m_results.db."""
import argparse
import contextlib
import csv
import filecmp
import hashlib
import io
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import unittest
import unittest.mock

import rocpd
import rocpd.csv
import rocpd.merge
import rocpd.otf2
import rocpd.output_config
import rocpd.package
import rocpd.pftrace
import rocpd.query
import rocpd.schema
import rocpd.summary
import rocpd.time_window

A, B, M = "a_results.db", "b_results.db", "m_results.db"
BIN = os.environ["WAVESCOPE_BIN"]


def direct(path, query):
    connection = sqlite3.connect(path)
    rows = connection.execute(query).fetchall()
    connection.close()
    return rows


def command(name, *args):
    return subprocess.run([os.path.join(BIN, name), *args], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def python(*args, **env):
    return subprocess.run([sys.executable, *args], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env={**os.environ, **env}, check=False)


@contextlib.contextmanager
def quiet():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        yield out


class Connect(unittest.TestCase):
    def test_one(self):
        with rocpd.connect(A) as data:
            query = "SELECT name, grid_x, start, \"end\" FROM kernels"
            self.assertEqual(data.execute(query).fetchall(), direct(A, query))
            self.assertEqual(data.execute("SELECT grid_x FROM kernels").fetchall(), [(65536,)])
            self.assertEqual(data.databases, [A])
            self.assertEqual(data.window, None)
        self.assertEqual(rocpd.execute(data, "SELECT ? + 1", (41,)).fetchone(), (42,))

    def test_two_are_the_sum(self):
        data = rocpd.connect([A, B])
        for view in ("kernels", "regions", "memory_copies", "memory_allocations", "processes",
                     "threads", "events_args", "rocpd_string", "rocpd_region"):
            query = f"SELECT COUNT(*) FROM {view}"
            parts = [direct(f, query)[0][0] for f in (A, B)]
            self.assertGreater(min(parts), 0, view)
            self.assertEqual(data.execute(query).fetchone()[0], sum(parts), view)
        for view in ("kernels", "regions"):
            query = f"SELECT guid, name, start, duration FROM {view} ORDER BY 1, 3, 2"
            self.assertEqual(data.execute(query).fetchall(),
                             sorted(direct(A, query) + direct(B, query),
                                    key=lambda r: (r[0], r[2], r[1])))
        self.assertEqual(data.table_info["rocpd_region"],
                         ['SELECT * FROM db0."rocpd_region"', 'SELECT * FROM db1."rocpd_region"'])

    def test_more_than_sqlite_attaches(self):
        old, = direct(A, "SELECT value FROM rocpd_metadata WHERE tag = 'guid'")[0]
        source = sqlite3.connect(A)
        text = "PRAGMA synchronous = OFF;\n" + "\n".join(source.iterdump())
        source.close()
        files = [f"many{i}.db" for i in range(12)]
        for i, name in enumerate(files):  # the same run under other guids
            guid = "%08d-0000-7000-8000-000000000000" % i
            copy = sqlite3.connect(name)
            copy.executescript(text.replace(old, guid).replace(old.replace("-", "_"),
                                                               guid.replace("-", "_")))
            copy.close()
        data = rocpd.connect(files)
        n, = direct(A, "SELECT COUNT(*) FROM regions")[0]
        self.assertEqual(data.execute("SELECT COUNT(*) FROM regions").fetchone()[0], 12 * n)
        self.assertEqual(data.execute("SELECT COUNT(DISTINCT guid) FROM kernels").fetchone(), (12,))
        self.assertEqual(data.databases, files)

    def test_packages(self):
        for how in ({}, {"copy": True}, {"consolidate": True}):
            path = rocpd.package.execute([A, B], output_path="p" + "".join(how), **how)
            for name in (path, os.path.join(path, "index.yaml")):
                data = rocpd.connect(name)
                self.assertEqual(data.execute("SELECT COUNT(*) FROM processes").fetchone(), (2,))
        os.mkdir("by_hand.rpdb")
        with open("by_hand.rpdb/index.yaml", "w", encoding="utf-8") as file:
            file.write("# a person's\nrocprofiler-sdk:\n  rocpd:\n    files: # two\n"
                       f"    - '{os.path.abspath(A)}'\n    - {B}  # this one\n"
                       f"    path: \"{os.getcwd()}\"  # here\n")
        self.assertEqual(len(rocpd.read_processes(rocpd.connect("by_hand.rpdb"))), 2)
        os.mkdir("one.rpdb")
        shutil.copy(A, "one.rpdb/x.db")
        with open("one.rpdb/index.yaml", "w", encoding="utf-8") as file:
            file.write("rocprofiler-sdk:\n  rocpd:\n    files: x.db\n    path: .\n"
                       "    rocpd_package_version: '1.0'\n")
        self.assertEqual(len(rocpd.read_processes(rocpd.connect("one.rpdb"))), 1)
        self.assertEqual(rocpd.package.flatten_rocpd_yaml_input_file(["one.rpdb", B]),
                         ["one.rpdb/./x.db", B])
        rocpd.write_csv(rocpd.connect("one.rpdb"), output_path="one", output_file="x")
        self.assertIn("x_kernel_trace.csv", os.listdir("one"))

    def test_files_are_never_changed(self):
        def sums():
            return [hashlib.sha256(pathlib.Path(f).read_bytes()).hexdigest() for f in (A, B)]

        before, names = sums(), set(os.listdir("."))
        data = rocpd.connect([A, B])
        for statement in ("DELETE FROM db0.rocpd_metadata", "CREATE TABLE db1.mine (x)",
                          "DROP VIEW db0.kernels"):
            with self.assertRaises(sqlite3.Error):
                data.execute(statement)
        data.execute("CREATE TEMPORARY TABLE mine AS SELECT name FROM kernels")
        self.assertEqual(data.execute("SELECT COUNT(*) FROM mine").fetchone(),
                         data.execute("SELECT COUNT(*) FROM kernels").fetchone())
        data.close()
        self.assertEqual(sums(), before)
        self.assertEqual(set(os.listdir(".")), names)

    def test_row_factory_is_the_connections(self):
        data = rocpd.connect([A, B])
        data.row_factory = lambda cursor, row: {d[0]: v for d, v in zip(cursor.description, row)}
        self.assertEqual(data.execute("SELECT 1 AS one").fetchone(), {"one": 1})
        self.assertEqual(len(rocpd.read_processes(data)), 2)
        self.assertEqual(rocpd.query.fetch(data, "SELECT 1 AS one"), (["one"], [(1,)]))

    def test_odd_names(self):
        for name in ("a b.db", "a%41?#.db", "ä'\".db"):
            shutil.copy(A, name)
            data = rocpd.connect(name)
            self.assertEqual(len(data.execute("SELECT * FROM kernels").fetchall()), 1)

    def test_mistakes(self):
        with self.assertRaisesRegex(FileNotFoundError, "File 'nope.db' does not exist."):
            rocpd.connect("nope.db")
        self.assertFalse(os.path.exists("nope.db"))
        os.makedirs("folder", exist_ok=True)
        with self.assertRaisesRegex(ValueError, "'folder' is a folder but not a package"):
            rocpd.connect("folder")
        with open("text.db", "w", encoding="utf-8") as file:
            file.write("no database\n" * 1000)
        with self.assertRaisesRegex(sqlite3.DatabaseError, "'text.db' is not a rocpd database"):
            rocpd.connect(["text.db"])
        sqlite3.connect("empty.db").close()
        with self.assertRaisesRegex(sqlite3.DatabaseError, "'empty.db' is not a rocpd database"):
            rocpd.connect([A, "empty.db"])
        with open(A, "rb") as whole, open("damaged.db", "wb") as file:
            data = whole.read()
            file.write(data[:len(data) // 2])
        with self.assertRaises(sqlite3.DatabaseError):
            rocpd.connect("damaged.db").execute("SELECT * FROM regions").fetchall()
        with self.assertRaisesRegex(ValueError, "contains a run that is also in another input"):
            rocpd.connect([A, B, A])
        for bad in ([], None, 3, sqlite3.connect(":memory:")):
            with self.assertRaises(ValueError):
                rocpd.connect(bad)


class Records(unittest.TestCase):
    def test_values(self):
        data = rocpd.connect([A, B])
        gpus = rocpd.read_agents(data, "WHERE type = 'GPU'")
        self.assertEqual([(g.name, g.gpu_index) for g in gpus], [("gfx90a", 0)] * 2)
        self.assertEqual(gpus[0].cu_count, 104)
        self.assertEqual(rocpd.read_agents(data, "WHERE type = 'CPU'")[0].gpu_index, -1)
        node, = rocpd.read_nodes(rocpd.connect(A))
        row, = direct(A, "SELECT id, machine_id, hostname, release FROM rocpd_info_node")
        self.assertEqual((node.nid, node.machine_id, node.hostname, node.system_release), row)
        commands = {p.command.split("/")[-1].split()[0]: p.pid for p in rocpd.read_processes(data)}
        self.assertEqual(commands, {"vcopy": direct(A, "SELECT pid FROM processes")[0][0],
                                    "streams": direct(B, "SELECT pid FROM processes")[0][0]})
        self.assertEqual(sorted(t.tid for t in rocpd.read_threads(data)),
                         sorted(r[0] for f in (A, B) for r in direct(f, "SELECT tid FROM threads")))


class Write(unittest.TestCase):
    def same_files(self, got, want, n_least):
        names = sorted(os.listdir(want))
        self.assertGreaterEqual(len(names), n_least)
        self.assertEqual(sorted(os.listdir(got)), names)
        different = filecmp.cmpfiles(got, want, [n for n in names if not os.path.isdir(
            os.path.join(want, n))], shallow=False)
        self.assertEqual(different[1:], ([], []))

    def test_csv(self):
        command("rocpd", "convert", "-i", A, B, "-f", "csv", "-d", "csv0", "-o", "x",
                "--agent-index-value", "type-relative")
        self.assertTrue(rocpd.write_csv(rocpd.connect([A, B]), output_path="csv1", output_file="x",
                                        agent_index_value="type-relative"))
        self.same_files("csv1", "csv0", 5)
        config = rocpd.output_config.output_config(output_path="csv2", output_file="x")
        rocpd.csv.execute([A, B], config, agent_index_value="type-relative")
        self.same_files("csv2", "csv0", 5)
        with quiet() as out:
            self.assertEqual(rocpd.csv.main(["-i", A, B, "-d", "csv3", "-o", "x",
                                             "--agent-index-value", "type-relative"]), 0)
        self.assertTrue(out.getvalue().endswith("Done. Exiting...\n"))
        self.same_files("csv3", "csv0", 5)

    def test_window(self):
        first, last = direct(A, "SELECT MIN(start), MAX(\"end\") FROM kernels")[0]
        command("rocpd2csv", "-i", A, "-d", "w0", "-o", "x", "--start", str(first), "--end",
                str(last))
        with quiet() as out:
            data = rocpd.time_window.execute([A], start=first, end=last)
        self.assertIn(f"# Windowed time bounds: {first} : {last} nsec", out.getvalue())
        rocpd.write_csv(data, output_path="w1", output_file="x")
        self.same_files("w1", "w0", 2)
        self.assertEqual(data.execute("SELECT COUNT(*) FROM kernels").fetchone(), (1,))
        inside, = direct(A, "SELECT COUNT(*) FROM regions "
                         f"WHERE start >= {first} AND \"end\" <= {last}")
        self.assertEqual(data.execute("SELECT COUNT(*) FROM regions").fetchone(), inside)

    def test_the_folder_may_change(self):
        data, here = rocpd.connect([A, B]), os.getcwd()
        os.makedirs("elsewhere", exist_ok=True)
        os.chdir("elsewhere")
        try:
            rocpd.write_csv(data, output_path="x", output_file="x")
            self.assertIn("x_kernel_trace.csv", os.listdir("x"))
        finally:
            os.chdir(here)

    def test_pftrace(self):
        command("rocpd2pftrace", "-i", A, "-d", "pf0", "-o", "x")
        rocpd.write_perfetto(rocpd.connect(A), output_path="pf1", output_file="x")
        self.same_files("pf1", "pf0", 1)
        rocpd.pftrace.execute(A, output_path="pf2", output_file="x")
        self.same_files("pf2", "pf0", 1)

    def test_otf2(self):
        made = subprocess.run([os.path.join(BIN, "rocpd2otf2"), "-i", A, "-d", "otf0", "-o", "x"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if made.returncode and "libopen-trace-format2-dev" in made.stderr:
            self.skipTest("built without OTF2")
        self.assertEqual(made.returncode, 0, made.stderr)
        rocpd.write_otf2(rocpd.connect(A), output_path="otf1", output_file="x")
        rocpd.otf2.execute(A, output_path="otf2", output_file="x")
        for folder in ("otf1", "otf2"):
            self.assertEqual(sorted(os.listdir(folder)), sorted(os.listdir("otf0")))

    def test_mistakes(self):
        with self.assertRaisesRegex(KeyError, "no_such"):
            rocpd.write_csv(rocpd.connect(A), no_such=1)
        open("a_file", "w", encoding="utf-8").close()
        with self.assertRaisesRegex(RuntimeError, "^rocpd: .*a_file"):
            rocpd.write_csv(rocpd.connect(A), output_path="a_file/below", output_file="x")

    def test_names(self):
        here = os.path.basename(os.getcwd())
        self.assertEqual(rocpd.format_path("x/%pid%_{tag}", "me"), f"x/{os.getpid()}_me")
        self.assertEqual(rocpd.format_path("%p-%typo%-%env{WS_NAME}%"), f"{os.getpid()}-%typo%-")
        self.assertTrue(rocpd.format_path("%cwd%/y").endswith(here + "/y"))
        rocpd.write_csv(rocpd.connect(A), output_path="n%pid%", output_file="x")
        self.assertIn("x_kernel_trace.csv", os.listdir(f"n{os.getpid()}"))

    def test_merge(self):
        path = rocpd.merge.execute([A, B], "both", "merged")
        self.assertEqual(path, os.path.abspath("merged/both.db"))
        self.assertEqual(direct(path, "SELECT COUNT(*) FROM processes"), [(2,)])
        self.assertEqual(rocpd.merge.execute([A], "one.db", "merged"),
                         os.path.abspath("merged/one.db"))
        rocpd.merge.merge_sqlite_dbs([A, B], "merged/as_named.rocpd")
        self.assertEqual(direct("merged/as_named.rocpd", "SELECT COUNT(*) FROM processes"), [(2,)])
        self.assertEqual(sorted(os.listdir("merged")), ["as_named.rocpd", "both.db", "one.db"])


class Query(unittest.TestCase):
    query = ("SELECT name, duration / 3.0 AS third, duration, NULL AS \"none, or\", 1e20 AS big, "
             "'a|b<c>\"d\" &' AS odd FROM kernels ORDER BY start, name")

    def test_formats_are_the_commands(self):
        with quiet():
            for form in ("csv", "json", "md", "html"):
                command("rocpd", "query", "-i", A, B, "--query", self.query, "--format", form,
                        "-d", "q0", "-o", "q")
                args = argparse.Namespace(query=self.query, script=None, format=form)
                path = rocpd.query.execute([A, B], args, output_path="q1", output_file="q")
                self.assertEqual(path, os.path.abspath(f"q1/q.{form}"))
                with open(f"q0/q.{form}", "rb") as want, open(path, "rb") as got:
                    self.assertEqual(got.read().decode(), want.read().decode())
        with quiet() as out:
            rocpd.query.execute([A, B], self.query)
        self.assertEqual(out.getvalue() + "Done. Exiting...\n",
                         command("rocpd", "query", "-i", A, B, "--query", self.query))
        self.assertEqual(out.getvalue().count("\n"), 1 + len(
            direct(A, self.query) + direct(B, self.query)))

    def test_terminals_are_not_told_what_to_do(self):
        query = "SELECT 'a' || char(27) || '[31m' || char(155) AS x"
        with quiet() as out:
            rocpd.query.execute(A, query)
        self.assertIn("a\\x1b[31m\\xc2\\x9b\n", out.getvalue())
        self.assertEqual(out.getvalue() + "Done. Exiting...\n",
                         command("rocpd", "query", "-i", A, "--query", query))

    def test_script_and_parameters(self):
        with open("views.sql", "w", encoding="utf-8") as file:
            file.write("CREATE TEMP VIEW short AS SELECT ';' AS s, grid_x FROM kernels; SELECT 1;")
        args = argparse.Namespace(query="SELECT s, grid_x FROM short", script="views.sql",
                                  format=None)
        with quiet() as out:
            rocpd.query.execute(A, args)
        self.assertEqual(out.getvalue().split(), ["s", "grid_x", ";", "65536"])
        data = rocpd.connect(A)
        self.assertEqual(rocpd.query.fetch(data, "SELECT grid_x AS g FROM kernels WHERE grid_x > ?",
                                           (1,)), (["g"], [(65536,)]))
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertIsNone(rocpd.query.export_sqlite_query(data, "SELECT 1 WHERE 0"))
        self.assertEqual(err.getvalue(), "No results found for query: SELECT 1 WHERE 0\n")
        with self.assertRaises(sqlite3.Error):
            rocpd.query.execute(A, "SELECT * FROM nope")
        with self.assertRaisesRegex(ValueError, "pdf"):
            rocpd.query.execute(A, "SELECT 1", format="pdf")

    def test_without_pandas(self):
        with unittest.mock.patch.dict(sys.modules, pandas=None):
            with self.assertRaisesRegex(ImportError, "pandas is not installed"):
                rocpd.query.dataframe(rocpd.connect(A), "SELECT 1")


class Summary(unittest.TestCase):
    def same_rows(self, got, want, name):
        """The same, but for what the order of additions does to the last digit of a deviation."""
        self.assertEqual([row[:-1] for row in got], [row[:-1] for row in want], name)
        for a, b in zip(got, want):
            if a[-1] != b[-1]:
                self.assertAlmostEqual(float(a[-1]) / float(b[-1]), 1, 12, name)

    def test_files_are_the_commands(self):
        options = ["--domain-summary", "--summary-by-rank"]
        command("rocpd2summary", "-i", A, B, M, "-f", "csv", "-d", "s0", "-o", "x", *options)
        with quiet():
            data = rocpd.summary.execute([A, B, M], format="csv", output_path="s1",
                                         output_file="x", domain_summary=True,
                                         summary_by_rank=True)
        names = sorted(os.listdir("s0"))
        self.assertEqual(sorted(os.listdir("s1")), names)
        self.assertTrue({"x_kernels_summary.csv", "x_hip_summary_by_rank.csv",
                         "x_markers_summary.csv", "x_domain_summary.csv"} < set(names), names)
        for name in names:
            with open(f"s0/{name}", encoding="utf-8", newline="") as want, \
                    open(f"s1/{name}", encoding="utf-8", newline="") as got:
                self.same_rows(list(csv.reader(got)), list(csv.reader(want)), name)
        row = data.execute('SELECT Calls, "DURATION (nsec)" FROM kernels_summary '
                           "WHERE Name LIKE 'vecCopy%'").fetchone()
        self.assertEqual([row], direct(A, "SELECT COUNT(*), SUM(duration) FROM kernels"))

    def test_categories(self):
        for asked, views in ((["NONE"], set()), (["HIP"], {"hip_summary"}),
                             (["MARKER", "HSA"], {"markers_summary", "hsa_summary"})):
            data = rocpd.connect(A)
            rocpd.summary.create_summary_region_views(data, region_categories=asked)
            made = {v for v in rocpd.summary.get_temp_view_names(data) if v.endswith("_summary")}
            self.assertEqual(made, views)
        with self.assertRaisesRegex(ValueError, "NOPE"):
            rocpd.summary.create_summary_region_views(data, region_categories=["NOPE"])


class Window(unittest.TestCase):
    def test_markers(self):
        data = rocpd.connect(M)
        with quiet():
            rocpd.time_window.apply_time_window(data, start_marker="inner", end_marker="inner")
        self.assertEqual(data.execute("SELECT json_extract(extdata, '$.message') "
                                      "FROM regions_and_samples").fetchall(), [("inner",)])
        with self.assertRaisesRegex(ValueError, "no marker 'nope'"):
            rocpd.time_window.execute(M, start_marker="nope")

    def test_shares_are_the_commands(self):
        for window in ({"start": "10%", "end": "90%"}, {"start": "33.3%", "inclusive": False}):
            with quiet() as out:
                data = rocpd.time_window.execute([A, B], **window)
            args = [w for k, v in window.items() for w in (f"--{k}", str(v).lower())]
            text = command("rocpd", "query", "-i", A, B, "--format", "csv", "-d", "t", "-o", "t",
                           "--query", "SELECT COUNT(*) FROM regions", *args)
            self.assertEqual(out.getvalue(), "".join(
                line + "\n" for line in text.splitlines() if line.startswith("#")))
            with open("t/t.csv", encoding="utf-8") as file:
                n = int(file.read().split()[-1])
            self.assertEqual(data.execute("SELECT COUNT(*) FROM regions").fetchone()[0], n)
            whole = rocpd.connect([A, B]).execute("SELECT COUNT(*) FROM regions").fetchone()[0]
            self.assertLess(n, whole)

    def test_mistakes(self):
        for window, text in (({"start": "120%"}, "not in 0% to 100%"),
                             ({"start": "soon"}, "neither nanoseconds nor"),
                             ({"start": "90%", "end": "10%"}, "before it begins"),
                             ({"start": 1, "start_marker": "x"}, "exclude each other")):
            with self.assertRaisesRegex(ValueError, text):
                rocpd.time_window.execute(A, **window)


class Programs(unittest.TestCase):
    def test_exit_codes_and_output(self):
        query = ["-i", A, "--query", "SELECT grid_x FROM kernels"]
        for args, rc, text in (
                (["-m", "rocpd", "query", *query], 0, command("rocpd", "query", *query)),
                (["-m", "rocpd.query", *query], 0, command("rocpd", "query", *query)),
                (["-m", "rocpd.summary", "-i", A], 0, command("rocpd2summary", "-i", A)),
                (["-m", "rocpd"], 0, command("rocpd")),
                (["-m", "rocpd", "--version"], 0, command("rocpd", "--version")),
                (["-m", "rocpd", "query", "-i", "nope.db", "--query", "SELECT 1"], 2, ""),
                (["-m", "rocpd", "query", "-i", A, "--query", "SELECT nope"], 1, ""),
                (["-m", "rocpd", "nope"], 2, ""), (["-m", "rocpd.csv"], 2, ""),
                (["-m", "rocpd.time_window", "-i", "nope.db", "--start", "1%"], 2, "")):
            done = python(*args)
            self.assertEqual((done.returncode, done.stdout), (rc, text), args)
            self.assertEqual(bool(done.stderr), rc != 0, args)
            self.assertNotIn("Traceback", done.stderr)
        for module in ("csv", "pftrace"):
            done = python("-m", "rocpd." + module, "-i", A, "-d", "m", "-o", module)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue({"csv_kernel_trace.csv", "pftrace_results.pftrace"} <= set(os.listdir("m")))
        done = python("-m", "rocpd.merge", "-i", A, B, "-d", "m", "-o", "two")
        self.assertEqual((done.returncode, direct("m/two.db", "SELECT COUNT(*) FROM processes")),
                         (0, [(2,)]))
        done = python("-m", "rocpd.package", "-i", A, B, "-d", "m/two")
        self.assertEqual((done.returncode, os.listdir("m/two.rpdb")), (0, ["index.yaml"]))

    def test_main_from_a_script(self):
        from rocpd.__main__ import main

        with quiet() as out, contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(main(["query", "-i", A, "--query", "SELECT 7 AS seven"]), 0)
            self.assertEqual(main(["query", "-i", "nope.db", "--query", "SELECT 1"]), 2)
        self.assertEqual(out.getvalue().split()[:2], ["seven", "7"])
        self.assertIn("File 'nope.db' does not exist.", err.getvalue())

    def test_no_command(self):
        done = python("-m", "rocpd", "--version", WAVESCOPE_BIN="/nonexistent")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "rocpd: not in '/nonexistent': set WAVESCOPE_BIN to the "
                         "folder of wavescope's commands\n")
        # A rocpd without wavescope beside it is AMD's, which would import us and start itself.
        os.makedirs("theirs", exist_ok=True)
        with open("theirs/rocpd", "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho theirs\n")
        os.chmod("theirs/rocpd", 0o755)
        done = python("-m", "rocpd", "--version", WAVESCOPE_BIN="",
                      PATH=os.path.abspath("theirs") + os.pathsep + BIN)
        self.assertIn("wavescope-", done.stdout)

    def test_the_standard_csv_stays(self):
        self.assertTrue(hasattr(csv, "DictReader"))
        self.assertIsNot(csv, rocpd.csv)
        self.assertFalse(hasattr(rocpd.csv, "DictReader"))

    def test_version(self):
        info = rocpd.version_info
        self.assertEqual(".".join(str(info[k]) for k in ("major", "minor", "patch")),
                         info["version"])
        self.assertIn("git_revision", info)

    def test_schema(self):
        done = python("-m", "rocpd.schema", "--create", "new.db")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(rocpd.connect(["new.db", A]).execute(
            "SELECT COUNT(*) FROM kernels").fetchone(), (1,))
        self.assertEqual(python("-m", "rocpd.schema", "--create", "new.db").returncode, 2)

    def test_options_of_a_script(self):
        parser = argparse.ArgumentParser()
        names = rocpd.output_config.add_args(parser) + rocpd.pftrace.add_args(parser)
        names += rocpd.output_config.add_generic_args(parser)
        windows = rocpd.time_window.add_args(parser)
        args = parser.parse_args(["-d", "x", "--group-by-queue", "--start", "5%"])
        config = rocpd.output_config.output_config(
            **rocpd.output_config.process_args(args, names))
        self.assertEqual((config.output_path, config.group_by_queue, config.output_file),
                         ("x", True, "out"))
        self.assertEqual(rocpd.time_window.process_args(args, windows),
                         {"start": "5%", "inclusive": True})


if __name__ == "__main__":
    unittest.main()
