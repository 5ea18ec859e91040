"""Twelve public tables on which sets of columns are compared, chosen before any result was seen.

None of them is used on another page of this repository, and nothing in the package was tuned on them. Each was chosen
for a characteristic:

- crime: communities of the United States; few rows, a hundred highly redundant shares. Regression.
- caravan: customers of an insurer; coded scales, a contribution beside each number, one customer in sixteen buys.
- ridership: passengers of a railway station; twenty other stations two weeks earlier, nearly copies of one another,
  with weather and game days. Regression.
- churn: customers of a telephone company; each charge is an exact copy of its minutes, one column has 51 labels.
- deliveries: delivery times of a restaurant; counts of 27 dishes, each of which may add a little. Regression.
- hotel: rates of a hotel; labels, most of them rare (agents, companies, countries). Regression.
- covid: test results; identifiers, a made-up name, two columns with half the values missing, few positives.
- stops: a weapon found on people who are stopped; forty checkboxes, most of them rarely ticked.
- school: mathematics in the third year; four years of the same columns, half of them missing. Regression.
- weather: which of five cities; the highest, mean and lowest value of each measurement.
- email: spam; counts that are mostly 0, constants and near-constants.
- nursery: rank of an application, four classes; all combinations of eight labels, so none is redundant.

Bounds are round numbers that someone who knows the subject, but not the file, would give. Labels come from the
codebooks or, without one, from lists that the owner of the table has: a hotel's agents, a hospital's clinics. They are
in alphabetical order, unless an order is known. Rows without a target are left out, and so are columns that follow from
the target or come after it.
"""

import pandas

from benchmarks.sets.described import from_r, from_uci, merged, table_of

FLAG = (0, 1)


def crime():
    """1,993 communities: violent crimes per head. All columns were scaled to [0, 1] when the table was published."""
    data = from_uci("crime.csv")
    names = list(data.columns[data.columns.get_loc("population") : data.columns.get_loc("ViolentCrimesPerPop")])
    data = data.copy().assign(state=merged(data, "state"))
    bounds = dict.fromkeys(names, (0, 1))
    return table_of(data, data["ViolentCrimesPerPop"], bounds, {"state": None}, target_bounds=(0, 1))


def caravan():
    """5,822 customers: who has a caravan policy? Nearly all scales are 0 to 9, by the codebook."""
    data = from_r("ISLR", "Caravan")
    others = {"MAANTHUI": (1, 10), "MGEMOMV": (1, 6), "MGEMLEEF": (1, 6)}  # houses, size of the household, age
    labels = {"MOSTYPE": range(1, 42), "MOSHOOFD": range(1, 11)}
    bounds = {
        name: others.get(name, (0, 12) if name.startswith("A") else (0, 9))
        for name in data.columns.drop(["rownames", "Purchase"], errors="ignore")
        if name not in labels
    }
    return table_of(data, data["Purchase"] == "Yes", bounds, labels, classes=[False, True])


def ridership():
    """5,698 days: thousands of people who enter Clark/Lake station."""
    data = from_r("modeldata", "Chicago")
    names = list(data.columns[data.columns.get_loc("ridership") + 1 : data.columns.get_loc("temp_min")])
    days = pandas.to_datetime(data["date"])
    data["year"] = days.dt.year + days.dt.day_of_year / 366
    teams = ("Blackhawks", "Bulls", "Bears", "WhiteSox", "Cubs")
    bounds = {
        **dict.fromkeys(names, (0, 15)),  # thousands
        "Clark_Lake": (0, 30),
        **dict.fromkeys(("temp_min", "temp", "temp_max"), (-30, 110)),  # degrees Fahrenheit
        "temp_change": (0, 60),
        "dew": (-30, 90),
        "humidity": (0, 100),
        "pressure": (28, 32),  # inches of mercury
        "pressure_change": (0, 4),
        **dict.fromkeys(("wind", "wind_max", "gust", "gust_max"), (0, 100)),  # miles an hour
        "percip": (0, 1),  # inches
        "percip_max": (0, 5),
        **{f"weather_{kind}": (0, 1) for kind in ("rain", "snow", "cloud", "storm")},  # shares of the day
        **{f"{team}_{where}": FLAG for team in teams for where in ("Away", "Home")},
        "year": (2001, 2017),
    }
    return table_of(data, data["ridership"], bounds, {}, target_bounds=(0, 30))


def churn():
    """5,000 customers: who leaves?"""
    data = from_r("modeldata", "mlc_churn")
    bounds = {"account_length": (0, 300), "number_vmail_messages": (0, 60), "number_customer_service_calls": (0, 10)}
    for time, charge in (("day", 100), ("eve", 50), ("night", 25)):
        bounds |= {
            f"total_{time}_minutes": (0, 500),
            f"total_{time}_calls": (0, 200),
            f"total_{time}_charge": (0, charge),
        }
    bounds |= {"total_intl_minutes": (0, 30), "total_intl_calls": (0, 30), "total_intl_charge": (0, 10)}
    labels = dict.fromkeys(("state", "area_code", "international_plan", "voice_mail_plan"))
    return table_of(data, data["churn"] == "yes", bounds, labels, classes=[False, True])


def deliveries():
    """10,012 orders: minutes until the food arrives."""
    data = from_r("modeldata", "deliveries")
    bounds = {"hour": (11, 21), "distance": (0, 15)}  # open from 11 to 21; miles
    bounds |= {name: (0, 5) for name in data if name.startswith("item_")}
    labels = {"day": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]}
    return table_of(data, data["time_to_delivery"], bounds, labels, target_bounds=(10, 60))


def hotel():
    """15,402 bookings: the rate of a room, in euros."""
    data = from_r("modeldata", "hotel_rates")
    bounds = {
        "lead_time": (0, 730, "log"),  # days
        "stays_in_weekend_nights": (0, 20),
        "stays_in_week_nights": (0, 50),
        **dict.fromkeys(("adults", "children", "babies"), (0, 5)),
        **dict.fromkeys(("is_repeated_guest", "near_christmas", "near_new_years"), FLAG),
        "previous_cancellations": (0, 50, "log"),
        "previous_bookings_not_canceled": (0, 50, "log"),
        "booking_changes": (0, 20),
        "days_in_waiting_list": (0, 365, "log"),
        "required_car_parking_spaces": (0, 5),
        "total_of_special_requests": (0, 5),
        "arrival_date_num": (2016, 2018),
        "historical_adr": (0, 200),  # the mean rate a year before
    }
    names = ("meal", "country", "market_segment", "distribution_channel", "reserved_room_type", "assigned_room_type")
    labels = dict.fromkeys((*names, "agent", "company", "customer_type"))
    return table_of(data, data["avg_price_per_room"], bounds, labels, target_bounds=(0, 400))


def covid():
    """15,223 tests at a children's hospital in 2020: which are positive? Invalid ones are left out."""
    data = from_r("medicaldata", "covid_testing")
    data = data[data["result"] != "invalid"]
    bounds = {
        "subject_id": (1, 20_000),
        "pan_day": (0, 120),
        "age": (0, 120),
        "drive_thru_ind": FLAG,
        "orderset": FLAG,
        "col_rec_tat": (0, 1000, "log"),  # hours
        "rec_ver_tat": (0, 1000, "log"),
    }
    names = ("fake_last_name", "gender", "test_id", "clinic_name", "demo_group", "payor_group", "patient_class")
    return table_of(data, data["result"] == "positive", bounds, dict.fromkeys(names), classes=[False, True])


def stops():
    """12,347 people whom the police of New York stopped: who has a weapon?

    Columns that follow from a find are left out: arrest, search, force.
    """
    data = from_uci("sqf.csv").copy()
    labels = ("typeofid", "haircolr", "eyecolor", "build")
    data = data.assign(height=12 * data["ht_feet"] + data["ht_inch"], **{name: merged(data, name) for name in labels})
    after = ("arstmade", "searched", "pf-", "sb-")
    marks = [name for name in data if name.endswith("_Y") and not name.startswith(after)]
    bounds = {
        "perobs": (0, 1000, "log"),  # minutes of observation
        "perstop": (0, 100, "log"),
        "age": (10, 90),
        "height": (48, 84),  # inches
        "weight": (50, 350),  # pounds
        **dict.fromkeys(("sex", "race", "offverb_V", "offshld_S", *marks), FLAG),
    }
    return table_of(data, data["weapon"] == 1, bounds, dict.fromkeys(labels), classes=[False, True])


def school():
    """6,077 pupils of Tennessee: mathematics at the end of the third year. Reading at that time is left out."""
    data = from_r("AER", "STAR").dropna(subset="math3")
    quarters = data["birth"].str.split(" Q", expand=True).astype(float)
    data = data.assign(birth=quarters[0] + (quarters[1] - 1) / 4)
    years = ("k", "1", "2", "3")
    bounds = {"birth": (1977, 1982)}
    bounds |= {f"{name}{year}": (300, 800) for year in years[:-1] for name in ("read", "math")}
    bounds |= {f"experience{year}": (0, 50) for year in years}
    labels = {f"schoolid{year}": range(1, 81) for year in years} | {f"system{year}": range(1, 43) for year in years}
    names = ("star", "lunch", "school", "degree", "ladder", "tethnicity")
    labels |= dict.fromkeys(["gender", "ethnicity", *(f"{name}{year}" for year in years for name in names)])
    return table_of(data, data["math3"], bounds, labels, target_bounds=(400, 800))


def weather():
    """3,655 days: is it Auckland, Beijing, Chicago, Mumbai or San Diego?"""
    data = from_r("mosaicData", "Weather")
    data["precip"] = pandas.to_numeric(data["precip"].replace("T", "0.005"), errors="coerce")  # a trace
    ranges = {
        "temp": (-20, 120),  # degrees Fahrenheit
        "dewpt": (-40, 90),
        "humidity": (0, 100),
        "hg": (28, 32),  # inches of mercury
        "vis": (0, 20),  # miles
        "wind": (0, 100),  # miles an hour
    }
    bounds = {f"{level}_{name}": of for name, of in ranges.items() for level in ("high", "avg", "low")}
    bounds |= {"year": (2016, 2017), "month": (1, 12), "day": (1, 31), "precip": (0, 10, "log")}
    cities = sorted(data["city"].unique())
    return table_of(data, data["city"], bounds, {"events": None}, classes=cities)


def email():
    """3,921 messages of one person in three months of 2012: which are spam?"""
    data = from_r("openintro", "email")
    times = pandas.to_datetime(data["time"], utc=True)
    data["hour"] = times.dt.hour + times.dt.minute / 60
    data["days"] = (times - pandas.Timestamp("2012-01-01", tz="UTC")).dt.days
    flags = ("to_multiple", "from", "sent_email", "format", "re_subj", "exclaim_subj", "urgent_subj")
    counts = ("cc", "image", "attach", "dollar", "inherit", "viagra", "password")
    bounds = {
        **dict.fromkeys(flags, FLAG),
        **dict.fromkeys(counts, (0, 100, "log")),
        "num_char": (0, 1000, "log"),  # thousands
        "line_breaks": (0, 10_000, "log"),
        "exclaim_mess": (0, 10_000, "log"),
        "hour": (0, 24),
        "days": (0, 91),
    }
    labels = {"winner": ["no", "yes"], "number": ["none", "small", "big"]}
    return table_of(data, data["spam"] == 1, bounds, labels, classes=[False, True])


def nursery():
    """12,960 applications to a nursery school: what becomes of them?

    The best rank, with two rows, is merged with the next one. The file's codebook has 0 for four or more children.
    """
    data = from_uci("nursery.csv.zip")
    names = ("parents", "has_nurs", "form", "housing", "finance", "social", "health")
    data = data.assign(**{name: merged(data, name) for name in names})
    y = pandas.Series(merged(data, "class")).replace("recommend", "very_recom")
    return table_of(data, y, {"children": (0, 3)}, dict.fromkeys(names), classes=sorted(y.unique()))


TABLES = {
    make.__name__: make
    for make in (
        *(crime, caravan, ridership, churn, deliveries, hotel),
        *(covid, stops, school, weather, email, nursery),
    )
}
