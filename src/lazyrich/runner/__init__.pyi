from ._code_digest import code_digest as code_digest
from ._code_digest import modules_used as modules_used
from ._folder import Folder as Folder
from ._reproduce import failure as failure
from ._reproduce import reproduce as reproduce
from ._reproduce import result_key as result_key
