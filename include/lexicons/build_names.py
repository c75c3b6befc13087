"""Builds names.csv from published tables of names by race and sex (see SOURCES.md).

Usage: python build_names.py TABLES [OUTPUT]

TABLES is the folder that holds ``census_2020_first_names.parquet`` and ``census_2020.parquet`` (2020
Census names; given names carry shares by sex, family names do not). The same tables give the same bytes.

How a group's names are chosen:

1. *Eligible* is a name inside the popularity band and the length band, whose share of bearers of the stated
   race is at least the group's floor, and, for a given name, whose share of the stated sex is at least
   ``SEX_FLOOR``. Floors differ between races because the data do: few common family names belong mostly to
   Black Americans. Each is as high as leaves enough names.
2. Names that say something besides race and sex are taken out by hand, with the reason (``SET_ASIDE``).
   Names of the Asian group come from two listed traditions, so that a given name and a family name agree.
3. Of what is left, those nearest the target popularity (on a log scale) are taken, so that groups differ
   in popularity as little as the tables allow. A near-copy of a name already taken (one letter
   added, dropped or changed) is passed over.
4. Within a tradition, given names and family names are each sorted by share and paired in that order. Both
   sexes of a race share their family names, so a contrast between the sexes is one of given names alone.
5. Rows of a group are in falling order of first share x last share: "the first k" is the k most typical.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pandas as pd

PER_GROUP = 30
SEX_FLOOR = 95.0
SHARE_COLUMN = {
    "White": "pctwhite",
    "Black": "pctblack",
    "Asian": "pctapi",
    "Hispanic": "pcthispanic",
}
FIRST_FLOOR = {"White": 85.0, "Black": 75.0, "Asian": 90.0, "Hispanic": 95.0}
LAST_FLOOR = {"White": 91.0, "Black": 64.0, "Asian": 90.0, "Hispanic": 93.0}
FIRST_BAND, FIRST_LENGTH = (3_000, 75_000), (4, 9)
# Given names that mostly White people bear are common or odd: near 10,000 bearers they are respellings.
FIRST_TARGET = {"White": 25_000, "Black": 10_000, "Asian": 10_000, "Hispanic": 10_000}
LAST_BAND, LAST_TARGET, LAST_LENGTH = (5_000, 200_000), 15_000, (4, 10)
SOURCE = "us-census-2020-names"

# (tradition, how many rows): given names by sex, family names.
ASIAN_TRADITIONS = {
    "South Asian": (
        26,
        {
            "female": "Neha Divya Priyanka Pooja Shreya Aditi Seema Shivani Archana Radhika Shilpa "
            "Deepa Manisha Sneha Nidhi Anusha Swati Shruti Rekha Aparna Sandhya Varsha Kalpana Shalini Veena "
            "Shweta Pallavi Sanjana Sudha Sonal Anuradha",
            "male": "Amit Arjun Rahul Aditya Sanjay Rajesh Nikhil Anil Ramesh Sunil Arun Rohit Suresh Anand "
            "Ashish Vivek Deepak Abhishek Pranav Vishal Ashok Siddharth Varun Rakesh Manish Dhruv Gaurav "
            "Vikram Karthik Srinivas Mahesh Sachin Manoj Dinesh Akshay Prakash Nitin Vinay Praveen Satish "
            "Vinod Pradeep Ankit Abhinav Prashant Arvind Kunal",
        },
        (
            "Sharma Gupta Desai Mehta Joshi Verma Agarwal Parikh Mishra Arora Patil Kulkarni Bhatt Sinha "
            "Srinivasan Pandey Bhatia Srivastava Ghosh Acharya Chauhan Krishnan Kapoor Trivedi Sheth Shukla "
            "Chaudhary Chowdhury Nair Menon"
        ),
    ),
    "Vietnamese": (
        4,
        {
            "female": "Trang Tuyet Uyen Nguyet",
            "male": "Tuan Quang Cuong Trung Khoa Quoc",
        },
        "Huynh Truong Hoang Duong Dinh Trinh Luong Vuong Phan Pham Dang",
    ),
}

SET_ASIDE = {
    "points to a country or a language more than to a race": (
        "Abdi Abdullahi Aden Agnieszka Aleksandr Alexandre Alla Aminata Andrzej Antoine Artur "
        "Augustin Baptiste Batiste Cadet Concetta Deluca Diallo Dmitry Edmond Ekaterina Etienne "
        "Fatoumata Francois Frantz Galina Giuseppe Haile Hawa Helga Horvath Igor Ilona Ilya Inna "
        "Irena Irina Iryna Jean Jeanlouis Kamara Katarzyna Kowalski Krystyna Krzysztof Kwame Leonid "
        "Louis Ludmila Lyudmila Mahmoud Mamadou Marek Mariama Maxim Mensah Nada Nagy Nataliya Nikolay "
        "Oksana Oleg Olena Pappas Pasquale Pierre Piotr Renate Salvatore Sergey Svetlana Szabo Tomasz "
        "Toussaint Viktor Vincenzo Vito Yelena Youssef Yuriy"
    ),
    "points to a religion": (
        "Adler Avraham Berman Bernstein Chaim Chana Chaya Cohen Epstein Feldman Friedman Goldberg "
        "Goldstein Greenberg Hostetler Kaplan Katz Kaufman Khadijah Lerner Levin Margarito Menachem "
        "Mohamed Monserrat Mordechai Moshe Muhammad Rivka Rosen Rosenberg Shapiro Shlomo Shmuel "
        "Siegel Silverman Stein Stern Weinberg Weinstein Yehuda Yoder Yusuf"
    ),
    "is also an everyday word, a place or a title": (
        "Alexis Archie Battle Boyd Brooks Capers Case Clay Colt Cooks Dixie Dulce Essence Fink Fisher "
        "Flor Funk Gannon Gayle Ginger Grecia Grimm Gunner Heller Holden Ivory Kimber Knox Kraft "
        "Larry Laurel Lucero Malaysia Mandi Nava Painter Piper Porter Queen Reed Roosevelt Rosas "
        "Rusty Segundo Smalls Walker Ward"
    ),
    "is a short form or a nickname": (
        "Barb Becca Bret Cari Carolann Deann Doug Fredy Jeri Joellen Joseluis Judi Kathi Kathie Kaye "
        "Lauri Lorri Lorrie Louann Luann Luanne Lupita Marybeth Maryellen Maryjo Mitch Patti Russ "
        "Ruthann Sanjuana Scot Thad Toya Tripp Zach"
    ),
    "was given mostly to people now retired": (
        "Alphonso Aretha Bette Burton Delois Doretha Doyle Eldon Enedina Glenna Herlinda Hipolito "
        "Hortencia Isidro Jayne Lowell Lyle Margery Marilee Marlys Oralia Pearlie Porfirio Randal "
        "Rosanne Suzan Tomasa Zoila"
    ),
    "was given mostly to people now children": (
        "Aniya Beckett Brantley Brinley Brodie Brynlee Colten Damarion Davion Denisha Easton Emersyn "
        "Finn Finnegan Gage Galilea Hadley Iker Itzel Jakayla Jaliyah Jamarion Jamir Jamya Janiya "
        "Janiyah Javion Jayceon Jimena Kimora Kinley Kolton Lainey Laney Macey Maeve Mckenna Mekhi "
        "Ryker Samiyah Saniyah Sarahi Savion Shaniya Taliyah Taniya Tenley Waylon Weston Ximena Yahir "
        "Yareli Yaretzi Zaniyah Zaria Zariyah"
    ),
    "is used in mockery": "Chiquita Shaniqua",
    "is a respelling of a commoner name": (
        "Abbey Anahi Antwan Aracely Catharine Cathryn Cedrick Christi Coleen Conner Darrius Deanne "
        "Eboni Estevan Fransisco Garret Holli Isai Iyana Jamaal Jodi Karrie Kerri Kerrie Kraig Lacie "
        "Lakesha Lakeshia Lakisha Latanya Latonia Latosha Lissette Loyd Magana Marquise Misti Mollie "
        "Rasheed Sharyn Shelli Sorenson Staci Tameka Tawana Trever Tyron Yesica Yessenia Yessica"
    ),
}

PROPER_FORM = {
    "Mccray": "McCray", "Mckoy": "McKoy", "Mclaurin": "McLaurin", "Mccants": "McCants",
    "Mcclinton": "McClinton", "Mcgrath": "McGrath", "Mcnamara": "McNamara", "Mcdonough": "McDonough",
    "Mckenna": "McKenna", "Mcnally": "McNally",
    "Orourke": "O'Rourke", "Oconnell": "O'Connell", "Odonnell": "O'Donnell", "Oleary": "O'Leary",
}  # fmt: skip


def near_copy(a: str, b: str) -> bool:
    """Whether two names differ by at most one added, dropped or changed letter."""
    if abs(len(a) - len(b)) > 1:
        return False
    shorter, longer = sorted((a, b), key=len)
    i = next(
        (i for i, (x, y) in enumerate(zip(shorter, longer, strict=False)) if x != y),
        len(shorter),
    )
    return longer[i + 1 :] == shorter[i + (len(shorter) == len(longer)) :]


def eligible(
    table: pd.DataFrame,
    share: str,
    floor: float,
    band: tuple[int, int],
    length: tuple[int, int],
    target: int,
) -> pd.DataFrame:
    """Names above the floor and inside the bands, nearest the target popularity first."""
    aside = {name for names in SET_ASIDE.values() for name in names.split()}
    kept = table[
        table["count"].between(*band)
        & (table[share] >= floor)
        & table["name"].str.len().between(*length)
        & ~table["name"].isin(aside)
    ]
    distance = kept["count"].map(lambda n: abs(math.log(n / target)))
    return kept.assign(distance=distance, share=kept[share]).sort_values(["distance", "name"])


def take(candidates: pd.DataFrame, k: int, taken: list[str]) -> pd.DataFrame:
    """The first k names that are no near-copy of one taken, by falling share; extends ``taken``."""
    rows = []
    for row in candidates.to_dict("records"):
        if len(rows) < k and not any(near_copy(row["name"], other) for other in taken):
            rows.append(row)
            taken.append(row["name"])
    if len(rows) < k:
        raise SystemExit(f"only {len(rows)} of {k} names are eligible, down to {candidates['name'].tolist()}")
    return pd.DataFrame(rows).sort_values(["share", "name"], ascending=[False, True], ignore_index=True)


def build(tables: Path) -> pd.DataFrame:
    """The lexicon: one row a persona, groups in a fixed order, best first."""
    first_table = pd.read_parquet(tables / "census_2020_first_names.parquet")
    last_table = pd.read_parquet(tables / "census_2020.parquet")
    for table in (first_table, last_table):
        table["name"] = table["name"].str.title()
    taken_first: list[str] = []
    parts = []
    for race, share in SHARE_COLUMN.items():
        traditions = ASIAN_TRADITIONS if race == "Asian" else {"": (PER_GROUP, {}, "")}
        lasts = eligible(last_table, share, LAST_FLOOR[race], LAST_BAND, LAST_LENGTH, LAST_TARGET)
        taken_last: list[str] = []
        for rows, firsts_listed, lasts_listed in traditions.values():
            family = take(_listed(lasts, lasts_listed), rows, taken_last)
            for sex in ("female", "male"):
                by_sex = first_table[first_table[f"pct{sex}"] >= SEX_FLOOR]
                firsts = eligible(
                    by_sex,
                    share,
                    FIRST_FLOOR[race],
                    FIRST_BAND,
                    FIRST_LENGTH,
                    FIRST_TARGET[race],
                )
                given = take(_listed(firsts, firsts_listed.get(sex, "")), rows, taken_first)
                parts.append(
                    pd.DataFrame(
                        {
                            "first_name": given["name"],
                            "last_name": family["name"].replace(PROPER_FORM),
                            "sex": sex,
                            "race": race,
                            "first_name_share": (given["share"] / 100).round(4),
                            "last_name_share": (family["share"] / 100).round(4),
                            "first_name_bearers": given["count"],
                            "last_name_bearers": family["count"],
                            "source": SOURCE,
                        }
                    )
                )
    names = pd.concat(parts, ignore_index=True)
    names["order"] = names["race"].map({race: i for i, race in enumerate(SHARE_COLUMN)})
    names["quality"] = names["first_name_share"] * names["last_name_share"]
    names = names.sort_values(
        ["sex", "order", "quality", "first_name"],
        ascending=[True, True, False, True],
        ignore_index=True,
    )
    return names.drop(columns=["order", "quality"])


def _listed(candidates: pd.DataFrame, listed: str) -> pd.DataFrame:
    return candidates[candidates["name"].isin(listed.split())] if listed else candidates


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        raise SystemExit(__doc__)
    output = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).with_name("names.csv")
    build(Path(sys.argv[1])).to_csv(output, index=False, lineterminator="\n")
