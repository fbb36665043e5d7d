#!/usr/bin/env python3
"""Prints the models that a get_models_json.py defines, as JSON.

    list_models.py scripts/<dir>/get_models_json.py

Such a file imports CustomModel from madengine and defines list_models(). madengine is no Python
package here, so that the class is defined below under the names by which files import it.
"""
import dataclasses
import importlib.util
import json
import os
import sys
import types


@dataclasses.dataclass
class CustomModel:
    name: str
    dockerfile: str = ""
    scripts: str = ""
    n_gpus: str = "-1"
    owner: str = ""
    training_precision: str = ""
    tags: list = dataclasses.field(default_factory=list)
    args: str = ""
    multiple_results: str = ""
    skip_gpu_arch: str = ""
    url: str = ""
    data: str = ""
    cred: str = ""
    timeout: int = -1

    def to_dict(self):
        return dataclasses.asdict(self)

    def update_model(self):
        """For subclasses: called before the model is listed."""


def offer_class():
    for name in ("madengine", "madengine.utils", "madengine.tools",
                 "madengine.utils.discover_models", "madengine.tools.discover_models"):
        module = sys.modules.setdefault(name, types.ModuleType(name))
        module.__path__ = []
        module.CustomModel = CustomModel


def as_dict(model):
    if isinstance(model, dict):
        return model
    model.update_model()
    return {key: value for key, value in model.to_dict().items() if value not in ("", -1)}


def main(path):
    offer_class()
    answer = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the file prints is no JSON
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("get_models_json", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, "list_models"):
        sys.exit(f"{path}: there is no function list_models()")
    json.dump([as_dict(model) for model in module.list_models()], answer)
    answer.close()


if __name__ == "__main__":
    main(sys.argv[1])
