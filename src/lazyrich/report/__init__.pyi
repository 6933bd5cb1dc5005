from ._checks_table import checks_table as checks_table
from ._claims_table import claims_table as claims_table
from ._gallery import gallery as gallery
from ._summary import summary as summary
