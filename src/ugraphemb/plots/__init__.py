"""Every picture: graphs, molecules, edit paths, maps, rankings; as figures, pages, and drawings in notebooks.

matplotlib and RDKit are imported by the functions that need them.
"""

from ugraphemb.plots.drawing import draw_graph, graph_figure, new_figure, save_figure
from ugraphemb.plots.edit_figure import edit_figure
from ugraphemb.plots.figures import cluster_figure, line_figure, map_figure, query_figure
from ugraphemb.plots.interactive import write_map_page

__all__ = [
    "cluster_figure",
    "draw_graph",
    "edit_figure",
    "graph_figure",
    "line_figure",
    "map_figure",
    "new_figure",
    "query_figure",
    "save_figure",
    "write_map_page",
]
