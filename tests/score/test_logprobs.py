"""What the shown tokens say of labels, and when too much is not shown."""

from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_lib.score.reading.logprobs import BELOW, SEVERAL, TOLERANCE, read_top

YES_NO = ["No", "Yes"]


def shown(**tokens: float) -> list[dict[str, object]]:
    """Return tokens of these probabilities; an underscore is a space."""
    return [{"token": t.replace("_", " "), "logprob": log(p)} for t, p in tokens.items()]


def test_labels_are_read_as_written_and_after_a_space() -> None:
    read = read_top(shown(_Yes=0.5, Yes=0.2, _No=0.2, No=0.1), YES_NO)
    assert read == (pytest.approx((0.3, 0.7)), None)


@pytest.mark.parametrize("sign", ["▁", "Ġ", " "])
def test_a_vocabulary_s_own_sign_of_a_space_is_a_space(sign: str) -> None:
    top = [{"token": f"{sign}Yes", "logprob": log(0.6)}, {"token": f"{sign}No", "logprob": log(0.3994)}]
    assert read_top(top, YES_NO) == (pytest.approx((0.3994, 0.6)), None)


def test_a_model_that_answers_as_written_is_read_as_the_local_engine_reads_it() -> None:
    assert read_top(shown(_Yes=0.5, _No=0.3, yes=0.15, no=0.0499), YES_NO) == (
        pytest.approx((0.3, 0.5)),
        None,
    )


def test_a_model_that_answers_in_other_case_is_read_in_any() -> None:
    read = read_top(shown(yes=0.5, _YES=0.1, _No=0.2, no=0.1999), YES_NO)
    assert read == (pytest.approx((0.3999, 0.6)), None)


def test_one_letter_in_other_case_is_another_word() -> None:
    assert read_top(shown(A=0.5, B=0.3, a=0.1999), ["A", "B"])[0] == pytest.approx((0.5, 0.3))


def test_a_label_that_may_have_next_to_nothing_counts_as_none() -> None:
    # "No", " No" and " Yes" have 0.001 at most, each
    assert read_top(shown(Yes=0.95, Maybe=0.001), YES_NO) == (pytest.approx((0.0, 0.95)), None)
    # the least token shown has more, but hardly anything is left for all others
    assert read_top(shown(Yes=0.9, Maybe=0.095), YES_NO) == (pytest.approx((0.0, 0.9)), None)
    # so many labels may have together what one may not
    assert read_top(shown(Yes=0.9, Maybe=0.003), YES_NO)[1] is None
    assert read_top(shown(Yes=0.9, Maybe=0.003), [*YES_NO, "Both"])[1] is not None


def test_labels_that_may_have_more_are_marked() -> None:
    shares, detail = read_top(shown(Yes=0.5, Maybe=0.1, Perhaps=0.1), YES_NO)
    assert shares == pytest.approx((0, 0.5)) and detail is not None and detail.startswith(BELOW)
    assert (
        "3 of 4 spellings of labels are not among the 3 tokens shown, so that a label's share may be off by 0.29"
        in detail
    )


def test_a_spelling_that_is_not_shown_may_have_as_much_as_the_least_token_though_the_other_is_shown() -> None:
    shares, detail = read_top(shown(Yes=0.45, No=0.3, Based=0.1, I=0.05, _Yes=0.04), YES_NO)
    assert shares == pytest.approx((0.3, 0.49))
    assert detail is not None and detail.startswith(f"{BELOW}: 1 of 4 spellings")
    # the least of twenty tokens of a real model is far less, and nothing is said
    assert read_top(shown(Yes=0.45, No=0.3, Based=0.1, I=0.05, _Yes=0.002), YES_NO)[1] is None


def test_what_is_not_shown_may_decide_which_label_is_the_first() -> None:
    assert read_top(shown(A=0.30, B=0.29, x=0.05), ["A", "B"])[0] is None
    assert read_top(shown(A=0.40, B=0.29, x=0.05), ["A", "B"])[0] == pytest.approx((0.4, 0.29))


def test_rounded_logarithms_are_no_error_and_add_up_to_one() -> None:
    top = [{"token": "Yes", "logprob": -0.0}, {"token": "No", "logprob": -10.1}]
    shares, detail = read_top(top, YES_NO)
    assert shares is not None and detail is None
    assert sum(shares) <= 1 and shares[0] == pytest.approx(4.1e-5, rel=0.01)
    with pytest.raises(ValueError, match="more than all"):
        read_top(shown(Yes=0.9, No=0.11), YES_NO)


def test_a_beginning_of_a_hidden_label_counts_by_its_probability() -> None:
    assert read_top(shown(Yes=0.999, N=0.0005), YES_NO) == (pytest.approx((0.0, 0.999)), None)
    assert read_top(shown(Yes=0.9, N=0.09, x=0.001), YES_NO) == (None, SEVERAL)
    # where the label itself is shown, its beginning is another word
    assert read_top(shown(Yes=0.5, No=0.4, N=0.0999, x=1e-6), YES_NO) == (pytest.approx((0.4, 0.5)), None)


def test_a_space_may_begin_any_label_that_is_not_shown_after_one() -> None:
    assert read_top(shown(_=0.9, **{"1": 0.05, "2": 0.04}), ["1", "2"]) == (None, SEVERAL)
    assert read_top(shown(_=0.1, _Yes=0.5, _No=0.4), YES_NO)[1] is None


def test_no_label_at_all_has_no_mass() -> None:
    assert read_top(shown(Maybe=0.9), YES_NO) == ((0.0, 0.0), None)


@given(st.lists(st.floats(0.001, 1), min_size=4, max_size=40), st.integers(1, 39))
def test_what_is_read_is_near_what_all_tokens_would_say(weights: list[float], kept: int) -> None:
    tokens = ["Yes", " No", "No", " Yes", *map(str, range(40))][: len(weights)]
    everything = {t: w / sum(weights) for t, w in zip(tokens, weights, strict=True)}
    top = dict(sorted(everything.items(), key=lambda item: -item[1])[:kept])
    read, detail = read_top([{"token": t, "logprob": log(p)} for t, p in top.items()], YES_NO)
    yes, no = (everything[label] + everything[f" {label}"] for label in ("Yes", "No"))
    if read is None:
        assert detail is not None and detail.startswith(BELOW)
        return
    if sum(read) == 0:
        return
    assert detail is None or (read[1] > read[0]) == (yes > no)
    off = abs(read[1] / sum(read) - yes / (yes + no))
    assert off <= (TOLERANCE + 1e-9 if detail is None else 1)
    assert off == pytest.approx(0, abs=1e-12) or not {"Yes", "No", " Yes", " No"} <= top.keys()


@pytest.mark.parametrize("logprob", [0.5, float("nan"), float("inf"), "x"])
def test_what_is_no_probability_is_refused(logprob: object) -> None:
    with pytest.raises((ValueError, OverflowError)):
        read_top([{"token": "Yes", "logprob": logprob}], YES_NO)


@given(st.lists(st.floats(1e-6, 1), min_size=8, max_size=14), st.integers(2, 4), st.integers(1, 13))
def test_no_hidden_spelling_moves_a_share_by_more_than_is_allowed(
    weights: list[float], count: int, most: int
) -> None:
    """Of a whole distribution only the most probable tokens are shown: unmarked shares are off by 1% at most."""
    labels = ["Aa", "Bb", "Cc", "Dd"][:count]
    spelled = [written for label in labels for written in (label, f" {label}")]
    names = spelled + [f"other{i}" for i in range(len(weights) - len(spelled))]
    full = {name: weight / sum(weights) for name, weight in zip(names, weights, strict=False)}
    top = sorted(full, key=lambda name: -full[name])[:most]
    shares, detail = read_top([{"token": name, "logprob": log(full[name])} for name in top], labels)
    if shares is None or detail is not None or sum(shares) == 0:
        return
    true = [full[label] + full[f" {label}"] for label in labels]
    for share, own in zip(shares, true, strict=True):
        assert abs(share / sum(shares) - own / sum(true)) <= TOLERANCE + 1e-9
