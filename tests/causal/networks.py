"""Three benchmark networks of the literature on causal discovery: their arrows, which are public.

From the Bayesian network repository (https://www.bnlearn.com/bnrepository).
"""

import numpy as np

# Each column with parents, followed by its parents.
_PARENTS = {
    "asia": """
        bronc < smoke; dysp < bronc either; either < lung tub; lung < smoke; tub < asia; xray < either
    """,
    "sachs": """
        Akt < Erk PKA; Erk < Mek PKA; Jnk < PKA PKC; Mek < PKA PKC Raf; P38 < PKA PKC; PIP2 < PIP3 Plcg; PIP3 <
        Plcg; PKA < PKC; Raf < PKA PKC
    """,
    "child": """
        Age < Disease Sick; CO2 < LungParench; CO2Report < CO2; CardiacMixing < Disease; ChestXray < LungParench
        LungFlow; Disease < BirthAsphyxia; DuctFlow < Disease; Grunting < LungParench Sick; GruntingReport <
        Grunting; HypDistrib < DuctFlow CardiacMixing; HypoxiaInO2 < CardiacMixing LungParench; LVH < Disease;
        LVHreport < LVH; LowerBodyO2 < HypDistrib HypoxiaInO2; LungFlow < Disease; LungParench < Disease; RUQO2
        < HypoxiaInO2; Sick < Disease; XrayReport < ChestXray
    """,
}


def _network(text):
    """Column names in alphabetical order, and the marks of the arrows between them."""
    arrows = [
        (parent, child)
        for child, parents in (part.split(" < ") for part in " ".join(text.split()).split("; "))
        for parent in parents.split()
    ]
    names = sorted({name for arrow in arrows for name in arrow})
    dag = np.zeros((len(names), len(names)), dtype=bool)
    for parent, child in arrows:
        dag[names.index(parent), names.index(child)] = True
    return names, dag


NETWORKS = {name: _network(text) for name, text in _PARENTS.items()}
