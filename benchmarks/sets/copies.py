"""Two tables whose best columns are redundant. Other pages used them, so they are not among the twelve.

- census: 45,222 people in the 1994 census ("Adult" of UCI); marital status and relationship are nearly the same.
- credit_cards: 30,000 holders of credit cards in Taiwan, 2005; three kinds of records for each of six months.
"""

from benchmarks.sets.described import from_uci, merged, table_of


def census():
    """Who earns over 50,000 dollars?"""
    data = from_uci("adult.csv.zip")
    bounds = {
        "age": (17, 90),  # the census codes 90 and above as 90
        "fnlwgt": (10_000, 1_500_000, "log"),
        "education-num": (1, 16),
        "capital-gain": (0, 100_000, "log"),
        "capital-loss": (0, 5000, "log"),
        "hours-per-week": (1, 99),
    }
    names = ("workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country")
    X = data[list(bounds)].assign(**{name: merged(data, name) for name in names})
    return table_of(X, data["salary_>50K"], bounds, dict.fromkeys(names), classes=[0, 1])._replace(k=5)


def credit_cards():
    """Who fails to pay next month?"""
    data = from_uci("UCI_Credit_Card.csv")
    months = (0, 2, 3, 4, 5, 6)
    bounds = {
        "LIMIT_BAL": (10_000, 1_000_000, "log"),
        "SEX": (0, 1),
        "AGE": (18, 80),
        **{f"PAY_{month}": (-2, 9) for month in months},  # by the codebook: months of delay, up to 9 and above
        **{f"BILL_AMT{month}": (-100_000, 1_000_000, "log") for month in range(1, 7)},
        **{f"PAY_AMT{month}": (0, 1_000_000, "log") for month in range(1, 7)},
    }
    names = ("EDUCATION", "MARRIAGE")
    X = data[list(bounds)].assign(**{name: merged(data, name) for name in names})
    return table_of(X, data["default-payment-next-month"], bounds, dict.fromkeys(names), classes=[0, 1])


COPIES = {"census": census, "credit_cards": credit_cards}
