"""What comes in: pandas, Arrow and whatever offers its C stream; labels aligned; what is ambiguous is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import audit_lib
from audit_lib.errors import AuditError, ColumnTypeError, InputError, MissingColumnError
from tests.dataframe.people import people

KEYWORDS: dict[str, Any] = {"decision": "hired", "groups": "sex", "reference": "male"}


class Stream:
    """A library of its own that offers Arrow's C stream, and nothing else."""

    def __init__(self, table: pa.Table | pa.ChunkedArray) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self._table)


def told(found: audit_lib.dataframe.FrameResult) -> Any:
    return found.metrics.as_dict()


def test_every_kind_of_table_gives_the_same_numbers() -> None:
    rows = people()
    arrow = pa.Table.from_pandas(rows, preserve_index=False)
    kinds = [rows, arrow, Stream(arrow), {name: rows[name].tolist() for name in ("hired", "sex")}]
    kinds += [rows.astype({"hired": "float64"}), rows.assign(sex=rows["sex"].astype("category"))]
    kinds += [{"hired": Stream(arrow["hired"]), "sex": rows["sex"].to_numpy()}]
    words = pa.array(["male", "female"]).cast(pa.string_view())  # as Polars codes its categories
    codes = pa.array(rows["sex"].map({"male": 0, "female": 1}), pa.uint32(), from_pandas=True)
    kinds += [
        {"hired": arrow["hired"], "sex": pa.chunked_array([pa.DictionaryArray.from_arrays(codes, words)])}
    ]
    first, *others = (told(audit_lib.frame(kind, **KEYWORDS)) for kind in kinds)
    for found in others:
        assert found == first


def test_a_series_goes_into_the_order_of_the_table() -> None:
    rows = people()
    shuffled = rows.sample(frac=1, random_state=1)
    whole = audit_lib.frame(shuffled, **KEYWORDS)
    for hired in (rows["hired"], shuffled["hired"], rows["hired"].iloc[::-1]):
        found = audit_lib.frame(shuffled, **KEYWORDS | {"decision": hired})
        assert told(found) == told(whole)
    found = audit_lib.frame(shuffled, decision="hired", groups=rows[["sex"]], reference="male")
    assert told(found) == told(whole)


ROWS = people(40)
SORTED = ROWS.sort_values("score")
TWICE = pd.concat([ROWS, ROWS])


@pytest.mark.parametrize(
    ("table", "keywords", "words"),
    [
        (SORTED, {"decision": ROWS["hired"].to_numpy()}, "an array has no labels"),
        (SORTED, {"decision": ROWS["hired"].iloc[1:]}, "lacks 1 of the 40 rows of the table"),
        (TWICE, {"decision": TWICE["hired"].sample(frac=1, random_state=0)}, "labels come twice"),
        (pa.Table.from_pandas(ROWS), {"decision": SORTED["hired"]}, "the table's rows have none"),
        (ROWS, {"decision": [True, False]}, "2 values for a table of 40 rows"),
        (ROWS, {"decision": ROWS[["hired", "able"]]}, "a table of 2 columns where one is meant"),
        (ROWS, {"decision": np.zeros((40, 2))}, "shape (40, 2)"),
        (ROWS, {"decision": "hird"}, "no column is named 'hird'; did you mean 'hired'?"),
        (ROWS, {"decision": "job"}, "expected true and false"),
        (ROWS, {"decision": "score"}, "neither 0 nor 1"),
        (ROWS, {"score": "job"}, "score: expected numbers"),
        (ROWS, {"score": np.full(40, np.inf)}, "40 values are infinite"),
        (people(480), {"groups": "person"}, "is it an id"),
        (ROWS.assign(sex="female"), {}, "only 'female'"),
        (ROWS.assign(sex=" "), {}, "labels are blank"),
        (ROWS, {"clusters": ROWS["sex"]}, "rows have none"),
        (ROWS, {"rounds": "round", "clusters": "person"}, "give one of the two"),
        (ROWS, {"decision": {"rule": "top_k", "k": 1}}, "name their column"),
        (ROWS, {"decision": {"rule": "top_k", "k": 1}, "score": "score"}, "name the column `rounds`"),
        (ROWS, {"decision": None}, "nothing to compare"),
        (ROWS, {"weights": ROWS["score"].abs().fillna(1.0)}, "these are sampling weights"),
        (ROWS, {"weights": np.full(40, -1)}, "40 are negative"),
        (ROWS, {"weights": np.zeros(40)}, "nobody is left"),
        (ROWS, {"reference": "Male"}, "did you mean 'male'"),
        (ROWS, {"reference": {"gender": "male"}}, "'gender' is no attribute"),
        (ROWS, {"metrics": ["rabby"]}, "did you mean 'rabbi'"),
        (ROWS, {"measure": {"levl": 0.9}}, "did you mean 'level'"),
        (ROWS, {"by": "round_id"}, "name of a column of ours"),
        (ROWS.iloc[:0], {}, "the table has no row"),
        ([1, 2], {}, "got list"),
    ],
)  # fmt: skip
def test_what_is_ambiguous_or_wrong_is_refused(table: Any, keywords: dict[str, Any], words: str) -> None:
    with pytest.raises(AuditError) as raised:
        audit_lib.frame(table, **KEYWORDS | keywords)
    assert words in str(raised.value)


def test_an_unknown_keyword_is_named() -> None:
    with pytest.raises(TypeError, match="'refrence'; did you mean 'reference'"):
        audit_lib.frame(ROWS, **KEYWORDS, refrence="male")  # type: ignore[call-arg]


def test_masks_are_the_groups_of_one_attribute() -> None:
    rows = people()
    masks = pd.DataFrame({"women": rows["sex"] == "female", "men": rows["sex"] == "male"})
    found = [
        audit_lib.frame(rows, decision="hired", groups=groups, reference="men")
        for groups in (masks, dict(masks), {name: masks[name].to_numpy() for name in masks})
    ]
    words = audit_lib.frame(rows, decision="hired", groups="sex", reference="male")
    for one in found:
        assert one.called == {"group": "group"}
        assert one.metrics.rows == words.metrics.rows, "who is in neither mask is of unknown group"
        assert [(e.value, e.interval) for e in one.gaps] == [(e.value, e.interval) for e in words.gaps]


def test_masks_that_overlap_are_refused_unless_also_says_so() -> None:
    rows = people()
    masks = {"women": rows["sex"] == "female", "black": rows["race"] == "Black"}
    with pytest.raises(
        InputError, match="40 rows are in 'women' and in 'black'; for groups that overlap add also"
    ):
        audit_lib.frame(rows, decision="hired", groups=masks)
    found = audit_lib.frame(
        rows, decision="hired", groups=masks, also=[], reference={"women": "no", "black": "no"}
    )
    alone = {tuple(one.group.items()): one.value for one in found.gaps if len(one.group) == 1}
    for name, mask in masks.items():
        gap = rows["hired"][mask].mean() - rows["hired"][~mask].mean()
        assert alone[(name, "yes"),] == pytest.approx(gap, abs=1e-12)


def test_boolean_columns_by_name_could_be_either() -> None:
    rows = people().assign(woman=lambda d: d["sex"] == "female", man=lambda d: d["sex"] == "male")
    with pytest.raises(InputError, match="each could be an attribute, or all of them the groups of one"):
        audit_lib.frame(rows, decision="hired", groups=["woman", "man"])
    assert len(audit_lib.frame(rows, decision="hired", groups=["woman", "man"], also=[]).called) == 2
    assert audit_lib.frame(rows, decision="hired", groups="woman").spec.groups.attributes == {
        "woman": ["no", "yes"]
    }


def test_columns_by_any_name() -> None:
    rows = people().rename(columns={"sex": "Sex (as given)", "hired": "Hired?"})
    found = audit_lib.frame(
        rows, decision="Hired?", groups="Sex (as given)", reference={"Sex (as given)": "male"}
    )
    assert set(found.to_frame()["attribute"]) == {"Sex (as given)"}
    with pytest.raises(MissingColumnError, match="2 columns are named 'Hired"):
        audit_lib.frame(pd.concat([rows, rows[["Hired?"]]], axis=1), decision="Hired?", groups="race")
    with pytest.raises(InputError, match="are both 'race'"):
        audit_lib.frame(rows.assign(Race=rows["race"]), decision="Hired?", groups=["race", "Race"])


def test_levels_keep_the_order_of_an_ordered_categorical() -> None:
    rows = people()
    rows["sex"] = pd.Categorical(rows["sex"], ["male", "other", "female"], ordered=True)
    found = audit_lib.frame(rows, **KEYWORDS)
    assert found.spec.groups.attributes == {"sex": ["male", "female"]}


@pytest.mark.parametrize("name", ["model", "position", "qualified", "round_id", "Outcome", "application_id"])
def test_an_attribute_may_have_the_name_of_a_column_of_ours(name: str) -> None:
    rows = people().rename(columns={"sex": name})
    found = audit_lib.frame(
        rows, decision="hired", groups=name, reference="male", clusters="person", rounds=None
    )
    expected = audit_lib.frame(people(), **KEYWORDS, clusters="person")
    assert [one.value for one in found.gaps] == [one.value for one in expected.gaps]
    assert [one.interval for one in found.ratios] == [one.interval for one in expected.ratios]
    assert set(found.to_frame()["attribute"]) == {name}


def test_a_split_may_not_have_the_name_of_an_attribute() -> None:
    rows = people().rename(columns={"sex": "Sex"}).assign(sex="any")
    with pytest.raises(InputError, match="or of an attribute; rename yours"):
        audit_lib.frame(rows, decision="hired", groups="Sex", by="sex")


def test_values_of_several_types_are_refused() -> None:
    with pytest.raises(ColumnTypeError, match="several types"):
        audit_lib.frame({"sex": ["f", 1, "m"], "hired": [1, 0, 1]}, decision="hired", groups="sex")
