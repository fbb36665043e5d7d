"""Rows of the tables that say where things happened, as objects."""
import json
from types import SimpleNamespace

from .importer import fetch

__all__ = ["agent", "node", "process", "thread", "read_agents", "read_nodes", "read_processes",
           "read_threads"]


class agent(SimpleNamespace):
    """A CPU or GPU: the columns of rocpd_info_agent and what the runtime says of it."""


class node(SimpleNamespace):
    """A machine."""


class process(SimpleNamespace):
    """A row of the view processes."""


class thread(SimpleNamespace):
    """A row of the view threads."""


def _rows(data, table, condition):
    names, rows = fetch(data, f"SELECT * FROM {table} {condition}")
    return [dict(zip(names, row)) for row in rows]


def read_agents(data, condition=""):
    agents = []
    for row in _rows(data, "rocpd_info_agent", condition):
        more = json.loads(row["extdata"] or "{}")
        row.update(node_id=row["absolute_index"], logical_node_id=row["logical_index"],
                   logical_node_type_id=row["type_index"],
                   gpu_index=row["type_index"] if row["type"] == "GPU" else -1)
        agents.append(agent(**{**more, **row}))
    return agents


def read_nodes(data, condition=""):
    return [node(**row, nid=row["id"], system_release=row["release"],
                 system_version=row["version"])
            for row in _rows(data, "rocpd_info_node", condition)]


def read_processes(data, condition=""):
    return [process(**row) for row in _rows(data, "processes", condition)]


def read_threads(data, condition=""):
    return [thread(**row) for row in _rows(data, "threads", condition)]
