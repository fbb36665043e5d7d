"""Loaded by Python before the user's program, because its folder is first on PYTHONPATH.

It puts the program's own sitecustomize, if there is one, in its place, and arranges that
torch is instrumented when the program imports it. Whatever goes wrong here is said once and
never stops the program.
"""
import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))


def _elsewhere():
    return [p for p in sys.path if os.path.abspath(p or os.curdir) != _here]


def _run_own_sitecustomize():
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", _elsewhere())
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


class _Loader:
    """Runs torch's own loader, then instruments what it made."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        try:
            import wavescope_torch

            wavescope_torch.instrument(module)
        except Exception as error:  # the program matters more than its profile
            print(f"wavescope: torch is not instrumented: {error}", file=sys.stderr)

    def __getattr__(self, name):
        return getattr(self._loader, name)


class _Finder:
    """Meets the first import of torch, and no other."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


sys.meta_path.insert(0, _Finder())
_run_own_sitecustomize()
