"""Runs pyfixest in its own environment, interleaved with `measure.py`: one regression for each line it reads.

Called as ``python peers_regression.py DATA.npz``. It fits ``rating ~ sex + race`` with errors clustered on
the application, once to warm up, then once for each line on standard input, and answers each with a line of
JSON: CPU seconds, coefficients and standard errors.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pandas as pd
import pyfixest


def main() -> None:
    """Answer until the input ends."""
    frame = pd.DataFrame(dict(np.load(sys.argv[1])))

    def fit() -> dict[str, object]:
        start = time.process_time()
        model = pyfixest.feols("rating ~ C(sex) + C(race)", data=frame, vcov={"CRV1": "application"})
        table = model.tidy()
        return {
            "seconds": time.process_time() - start,
            "version": pyfixest.__version__,
            "coefficients": table["Estimate"].iloc[1:].tolist(),
            "errors": table["Std. Error"].iloc[1:].tolist(),
        }

    fit()
    for _ in sys.stdin:
        print(json.dumps(fit()), flush=True)


if __name__ == "__main__":
    main()
