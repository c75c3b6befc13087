"""Invented names, and the names of the categories."""

from __future__ import annotations

# in the order of the rule; keys are those of the rows
RACE_KEYS = ("hisp", "white", "black", "nhpi", "asian", "aian", "two")
RACES = {
    "rule": {
        "hisp": "Hispanic or Latino",
        "white": "White (Not Hispanic or Latino)",
        "black": "Black or African American (Not Hispanic or Latino)",
        "nhpi": "Native Hawaiian or Pacific Islander (Not Hispanic or Latino)",
        "asian": "Asian (Not Hispanic or Latino)",
        "aian": "Native American or Alaska Native (Not Hispanic or Latino)",
        "two": "Two or More Races (Not Hispanic or Latino)",
    },
    "slash": {
        "hisp": "Hispanic/Latino",
        "white": "White",
        "black": "Black/African American",
        "nhpi": "Native Hawaiian/Pacific Islander",
        "asian": "Asian",
        "aian": "American Indian/Alaska Native",
        "two": "Two or more races",
    },
    "plain": {
        "hisp": "Hispanic or Latino",
        "white": "White",
        "black": "Black or African American",
        "nhpi": "Native Hawaiian or Other Pacific Islander",
        "asian": "Asian",
        "aian": "American Indian or Alaska Native",
        "two": "Two or More Races",
    },
    "amp": {
        "hisp": "Hispanic or Latino",
        "white": "White",
        "black": "Black or African American",
        "nhpi": "Native Hawaiian or Pacific Islander",
        "asian": "Asian",
        "aian": "Native American or Alaska Native",
        "two": "Two or More Races",
    },
}
SEXES = {
    "mf": {
        "m": "Male",
        "f": "Female",
    },
    "mw": {
        "m": "Men",
        "f": "Women",
    },
}
EMPLOYERS = (
    "Brightwater Health",
    "Corliss & Daughters",
    "Meridian Freight Lines",
    "Old Harbor Bank",
    "Tessel Apparel",
    "Northgate Grocers",
    "Pell Street Media",
    "Ostrander Insurance Group",
    "Fairmont Civic Utilities",
    "Quillan Hotels",
    "Lyric Telecom",
    "Sable Point Capital",
    "Garrison Logistics",
    "Evergreen Home Care",
    "Hudson Row Publishing",
    "Palisade Energy",
    "Juniper Lane Restaurants",
    "Vantage Rail Services",
    "Morrow Pharmaceuticals",
    "Calder University Hospital",
    "Stillwell Engineering",
    "Anchor & Vine Hospitality",
    "Beacon Tutoring Co.",
    "Redfern Retail Group",
    "Union Parcel Network",
    "Copperfield Legal Services",
    "Westbrook Title",
    "Ardent Staffing Partners",
    "Larkspur Cosmetics",
    "Kestrel Airways",
)
# a vendor and its tool
VENDORS = (
    ("Talentora, Inc.", "Talentora Match"),
    ("HireLoom", "LoomRank"),
    ("Sift People Analytics", "SiftScreen"),
    ("Candorly Inc.", "Candorly Fit Score"),
    ("Peakset Software", "Peakset Assess"),
    ("Roleworks AI", "Roleworks Shortlist"),
    ("Jobvane Technologies", "Vane Recommender"),
    ("Interlude Video, Inc.", "Interlude Interview Score"),
    ("Kinspan", "Kinspan Resume Ranker"),
    ("Optera Talent", "Optera PreScreen"),
    ("Aptiform LLC", "Aptiform Profile"),
    ("Gridhire Corp.", "Gridhire Rank"),
)
AUDITORS = (
    "Halvorsen Audit Partners LLC",
    "Tidewater Statistical Consulting",
    "Brook & Lindqvist LLP",
    "Clearmeasure Advisory",
    "Oakes Algorithmic Assurance",
    "DeVries Labor Economics",
    "Parallax Assurance Group",
    "Nine Elms Analytics",
    "Whitcomb Psychometrics",
    "Sandhurst Data Review, PLLC",
    "Everly Compliance Research",
    "Fulcrum Employment Statistics",
)
POSITIONS = (
    "customer service representatives",
    "store associates",
    "registered nurses and care aides",
    "software engineers",
    "financial analysts",
    "warehouse operators",
    "claims adjusters",
    "sales development roles",
    "early-career analysts",
    "administrative positions",
    "drivers and dispatchers",
    "hourly restaurant crew",
)
JOB_FAMILIES = (
    "Customer Support",
    "Software Engineering",
    "Retail Operations",
    "Corporate & Finance",
    "Warehouse & Distribution",
    "Nursing",
    "Sales",
    "Field Technicians",
)
