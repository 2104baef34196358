"""Models of each annotator of subjective texts, and where annotators would disagree.

`Project` reads and adds to a project file; `Multilevel`, `SharedHead`, `SeparateHeads` and `ShareRec` are annotator models in scikit-learn's words;
`Encoder` turns texts into embeddings; `Bundle` predicts without its project; `agreement`, `aggregation` and `metrics` take arrays of labels. Every
number is the one that the command `dissensus` gives.
"""

import os as _os

# The tensor library's own threads are in the way of ours: as the command does, before anything of it runs.
_os.environ.setdefault("CANDLE_NUM_THREADS", "1")
del _os

from . import agreement, aggregation, metrics
from ._errors import DissensusError, InputError, InternalError, LockedError, NotFoundError
from ._native import __version__
from ._table import Table
from .bundle import Bundle
from .encoder import Encoder
from .estimators import Multilevel, SeparateHeads, SharedHead, ShareRec
from .project import Project

__all__ = [
    "Bundle",
    "DissensusError",
    "Encoder",
    "InputError",
    "InternalError",
    "LockedError",
    "Multilevel",
    "NotFoundError",
    "Project",
    "SeparateHeads",
    "ShareRec",
    "SharedHead",
    "Table",
    "__version__",
    "agreement",
    "aggregation",
    "metrics",
]
