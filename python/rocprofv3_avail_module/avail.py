"""GPUs, counters and samplers, as `rocprofv3-avail info --json` has them.

    from rocprofv3_avail_module import avail

    for agent, counters in avail.get_counters().items():
        print(avail.get_agent_info(agent)["name"], [c.name for c in counters])

The interface of AMD's module. Agents and counters are known by handles, which are numbers. The
command is run once, when something is first asked for; refresh() makes it run again.
"""
import ctypes
import json
import sys

import _wavescope


def fatal_error(msg, exit_code=1):
    """End the program, as AMD's module does where something cannot be counted."""
    sys.stderr.write(f"Fatal error: {msg}\n")
    sys.stderr.flush()
    sys.exit(exit_code)


def _lines(rows):
    return "\n".join("{:20}:\t{}".format(key, value) for key, value in rows.items())


class dimension:
    """A direction in which a counter has instances."""

    columns = ["Dimension_Id", "Dimension_Name", "Dimension_Instances"]

    def __init__(self, dimension_id, dimension_name, dimension_instances):
        self.id = dimension_id
        self.name = dimension_name
        self.instances = dimension_instances

    def get_as_dict(self):
        return dict(zip(self.columns, (self.id, self.name, self.instances)))

    def __str__(self):
        return f"{self.name}[0:{self.instances - 1}]"


class counter:
    """A counter; of this class itself are constants, which are properties of the GPU."""

    columns = ["Counter_Name", "Description"]

    def __init__(self, counter_handle, counter_name, counter_description, counter_dimensions,
                 is_hw_constant):
        self.counter_handle = counter_handle
        self.name = counter_name
        self.description = counter_description
        self.dimensions = counter_dimensions
        self.is_hw_constant = is_hw_constant

    def get_as_dict(self):
        return dict(zip(self.columns, (self.name, self.description)))

    def __str__(self):
        return _lines(self.get_as_dict())


class _with_dimensions(counter):
    def _own(self):
        raise NotImplementedError

    def get_as_dict(self):
        return dict(zip(self.columns, (self.name, self.description, self._own())))

    def __str__(self):
        dimensions = " ".join(map(str, self.dimensions))
        return _lines({**self.get_as_dict(), "Dimensions": dimensions})


class derived_counter(_with_dimensions):
    """A counter that is computed from others."""

    columns = ["Counter_Name", "Description", "Expression"]

    def __init__(self, counter_handle, counter_name, counter_description, counter_expression,
                 counter_dimensions, is_hw_constant):
        super().__init__(counter_handle, counter_name, counter_description, counter_dimensions,
                         is_hw_constant)
        self.expression = counter_expression

    def _own(self):
        return self.expression


class basic_counter(_with_dimensions):
    """A counter of a hardware block."""

    columns = ["Counter_Name", "Description", "Block"]

    def __init__(self, counter_handle, counter_name, counter_description, counter_block,
                 counter_dimensions, is_hw_constant):
        super().__init__(counter_handle, counter_name, counter_description, counter_dimensions,
                         is_hw_constant)
        self.block = counter_block

    def _own(self):
        return self.block


class pc_config:
    """A way in which a GPU samples; intervals and flags are ctypes.c_ulong, as in AMD's module."""

    columns = ["Method", "Unit", "Min_Interval", "Max_Interval", "Flags"]
    _methods = {1: "stochastic", 2: "host_trap"}
    _units = {1: "instructions", 2: "cycle", 3: "time"}

    def __init__(self, config_method, config_unit, min_interval, max_interval, flags):
        self.method = self.get_method_string(config_method.value)
        self.unit = self.get_unit_string(config_unit.value)
        self.min_interval = min_interval
        self.max_interval = max_interval
        self.flags = flags

    @classmethod
    def get_method_string(cls, key):
        return cls._methods[key]

    @classmethod
    def get_unit_string(cls, key):
        return cls._units[key]

    @staticmethod
    def get_value(key, itr):
        if key == "Flags":
            return "interval pow2" if itr.value == 1 else "none"
        return itr.value

    def get_as_dict(self):
        return dict(zip(self.columns, (self.method, self.unit, self.min_interval,
                                       self.max_interval, self.flags)))

    def __str__(self):
        return "\n".join("   {:20}:\t{}".format(
            key, value if isinstance(value, str) else self.get_value(key, value))
            for key, value in self.get_as_dict().items())


# ---- what the command says ----

class loadLibrary:
    """AMD's module loads a library of this name; here it is only kept."""

    libname = None


_known = None


def refresh():
    """Forget what the command said: GPUs or WAVESCOPE_GPU have changed."""
    global _known
    _known = None


def get_library():
    """What the command says, as a dictionary: docs/counters.md has its keys."""
    global _known
    if _known is None:
        _known = json.loads(_wavescope.read("rocprofv3-avail", "info", "--json"))
    return _known


def _gpu(agent_handle):
    for gpu in get_library()["gpus"]:
        if gpu["agent"] == agent_handle:
            return gpu
    return {"counters": [], "pc_sampling": []}  # a CPU has nothing to count


def _counter(counter_handle):
    for gpu in get_library()["gpus"]:
        for row in gpu["counters"]:
            if row["handle"] == counter_handle:
                return row
    raise KeyError(f"no counter has the handle {counter_handle}")


def get_number_agents():
    return len(get_library()["agents"])


def get_agent_handles():
    """Of all agents, CPUs too."""
    return [agent["id"]["handle"] for agent in get_library()["agents"]]


def get_agent_info(agent_handle):
    """What the runtime says of an agent, as a dictionary; "type" is 1 for a CPU, 2 for a GPU."""
    for agent in get_library()["agents"]:
        if agent["id"]["handle"] == agent_handle:
            return agent
    raise KeyError(f"no agent has the handle {agent_handle}")


def get_agent_info_map():
    return {handle: get_agent_info(handle) for handle in get_agent_handles()}


def get_agent_counter_handles(agent_handle):
    return [row["handle"] for row in _gpu(agent_handle)["counters"]]


def get_number_of_agent_counters(agent_handle):
    return len(_gpu(agent_handle)["counters"])


get_number_of_counters = get_number_of_agent_counters


def _dimensions(row):
    return [dimension(d["id"], d["name"], d["instances"]) for d in row["dimensions"]]


def _make(row):
    head = (row["handle"], row["name"], row["description"])
    if row["kind"] == "derived":
        return derived_counter(*head, row["expression"], _dimensions(row), 0)
    if row["kind"] == "hardware":
        return basic_counter(*head, row["block"], _dimensions(row), 0)
    return counter(*head, [], 1)


def get_dimensions(counter_handle):
    return _dimensions(_counter(counter_handle))


def get_counter_info(counter_handle):
    return _make(_counter(counter_handle))


def get_counters():
    """From each GPU's handle to its counters."""
    return {gpu["agent"]: [_make(row) for row in gpu["counters"]]
            for gpu in get_library()["gpus"]}


def get_number_of_pc_sample_configs(agent_handle):
    return len(_gpu(agent_handle)["pc_sampling"])


def _code(names, name):
    return ctypes.c_ulong(next(code for code, n in names.items() if n == name))


def get_pc_sample_config(agent_handle):
    return [pc_config(_code(pc_config._methods, row["method"]),
                      _code(pc_config._units, row["unit"]),
                      ctypes.c_ulong(row["min_interval"]), ctypes.c_ulong(row["max_interval"]),
                      ctypes.c_ulong(1 if row["flags"] == "interval pow2" else 0))
            for row in _gpu(agent_handle)["pc_sampling"]]


def get_pc_sample_configs():
    """From the handle of each GPU that can sample to its ways."""
    return {gpu["agent"]: get_pc_sample_config(gpu["agent"])
            for gpu in get_library()["gpus"] if gpu["pc_sampling"]}


def check_pmc(agent_counter):
    """True when each agent can count its handles ({agent: [counter, ...]}) in one pass.

    Otherwise a fatal_error(), with the command's reason.
    """
    for agent, handles in agent_counter.items():
        names = [_counter(handle)["name"] for handle in handles]
        if not names:
            continue
        try:
            device = _gpu(agent).get("device")
            if device is None:
                raise _wavescope.CommandError("a CPU has no counters")
            _wavescope.read("rocprofv3-avail", "-d", str(device), "pmc-check", *names)
        except _wavescope.CommandError as why:
            # The command's own "Fatal error" says the same as ours, the rest says why.
            reasons = [r for r in str(why).splitlines() if not r.startswith("Fatal error: ")]
            sys.stderr.write("".join(r + "\n" for r in reasons))
            fatal_error("{} not collected on agent {}".format(" ".join(names),
                                                              get_agent_info(agent)["name"]))
    return True


def main(argv=None):
    """Run `rocprofv3-avail ARGS` (those of this program when None); its exit code."""
    return _wavescope.call("rocprofv3-avail", sys.argv[1:] if argv is None else argv)


if __name__ == "__main__":
    _wavescope.become("rocprofv3-avail")
