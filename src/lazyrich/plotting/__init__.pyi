from ._style import COLOURS as COLOURS
from ._style import curves_legend as curves_legend
from ._style import new_figure as new_figure
from ._style import new_mosaic as new_mosaic
from ._style import style as style
