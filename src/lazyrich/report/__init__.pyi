from ._accuracy_table import accuracy_markdown as accuracy_markdown
from ._accuracy_table import accuracy_summary as accuracy_summary
from ._accuracy_table import accuracy_table as accuracy_table
from ._checks_table import checks_table as checks_table
from ._claims_table import claims_table as claims_table
from ._gallery import gallery as gallery
from ._number import duration as duration
from ._summary import summary as summary
