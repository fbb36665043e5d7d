"""rocprofv3: the name under which AMD's newest versions have the module avail."""
