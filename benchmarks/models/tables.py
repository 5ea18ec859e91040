"""Ten tables of people, on which private models are compared; chosen before any of them was fitted.

Eight have two classes, two a number: incomes, defaults on credit cards, illness, votes, weapons, insurance, deaths,
loans and wages. Each row is one person. Bounds are round numbers that anyone who knows the subject would give, and
labels come from the codebooks. Nothing was tuned on them beyond what the models' theory says in advance.
"""

import pandas

from benchmarks.ends.claims import TARGET, claims, codebook
from benchmarks.sets.described import DescribedTable, from_r, from_uci, merged, n_chosen, table_of
from benchmarks.sets.tables import FLAG, caravan, stops

_CLASSES = {"classes": [False, True]}


def adult():
    """45,222 people in the 1994 census: who earns more than 50,000 dollars?"""
    data = from_uci("adult.csv.zip")
    names = ("workclass", "education", "marital-status", "occupation", "relationship", "race", "sex", "native-country")
    data = data.copy().assign(**{name: merged(data, name) for name in names})
    bounds = {
        "age": (15, 95),
        "fnlwgt": (0, 1_500_000),
        "education-num": (1, 16),
        "capital-gain": (0, 100_000, "log"),
        "capital-loss": (0, 5_000, "log"),
        "hours-per-week": (0, 100),
    }
    return table_of(data, data["salary_>50K"] == 1, bounds, dict.fromkeys(names), **_CLASSES)


def credit():
    """30,000 customers of a bank in Taiwan: who does not pay next month?"""
    data = from_uci("UCI_Credit_Card.csv")
    data = data.assign(**{name: merged(data, name) for name in ("EDUCATION", "MARRIAGE")})
    bounds = {"LIMIT_BAL": (0, 1_000_000, "log"), "SEX": FLAG, "AGE": (20, 80)}
    bounds |= {f"PAY_{month}": (-2, 8) for month in (0, 2, 3, 4, 5, 6)}
    bounds |= {f"BILL_AMT{month}": (-100_000, 1_000_000, "log") for month in range(1, 7)}
    bounds |= {f"PAY_AMT{month}": (0, 1_000_000, "log") for month in range(1, 7)}
    labels = {"EDUCATION": [str(i) for i in range(7)], "MARRIAGE": [str(i) for i in range(4)]}
    return table_of(data, data["default-payment-next-month"] == 1, bounds, labels, **_CLASSES)


def insured():
    """38,490 insured people: who has a chronic disease next year?"""
    data, book = claims(), codebook()
    public = book.features(data.drop(columns=TARGET))
    return table_of(data, data[TARGET] == 1, public["bounds"], public["categories"], **_CLASSES)


def votes():
    """44,932 US voters in 2016: who votes for Trump?"""
    data = from_r("stevedata", "TV16").dropna(subset="votetrump")
    scales = {"famincr": 12, "ideo": 5, "pid7na": 7, "religimp": 4, "churchatd": 6, "prayerfreq": 7}
    bounds = {"age": (18, 100), **dict.fromkeys(("female", "collegeed", "bornagain"), FLAG)}
    bounds |= {name: (1, most) for name, most in scales.items()}
    return table_of(data, data["votetrump"] == 1, bounds, dict.fromkeys(("state", "racef")), **_CLASSES)


def deaths():
    """7,874 people of Olmsted County whose blood was tested: who dies during the study?"""
    data = from_r("survival", "flchain")
    bounds = {
        "age": (50, 105),
        "sample.yr": (1995, 2003),
        "kappa": (0, 25, "log"),
        "lambda": (0, 30, "log"),
        "flc.grp": (1, 10),
        "creatinine": (0, 12, "log"),
        "mgus": FLAG,
    }
    return table_of(data, data["death"] == 1, bounds, {"sex": ["F", "M"]}, **_CLASSES)


def german():
    """1,000 customers of a German bank: who is a bad risk?"""
    data = from_uci("german.csv")
    names = ("status", "credit-history", "purpose", "savings", "employment", "other-debtors", "property")
    names += ("installment-plans", "housing", "skill-level", "telephone", "foreign-worker")
    data = data.assign(**{name: merged(data, name) for name in names})
    bounds = {"month": (0, 72), "credit-amount": (0, 20_000, "log"), "investment-as-income-percentage": (1, 4)}
    bounds |= {"residence-since": (1, 4), "number-of-credits": (1, 4), "people-liable-for": (1, 2)}
    bounds |= dict.fromkeys(("sex", "age"), FLAG)
    return table_of(data, data["credit-label"] == 1, bounds, dict.fromkeys(names), **_CLASSES)


def loans():
    """10,000 loans of an American platform: the interest rate, in percent. Columns that follow from it are left out."""
    data = from_r("openintro", "loans_full_schema")
    money = ("annual_income", "annual_income_joint", "total_credit_limit", "total_credit_utilized", "total_debit_limit")
    few = ("delinq_2y", "num_collections_last_12m", "num_historical_failed_to_pay", "current_accounts_delinq")
    few += ("num_accounts_120d_past_due", "num_accounts_30d_past_due", "tax_liens", "public_record_bankrupt")
    counts = ("inquiries_last_12m", "accounts_opened_24m", "current_installment_accounts", "num_mort_accounts")
    counts += ("total_credit_lines", "open_credit_lines", "num_satisfactory_accounts", "num_active_debit_accounts")
    counts += ("num_total_cc_accounts", "num_open_cc_accounts", "num_cc_carrying_balance")
    months = ("months_since_last_delinq", "months_since_90d_late", "months_since_last_credit_inquiry")
    bounds = {
        **dict.fromkeys(money, (0, 10_000_000, "log")),
        **dict.fromkeys(few, (0, 10)),
        **dict.fromkeys(counts, (0, 100, "log")),
        **dict.fromkeys(months, (0, 120)),
        "total_collection_amount_ever": (0, 1_000_000, "log"),
        "emp_length": (0, 10),
        **dict.fromkeys(("debt_to_income", "debt_to_income_joint"), (0, 100)),
        "earliest_credit_line": (1950, 2018),
        "account_never_delinq_percent": (0, 100),
        "loan_amount": (0, 40_000),
        "term": (36, 60),
    }
    names = ("state", "homeownership", "verified_income", "verification_income_joint", "loan_purpose")
    names += ("issue_month", "application_type", "initial_listing_status", "disbursement_method")
    return table_of(data, data["interest_rate"], bounds, dict.fromkeys(names), target_bounds=(5, 31))


def wages():
    """4,711 young women in the United States: the logarithm of their last known wage."""
    data = from_r("sampleSelection", "nlswork").groupby("idcode").tail(1)
    flags = ("msp", "nev_mar", "collgrad", "not_smsa", "c_city", "south", "union")
    bounds = {"year": (68, 88), "birth_yr": (41, 54), "age": (14, 46), "race": (1, 3), "grade": (0, 18)}
    bounds |= dict.fromkeys(flags, FLAG)
    bounds |= {"wks_ue": (0, 104), "wks_work": (0, 104), "ttl_exp": (0, 30), "tenure": (0, 30), "hours": (0, 100)}
    labels = {"ind_code": range(1, 13), "occ_code": range(1, 14)}
    return table_of(data, data["ln_wage"], bounds, labels, target_bounds=(0, 4))


def simulated(n=3000, seed=0):
    """A small simulated table for tests: two classes, one column that matters."""
    import numpy as np

    rng = np.random.default_rng(seed)
    X = pandas.DataFrame(rng.random((n, 4)), columns=list("abcd"))
    X["e"] = pandas.Categorical(rng.choice(["x", "y"], n), ["x", "y"])
    public = {"bounds": dict.fromkeys("abcd", (0, 1)), "categories": {"e": ["x", "y"]}}
    return DescribedTable(X, rng.random(n) < 0.1 + 0.8 * X["a"].to_numpy(), n_chosen(5), public, _CLASSES)


TABLES = {make.__name__: make for make in (adult, credit, insured, votes, stops, caravan, deaths, german, loans, wages)}
