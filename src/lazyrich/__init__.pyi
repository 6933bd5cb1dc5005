from . import adapters as adapters
from . import checks as checks
from . import core as core
from . import experiments as experiments
from . import groups as groups
from . import measures as measures
from . import models as models
from . import plotting as plotting
from . import quantities as quantities
from . import report as report
from . import runner as runner
from . import simulate as simulate
from . import store as store
from . import tasks as tasks
from . import theory as theory

__version__: str
