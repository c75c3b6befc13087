"""What nearly every task imports, imported once before a worker forks the processes of its tasks.

Airflow forks a process for each task, and what its worker has not imported each of them imports again: about 2 s of
CPU, where scoring a small shard takes a tenth of that. Celery's workers import this file by
``AIRFLOW__CELERY__EXTRA_CELERY_CONFIG={"imports": ["preloaded"]}``, and the process that LocalExecutor's are forked
from by ``AIRFLOW__SCHEDULER__MP_START_METHOD=forkserver`` and ``AIRFLOW__SCHEDULER__MP_FORKSERVER_PRELOAD=
airflow,preloaded``. They find it because the folder of plugins is on Airflow's path; it is no plugin
(``.airflowignore``).

Only what is installed, and changes with the image: each task reads DAG files and specs itself. Nothing here opens a
connection or starts a thread but those of BLAS and Arrow, which stop and begin again where a process is forked. torch,
which does not, is left to the tasks that ask a local model.
"""

import gc
from importlib import import_module

from audit_lib.backends import BACKENDS
from audit_lib.measure.metric import METRICS
from audit_lib.perturb.variants_stage import PERTURBATIONS
from audit_lib.pipeline import STAGES
from audit_lib.sample.sources import SOURCES
from audit_lib.score.requests import elicitation

MODULES = (
    "airflow.dag_processing.bundles.local",
    "airflow.dag_processing.dagbag",
    "airflow.models.serialized_dag",
    "airflow.providers.standard.decorators.python",
    "airflow.providers.standard.operators.empty",
    "airflow.providers.standard.operators.trigger_dagrun",
    "airflow.sdk.definitions.connection",
    "airflow.sdk.definitions.decorators",
    "airflow.sdk.execution_time.task_runner",
    "airflow.sdk.observability.stats",
    "airflow.version",
    "audit_lib.archive.entering",
    "audit_lib.preflight",
    "audit_lib.signing.sign_run",
    "audit_lib.spec.parsed_specs",
    "audit_lib.spec.texts_of_files",
    "audit_lib.store.s3_environment",
    "pyarrow.dataset",
)
for _module in (*MODULES, *(stage.function.partition(":")[0] for stage in STAGES)):
    import_module(_module)
for _parts in (BACKENDS, METRICS, PERTURBATIONS, SOURCES, elicitation):
    _parts.names()

gc.collect()
gc.freeze()  # else the collector of each task goes through all of it, and so copies its pages
