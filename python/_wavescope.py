"""What the packages here share: our commands, and running them.

A command is looked for in the folder $WAVESCOPE_BIN, in the installation or the build that
this file is part of, and on PATH.
"""
import os
import subprocess
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def beside(installed, built):
    """A path of ours: @installed below the prefix, @built below the source tree."""
    where = _HERE.split(os.sep)
    if where[-3:] == ["lib", "wavescope", "python"]:
        return os.path.join(os.sep, *where[:-3], installed)
    return os.path.join(os.path.dirname(_HERE), built)


class CommandError(RuntimeError):
    """A command ended with an error; its complaint is the text, exit_code its code."""

    def __init__(self, text, exit_code=1):
        super().__init__(text)
        self.exit_code = exit_code


def _has(folder, name):
    # All our commands lie beside wavescope. AMD's rocpd is a script that imports the package
    # rocpd, so with ours on PYTHONPATH it would start itself for ever.
    return all(os.access(os.path.join(folder, n), os.X_OK) for n in (name, "wavescope"))


def find(name):
    """The path of one of our commands; FileNotFoundError says where it was looked for."""
    chosen = os.environ.get("WAVESCOPE_BIN")
    if chosen:
        if _has(chosen, name):
            return os.path.join(chosen, name)
        raise FileNotFoundError(
            f"{name}: not in '{chosen}': set WAVESCOPE_BIN to the folder of wavescope's commands")
    ours = beside("bin", os.path.join("build", "bin"))
    for folder in [ours] + os.environ.get("PATH", "").split(os.pathsep):
        if folder and _has(folder, name):
            return os.path.join(folder, name)
    raise FileNotFoundError(
        f"{name}: wavescope's command is neither in '{ours}' nor on PATH: put it on PATH, "
        "or set WAVESCOPE_BIN to its folder")


def read(name, *args):
    """Run a command to its end and return what it printed; CommandError when it fails.

    Warnings go to stderr.
    """
    done = subprocess.run([find(name), *map(os.fspath, args)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    text = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode:
        raise CommandError(text or f"{name}: ended with {done.returncode}", done.returncode)
    if text and sys.stderr is not None:
        sys.stderr.write(text + "\n")
    return done.stdout.decode("utf-8", "replace")


def _stream(stream):
    # A notebook's stream, or one put in its place, has no file behind it.
    try:
        stream.flush()
        return stream.fileno()
    except (AttributeError, OSError, ValueError):
        return subprocess.PIPE


def call(name, args=()):
    """Run a command with our output as its output; its exit code, 128 + N for signal N."""
    out, err = _stream(sys.stdout), _stream(sys.stderr)
    done = subprocess.run([find(name), *map(os.fspath, args)], stdout=out, stderr=err, check=False)
    for stream, text in ((sys.stdout, done.stdout), (sys.stderr, done.stderr)):
        if text is not None and stream is not None:
            stream.write(text.decode("utf-8", "replace"))
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def become(name, fixed=()):
    """`python3 -m MODULE ARGS`: turn this process into the command."""
    try:
        path = find(name)
    except FileNotFoundError as why:
        sys.exit(f"{why}")
    os.execv(path, [path, *fixed, *sys.argv[1:]])
