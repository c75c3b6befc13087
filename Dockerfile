# Airflow, the audits and their models, from the same hash-checked lock that `make` installs.
FROM python:3.11-slim-bookworm

# The pip index with the torch build to take; empty: the platform's default, which holds CUDA.
ARG TORCH_INDEX=""
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 UV_COMPILE_BYTECODE=1 UV_NO_CACHE=1 UV_SYSTEM_PYTHON=1

# What WeasyPrint draws PDF reports with, and a font.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0 fonts-dejavu-core \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/audit
COPY requirements.lock constraints.txt ./
RUN pip install uv==0.13.8 \
    && uv pip install --no-deps --require-hashes -r requirements.lock \
    && pip install ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} -c constraints.txt torch==2.13.0

COPY pyproject.toml README.md LICENSE ./
COPY audit_lib ./audit_lib
COPY include ./include
RUN uv pip install --no-deps .
COPY dags ./dags

# The volumes of the compose file take over the owner of the folders that they cover.
RUN useradd --uid 50000 --create-home airflow \
    && mkdir -p /opt/airflow/logs /opt/airflow/auth /opt/audit/keys /opt/audit/models /opt/audit/store \
    && chown -R airflow /opt/airflow /opt/audit/keys /opt/audit/models /opt/audit/store
USER airflow
ENV AIRFLOW_HOME=/opt/airflow AIRFLOW__CORE__DAGS_FOLDER=/opt/audit/dags AIRFLOW__CORE__PLUGINS_FOLDER=/opt/audit/dags/plugins
# Workers import once what the process of each task needs (dags/plugins/preloaded.py).
ENV AIRFLOW__CELERY__EXTRA_CELERY_CONFIG='{"imports": ["preloaded"]}' \
    AIRFLOW__SCHEDULER__MP_START_METHOD=forkserver AIRFLOW__SCHEDULER__MP_FORKSERVER_PRELOAD=airflow,preloaded
CMD ["airflow", "version"]
