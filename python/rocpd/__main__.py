"""python3 -m rocpd: the command rocpd."""
import _wavescope


def main(argv=None, config=None):
    """Run `rocpd ARGS` (those of this program when None); its exit code."""
    import sys

    from . import output_config

    args = list(sys.argv[1:] if argv is None else argv)
    if config is not None and args[:1] == ["convert"]:
        args += output_config.options(config)
    return _wavescope.call("rocpd", args)


if __name__ == "__main__":
    _wavescope.become("rocpd")
