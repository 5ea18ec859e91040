"""All tables on causal structure: python -m benchmarks.causal.report prints benchmarks/results/causal.md.

They come from the result files; what these lack is measured first, as by each script.
"""

import warnings

from benchmarks.causal import compare, private_pc, random_networks
from benchmarks.output import print_or_write

SECTIONS = {
    "Random networks": (
        "`python -m benchmarks.causal.random_networks --report`, from [causal_random.csv](causal_random.csv): mean "
        "structural Hamming distance ± standard error over ten networks, and in brackets edges missing and extra; "
        "`alpha=0.01` for both.",
        lambda: random_networks.report(random_networks.measured()),
    ),
    "Named networks": (
        "`python -m benchmarks.causal.private_pc`, from [causal_networks.csv](causal_networks.csv): "
        "mean ± standard error of the structural Hamming distance (SHD) and of the F1 score "
        "of the edges, over ten tables (five of child) of 100,000 records, δ = 10⁻⁶, "
        "`alpha=0.01`. The last columns are at the ε for which Priv-PC claims its best results.",
        lambda: private_pc.report(private_pc.measured()),
    ),
    "Beside the published algorithms": (
        "`python -m benchmarks.causal.compare`, from [causal_compare.csv](causal_compare.csv), on other "
        "tables than above: ten of 100,000 records of each network, three of child. First at (1, 10⁻⁶): F1 and SHD ± "
        "standard error. Then at what the published algorithms claim to have spent, with δ = 10⁻³: the claimed ε, and "
        "the SHD of the published algorithm / of `PrivatePC` at no larger an ε, in bold if the former is nearer to the "
        "network.",
        lambda: compare.report(compare.kept()),
    ),
}


def markdown():
    """The whole report."""
    parts = (f"## {title}\n\n{text}\n\n{made()}" for title, (text, made) in SECTIONS.items())
    return "# Causal structure: all results\n\n" + "\n\n".join(parts) + "\n"


def main(argv=None):
    """Print the report, or write it to a file."""
    warnings.simplefilter("ignore")  # about seeds
    print_or_write(__doc__.splitlines()[0], markdown, argv)


if __name__ == "__main__":
    main()
