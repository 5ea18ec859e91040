"""Ten tables on which the default criterion is reported, chosen by this rule before any result on them was seen.

Of the tables of R packages with 1,500 to 60,000 rows and 9 to 70 columns that no other file of this repository names,
in alphabetical order of package and table: those whose rows are people, households, answers or school districts, whose
title names what was measured, at most two of a package, and at least four with columns that nearly repeat others
(squares, dummies of a column that is there, logarithms, the year before). The target is what the title names, or the
column that the package's manual models. Columns that restate the target, come after it or number the rows are left out.
"""

from benchmarks.sets.other_tables import described_from_r

_OF_R = {
    "doctors": ("AER", "DoctorVisits", "visits", []),
    "contacts": ("COUNT", "rwm5yr", "docvis", ["id", "hospvis"]),
    "wives": ("Ecdat", "HI", "whrswk", ["wght"]),
    "workers": ("Ecdat", "Workinghours", "hours", []),
    "answers": ("lme4", "VerbAgg", "r2", ["resp", "id"]),
    "training": ("openintro", "yrbss", "strength_training_7d", []),
    "tumours": ("survival", "rotterdam", "death", ["pid", "rtime", "recur", "dtime"]),
    "couples": ("wooldridge", "cps91", "lwage", ["hrwage", "earns", "inlf"]),
    "mothers": ("wooldridge", "labsup", "hours", ["weeks", "worked", "labinc"]),
    "districts": ("wooldridge", "mathpnl", "math4", ["cmath4", "math7"]),
}
KEPT_BACK = {name: lambda given=given: described_from_r(*given) for name, given in _OF_R.items()}
