#!/bin/bash
# A model without a GPU: what is around it can be tried in no time.
echo "dummy: $MAD_MODEL_NAME $*"
echo "performance: 42.5 samples_per_second"
