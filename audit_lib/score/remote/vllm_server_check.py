"""Whether a vLLM server is what a spec takes it for: the model's own tokens, and log-probabilities of all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from audit_lib.errors import BackendError
from audit_lib.score.remote.asker import FailedError, TryAgainError
from audit_lib.score.remote.completions import mapping
from audit_lib.score.remote.error_texts import provider_message, told
from audit_lib.score.remote.json_answer import parsed
from audit_lib.score.remote.stated_errors import stated_error
from audit_lib.score.remote.vllm_calls import check_read, look_body, looked_at

_PUSH: Final = 40.0
"""Added to a token's logit: where that moves its log-probability, it is not the model's own that is shown."""
_SAME: Final = 1e-3
_LEAST_OF_BEST: Final = -math.log(2**21)
"""Of a larger vocabulary than any model's, the most probable token has more."""
_SECONDS: Final = 120.0  # the first question to a server compiles its kernels


class ServerCheck:
    """Asks a server some questions of one token each, before anything is scored.

    Parameters
    ----------
    where, model : str
        Its address up to and with ``/v1``, and the model's name there.
    headers : mapping
        With the key.
    secrets : sequence of str
        What no message may repeat.
    """

    def __init__(self, where: str, model: str, headers: Mapping[str, str], secrets: Sequence[str]) -> None:
        self._where, self._model, self._headers, self._secrets = where, model, headers, secrets
        self._root = where.removesuffix("/").removesuffix("/v1")

    def find_out(self, text: str, tokens: Sequence[int]) -> dict[str, Any]:
        """Return the server's version and longest prompt.

        Parameters
        ----------
        text, tokens : str, sequence of int
            A prompt, and what our tokenizer cuts it into.

        Raises
        ------
        BackendError
            If it does not answer, has no such model, cuts the text into other tokens, or shows no log-probabilities
            before masks; says what to do.
        """
        import httpx2

        with httpx2.Client(headers=dict(self._headers), timeout=_SECONDS) as client:
            models = mapping(self._ask(client, "GET", f"{self._where}/models"))
            data = models.get("data")
            listed = [mapping(one) for one in data] if isinstance(data, list) else []
            ours = next((one for one in listed if one.get("id") == self._model), None)
            if ours is None:
                names = ", ".join(str(one.get("id")) for one in listed) or "none"
                raise BackendError(
                    f"{self._where}: no model {self._model!r} there; it has {names}. Write that in model.name, and "
                    "where its tokenizer is in model.options.tokenizer"
                )
            version = mapping(self._ask(client, "GET", f"{self._root}/version")).get("version")
            cut = mapping(
                self._ask(
                    client,
                    "POST",
                    f"{self._root}/tokenize",
                    {"model": self._model, "prompt": text, "add_special_tokens": False},
                )
            ).get("tokens")
            if cut != list(tokens):
                raise BackendError(
                    f"{self._where}: the server cuts a text into other tokens than the tokenizer here, so it serves "
                    "another model; name its folder or hub id in model.options.tokenizer"
                )
            self._check_logs(client, list(tokens))
        return {"version": str(version), "longest": ours.get("max_model_len")}

    def _check_logs(self, client: Any, tokens: list[int]) -> None:
        """Ask for one token's log-probability, plainly and with its logit pushed up."""
        body, token = look_body(self._model, tokens, [tokens[0]]), tokens[0]
        try:
            plain, pushed = (
                self._looked_at(client, one, token)
                for one in (body, {**body, "logit_bias": {str(token): _PUSH}})
            )
        except FailedError as error:
            raise BackendError(f"{self._where}: {error.detail}") from None
        except (AttributeError, TypeError, KeyError, IndexError):
            raise BackendError(
                f"{self._where}: what answers there is no completion of vLLM; look at model.options.base_url"
            ) from None
        if abs(plain - pushed) > _SAME:
            raise BackendError(
                f"{self._where}: the server shows log-probabilities after masks and biases; start it with "
                "--logprobs-mode raw_logprobs"
            )

    def _looked_at(self, client: Any, body: Mapping[str, Any], token: int) -> float:
        answer = self._ask(client, "POST", f"{self._where}/completions", body)
        if (stated := stated_error(answer, [], self._secrets)) is not None:
            raise FailedError(stated.detail)
        found = looked_at(answer, [token])[token]
        check_read(answer, body)
        # The token that was chosen is the most probable one, or with the push the pushed one.
        chosen = mapping(answer["choices"][0]["logprobs"]).get("token_logprobs")
        best = chosen[0] if isinstance(chosen, list) and chosen else None
        if "logit_bias" not in body and isinstance(best, int | float) and best < _LEAST_OF_BEST:
            raise FailedError(
                "the most probable token has a probability that is below any share; these are no log-probabilities: "
                "start it with --logprobs-mode raw_logprobs"
            )
        return found

    def _ask(self, client: Any, verb: str, url: str, body: Any = None) -> Any:
        import httpx2

        try:
            answer = client.request(verb, url, json=body)
        except httpx2.HTTPError as error:
            raise BackendError(
                f"{url}: no answer ({type(error).__name__}); start the server, or look at model.options.base_url"
            ) from None
        if answer.status_code in (401, 403):
            raise BackendError(
                f"{url}: HTTP {answer.status_code}, the key is refused; look at model.options.api_key_env"
            )
        said = told(provider_message(answer.content), [], self._secrets)
        if answer.status_code == 429 or answer.status_code >= 500:
            raise BackendError(
                f"{url}: HTTP {answer.status_code}{f': {said}' if said else ''}; try again when the server is ready"
            )
        if answer.status_code != 200:
            raise BackendError(
                f"{url}: HTTP {answer.status_code}{f': {said}' if said else ''}; is it a vLLM server? Others are asked "
                "by the backend openai"
            )
        try:
            return parsed(answer.content)
        except (FailedError, TryAgainError) as error:
            raise BackendError(f"{url}: {error.detail}; is it a vLLM server?") from None
