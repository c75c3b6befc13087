"""Conversations as a model's chat template writes them: the one place that knows what templates refuse.

A template may have no system role, want users and assistants in turn, change the turn that is to be continued, or begin
a thought. What is done about it is found once, when the model is loaded, and recorded; it does not depend on a prompt.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from audit_lib.canonical import sha256
from audit_lib.errors import BackendError
from audit_lib.score.local.refusal import refusal, told
from audit_lib.score.local.template_date import TODAY, UNLESS_GIVEN, is_held, written_on
from audit_lib.score.local.thinking import Wish, open_thought, thinking_of

Turn = Mapping[str, str]

_SYSTEM, _USER, _OTHER, _ANSWER = "Sq7zx", "Uq7zx", "Vq7zx", "Aq7zx"  # words that no template writes itself


class PromptError(Exception):
    """A conversation that cannot be written as the model reads it; the message holds nothing of it."""


class ChatTemplate:
    """A tokenizer's chat template.

    Parameters
    ----------
    tokenizer : PreTrainedTokenizerBase
    model_type : str
        For messages.
    kwargs : mapping
        The spec's `chat_template_kwargs`, given to the template.
    wish : {"closed", "none", "on"} or None
        What the spec says of thinking.
    day : date or None
        What a template that writes today's date reads; None: `UNLESS_GIVEN`.

    Attributes
    ----------
    record : dict
        What was found and chosen, for the model's fingerprint and the page.

    Raises
    ------
    BackendError
        If there is no template, or it cannot be rendered.
    """

    def __init__(
        self,
        tokenizer: Any,
        model_type: str,
        *,
        kwargs: Mapping[str, Any] | None = None,
        wish: Wish | None = None,
        day: date | None = None,
    ) -> None:
        self._tokenizer, self._type = tokenizer, model_type
        template = tokenizer.chat_template
        if isinstance(template, Mapping):
            template = template.get("default")
        if not template:
            raise refusal(
                model_type,
                "the tokenizer has no chat template",
                "add the chat_template.jinja that the model was trained with, or name the chat version of the model",
            )
        self._day = (day or UNLESS_GIVEN) if TODAY in template else None
        if self._day is not None and not is_held(tokenizer, self._day):
            raise refusal(
                model_type,
                "its chat template writes today's date, which this version of transformers does not let us hold",
                "write a fixed date into chat_template.jinja in place of strftime_now",
            )
        given = dict(kwargs or {})
        one = [_turn("user", _USER)]
        self._thinking = thinking_of(
            template, lambda some: self._try(one, some, add_generation_prompt=True), wish, given
        )
        if self._try(one, add_generation_prompt=True) is None:
            raise refusal(
                model_type, f"its chat template cannot be rendered ({self._why(one)})", "repair the template"
            )
        self._folds = not self._takes([_turn("system", _SYSTEM), *one])
        self._merges = not self._takes([*one, _turn("user", _OTHER)]) or not self._takes(
            [*one, _turn("assistant", _ANSWER), _turn("assistant", _OTHER), *one]
        )
        self._no_prompt = self._missing_prompt(one)
        self._appends = self._changes_begun(one)
        self.record = {
            "sha256": sha256(template.encode()),
            "system": "folded" if self._folds else "own",
            "turns": "merged" if self._merges else "own",
            "begun_answer": "appended" if self._appends else "continued",
            "thinking": self._thinking.choice,
            "kwargs": dict(self._thinking.kwargs),
            "date": None if self._day is None else self._day.isoformat(),
        }

    def render(self, messages: Sequence[Turn], *, for_labels: bool = True) -> str:
        """Return a conversation as the model reads it; a last assistant turn is left open.

        Raises
        ------
        PromptError
            If this conversation cannot be written.
        BackendError
            If no conversation can be: the model would think first, or nothing says that its turn begins.
        """
        if not messages:
            raise PromptError("the conversation is empty")
        turns = self._turns(messages)
        if turns[-1]["role"] == "assistant":
            text = self._continued(turns)
        else:
            text = self._asked(turns, for_labels)
        left_out = next(
            (
                turn["role"]
                for turn in turns
                if turn["role"] != "assistant" and turn["content"].strip() not in text
            ),
            None,
        )
        if left_out is not None:
            raise PromptError(f"the chat template leaves out or changes the text of a turn of the {left_out}")
        asked = next((turn["content"].strip() for turn in reversed(turns) if turn["role"] != "assistant"), "")
        if for_labels and open_thought(text[text.rindex(asked) + len(asked) :]) is not None:
            raise self._would_think()
        return text

    def check(self, roles: Sequence[str], *, for_labels: bool) -> None:
        """Raise BackendError if no conversation of these roles can be written."""
        words = (_SYSTEM, _USER, _OTHER, _ANSWER)
        turns = [_turn(role, f"{words[n % len(words)]}{n}") for n, role in enumerate(roles)]
        try:
            self.render(turns, for_labels=for_labels)
        except PromptError as error:
            raise refusal(
                self._type,
                f"{error}, with turns of {', '.join(roles)}",
                "write prompt.template with roles that the model's chat template takes",
            ) from None

    def _asked(self, turns: Sequence[Turn], for_labels: bool) -> str:
        if for_labels and self._thinking.choice in ("on", "unknown"):
            raise self._would_think()
        return self._with_prompt(turns)

    def _continued(self, turns: Sequence[Turn]) -> str:
        if self._appends:
            return self._with_prompt(turns[:-1]) + turns[-1]["content"]
        return self._must(turns, continue_final_message=True)

    def _with_prompt(self, turns: Sequence[Turn]) -> str:
        if self._no_prompt:
            raise refusal(
                self._type,
                "its chat template has no generation prompt: nothing tells the model that its turn begins "
                f"({self._no_prompt!r})",
                "write it into chat_template.jinja under add_generation_prompt, or begin the answer in the prompt "
                "(a last turn of the assistant)",
            )
        if not turns:
            raise PromptError("the conversation has nothing before the begun answer")
        return self._must(turns, add_generation_prompt=True) + self._thinking.before_answer

    def _would_think(self) -> BackendError:
        if self._thinking.choice == "on":
            return refusal(
                self._type,
                "labels are scored where the answer begins, and model.options asks the model to think there",
                "take thinking out of model.options, or read the answer from a text (prompt.read)",
            )
        return refusal(
            self._type,
            "its chat template knows thoughts and no switch to leave them out, so labels would be scored where the "
            "model may think",
            "say in model.options which it is: thinking: none (it does not think), thinking: closed (an empty thought "
            "is written first), a switch of its template in chat_template_kwargs; or begin the answer in the prompt",
        )

    def _turns(self, messages: Sequence[Turn]) -> list[Turn]:
        turns: list[Turn] = [_turn(m["role"], m["content"]) for m in messages]
        if self._folds:
            turns = _folded(turns)
        return _merged(turns) if self._merges else turns

    def _takes(self, turns: Sequence[Turn]) -> bool:
        """Whether the template writes every turn of a conversation."""
        text = self._try(turns, add_generation_prompt=turns[-1]["role"] != "assistant")
        return text is not None and all(turn["content"] in text for turn in turns)

    def _missing_prompt(self, one: Sequence[Turn]) -> str:
        """Return what begins an answer in the template, if nothing writes it before an answer is asked for."""
        answered = self._try([*one, _turn("assistant", _ANSWER)])
        bare = self._try(one)
        if answered is None or bare is None or _ANSWER not in answered:
            return ""
        between = answered[: answered.rindex(_ANSWER)].removeprefix(bare).strip()
        return between if between and self._try(one, add_generation_prompt=True) == bare else ""

    def _changes_begun(self, one: Sequence[Turn]) -> bool:
        """Whether the template cannot leave a begun answer as it is, at the end of the text."""
        text = self._try([*one, _turn("assistant", _ANSWER)], continue_final_message=True)
        return text is None or not text.endswith(_ANSWER)

    def _must(self, turns: Sequence[Turn], **how: Any) -> str:
        try:
            return self._apply(turns, self._thinking.kwargs, **how)
        except Exception as error:  # noqa: BLE001 - templates and what reads them raise anything
            raise PromptError(
                f"the chat template refuses the conversation ({self._reason(error, turns)})"
            ) from None

    def _try(self, turns: Sequence[Turn], kwargs: Mapping[str, Any] | None = None, **how: Any) -> str | None:
        try:
            return self._apply(turns, self._thinking.kwargs if kwargs is None else kwargs, **how)
        except Exception:  # noqa: BLE001 - templates and what reads them raise anything
            return None

    def _why(self, turns: Sequence[Turn]) -> str:
        try:
            self._apply(turns, self._thinking.kwargs, add_generation_prompt=True)
        except Exception as error:  # noqa: BLE001
            return self._reason(error, turns)
        return "no reason is told"

    def _apply(self, turns: Sequence[Turn], kwargs: Mapping[str, Any], **how: Any) -> str:
        with written_on(self._day):
            text: str = self._tokenizer.apply_chat_template(
                [dict(turn) for turn in turns], tokenize=False, **{**kwargs, **how}
            )
        return text

    @staticmethod
    def _reason(error: BaseException, turns: Iterable[Turn]) -> str:
        """Return an error's kind and, where it repeats nothing of the conversation, its message."""
        said = told(error)
        words = {word for turn in turns for word in turn["content"].split() if len(word) > 3}
        return type(error).__name__ + ("" if any(word in said for word in words) else f": {said}")


def _turn(role: str, content: str) -> Turn:
    return {"role": role, "content": content}


def _folded(turns: Sequence[Turn]) -> list[Turn]:
    r"""Return turns with those of the system at the head of the user's next one.

    Examples
    --------
    >>> _folded([_turn("system", "Be brief."), _turn("user", "Hi")])
    [{'role': 'user', 'content': 'Be brief.\n\nHi'}]
    """
    found: list[Turn] = []
    waiting: list[str] = []
    for turn in turns:
        if turn["role"] == "system":
            waiting.append(turn["content"])
            continue
        if waiting and turn["role"] == "user":
            turn = _turn("user", "\n\n".join([*waiting, turn["content"]]))
            waiting = []
        elif waiting:
            found.append(_turn("user", "\n\n".join(waiting)))
            waiting = []
        found.append(turn)
    return [*found, *([_turn("user", "\n\n".join(waiting))] if waiting else [])]


def _merged(turns: Sequence[Turn]) -> list[Turn]:
    r"""Return turns in which no role speaks twice in a row.

    Examples
    --------
    >>> _merged([_turn("user", "A"), _turn("user", "B")])
    [{'role': 'user', 'content': 'A\n\nB'}]
    """
    found: list[Turn] = []
    for turn in turns:
        if found and found[-1]["role"] == turn["role"]:
            found[-1] = _turn(turn["role"], f"{found[-1]['content']}\n\n{turn['content']}")
        else:
            found.append(turn)
    return found
