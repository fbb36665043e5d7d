"""rocprofv3_avail_module: which counters there are, for scripts. See avail."""
