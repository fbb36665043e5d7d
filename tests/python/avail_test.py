"""rocprofv3_avail_module on an MI100 and an MI210, against what rocprofv3-avail prints."""
import contextlib
import ctypes
import io
import os
import subprocess
import sys
import unittest

from rocprofv3 import avail as newest
from rocprofv3_avail_module import avail

COMMAND = os.path.join(os.environ["WAVESCOPE_BIN"], "rocprofv3-avail")


def command(*args):
    return subprocess.run([COMMAND, *args], check=True, text=True, stdout=subprocess.PIPE).stdout


def named(counters, name):
    found, = [c for c in counters if c.name == name]
    return found


class Agents(unittest.TestCase):
    def test_info(self):
        handles = avail.get_agent_handles()
        self.assertEqual(len(handles), avail.get_number_agents())
        info = avail.get_agent_info_map()
        self.assertEqual(list(info), handles)
        gpus = [a for a in info.values() if a["type"] == 2]
        self.assertEqual([(g["name"], g["cu_count"], g["logical_node_type_id"]) for g in gpus],
                         [("gfx908", 120, 0), ("gfx90a", 104, 1)])
        self.assertTrue([a for a in info.values() if a["type"] == 1])
        self.assertEqual(avail.get_agent_info(handles[0]), info[handles[0]])
        with self.assertRaises(KeyError):
            avail.get_agent_info(12345678)

    def test_the_newest_name(self):
        self.assertIs(newest, avail)
        self.assertIs(sys.modules["rocprofv3.avail"], avail)


class Counters(unittest.TestCase):
    def test_are_what_is_printed(self):
        """Every counter of both GPUs, to the character."""
        for device, (agent, counters) in enumerate(avail.get_counters().items()):
            name = avail.get_agent_info(agent)["name"]
            text = f"GPU:{device}\nName:{name}\n" + "".join(f"{c}\n\n\n" for c in counters)
            self.assertEqual(text, command("-d", str(device), "info", "--pmc"))
            self.assertGreater(len(counters), 300)
            self.assertEqual(avail.get_agent_counter_handles(agent),
                             [c.counter_handle for c in counters])
            self.assertEqual(avail.get_number_of_agent_counters(agent), len(counters))

    def test_handles_are_unique(self):
        handles = [c.counter_handle for counters in avail.get_counters().values()
                   for c in counters]
        self.assertEqual(len(handles), len(set(handles)))

    def test_kinds(self):
        _, counters = avail.get_counters().values()
        waves = named(counters, "SQ_WAVES")
        self.assertIsInstance(waves, avail.basic_counter)
        self.assertEqual(waves.get_as_dict(), {"Counter_Name": "SQ_WAVES", "Block": "SQ",
                                               "Description": waves.description})
        self.assertEqual([d.get_as_dict() for d in avail.get_dimensions(waves.counter_handle)],
                         [{"Dimension_Id": 7, "Dimension_Name": "DIMENSION_INSTANCE",
                           "Dimension_Instances": 1},
                          {"Dimension_Id": 3, "Dimension_Name": "DIMENSION_SHADER_ENGINE",
                           "Dimension_Instances": 8}])
        hits = named(counters, "L2CacheHit")
        self.assertIsInstance(hits, avail.derived_counter)
        self.assertIn("TCC_HIT", hits.get_as_dict()["Expression"])
        constant = named(counters, "simd_count")
        self.assertIs(type(constant), avail.counter)
        self.assertEqual((constant.is_hw_constant, constant.dimensions), (1, []))
        self.assertEqual(avail.get_counter_info(hits.counter_handle).get_as_dict(),
                         hits.get_as_dict())

    def test_a_cpu_has_none(self):
        cpu = next(h for h, a in avail.get_agent_info_map().items() if a["type"] == 1)
        self.assertEqual(avail.get_agent_counter_handles(cpu), [])
        self.assertEqual(avail.get_pc_sample_config(cpu), [])
        self.assertNotIn(cpu, avail.get_counters())


class Samplers(unittest.TestCase):
    def test_are_what_is_printed(self):
        configs = avail.get_pc_sample_configs()
        self.assertEqual(len(configs), 2)
        text = "".join(
            "{:8}:\t{}\n{:8}:\t{}\n{:8}:\n".format(
                "GPU", device, "Name", avail.get_agent_info(agent)["name"], "configs") +
            "".join(f"{c}\n\n\n" for c in ways) + "\n\n"
            for device, (agent, ways) in enumerate(configs.items()))
        self.assertEqual(text, command("info", "--pc-sampling"))
        for way in configs[list(configs)[0]]:
            self.assertIsInstance(way.min_interval, ctypes.c_ulong)
            self.assertEqual(way.flags.value, int(way.method == "stochastic"))
            self.assertGreaterEqual(way.max_interval.value, way.min_interval.value)


class Check(unittest.TestCase):
    def test_sets(self):
        for agent, counters in avail.get_counters().items():
            few = [named(counters, n).counter_handle for n in ("SQ_WAVES", "GRBM_COUNT")]
            self.assertIs(avail.check_pmc({agent: few}), True)
        every = [c.counter_handle for c in counters if isinstance(c, avail.basic_counter)]
        with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit) as end:
            avail.check_pmc({agent: every})
        self.assertEqual(end.exception.code, 1)
        why, fatal = err.getvalue().splitlines()
        self.assertIn("not in one pass: block ", why)
        self.assertTrue(fatal.startswith("Fatal error: "))
        self.assertTrue(fatal.endswith(" not collected on agent gfx90a"))


class Programs(unittest.TestCase):
    def test_programs(self):
        for module in ("rocprofv3_avail_module.avail", "rocprofv3.avail"):
            done = subprocess.run([sys.executable, "-m", module, "-d", "0", "list"], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(done.stdout, command("-d", "0", "list"))
        done = subprocess.run([sys.executable, "-m", "rocprofv3.avail", "-d", "7", "list"],
                              stderr=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
