from ._atomic import write_atomically as write_atomically
from ._digest import content_digest as content_digest
from ._netcdf import export_netcdf as export_netcdf
from ._result import read_header as read_header
from ._result import read_result as read_result
from ._result import write_result as write_result
from ._store import Store as Store
from ._temporary import remove_leftovers as remove_leftovers
