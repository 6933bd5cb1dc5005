"""Settings shared by all tests."""

import gc
import os
import signal
from importlib.metadata import version

import hypothesis

# compiling makes first examples slow; time is no subject of these tests
hypothesis.settings.register_profile("lazyrich", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.load_profile("lazyrich")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# a test that wants the data folder says so; the others see a machine without one
os.environ.pop("LAZYRICH_DATA", None)
# one core per worker, as the command line has it: threads of several workers get in each other's way
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Compiling is most of the suite's time, and XLA's older emitter of loops needs half as long. The level of
# optimisation is as ever, last bits may be others than a user's. Processes that tests start inherit the
# flag, so that bits agree within the suite; `lazyrich verify`, `lazyrich reproduce` and the documentation
# run with XLA's defaults. XLA stops at flags that it does not know: jaxlib 0.8 to 0.10 know this one, 0.12
# does not.
FLAG = "--xla_cpu_use_fusion_emitters"
flags = os.environ.get("XLA_FLAGS", "")
if FLAG not in flags and tuple(map(int, version("jaxlib").split(".")[:2])) < (0, 11):
    os.environ["XLA_FLAGS"] = f"{flags} {FLAG}=false".strip()
# tracing makes many objects that live long; by default Python looks through them every 700 new ones
gc.set_threshold(100_000)
# tests interrupt themselves; a shell that starts jobs in the background has them ignore it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
