# The images that an installation runs: `webhook`, and `controllers` for the controller of any domain.
#
#   docker build --target webhook --tag REGISTRY/freehold/webhook:0.1.0 .
#   docker build --target controllers --tag REGISTRY/freehold/controllers:0.1.0 .

# The same base for building and running: a virtual environment is tied to its Python.
ARG BASE=docker.io/library/python:3.13-slim

FROM ${BASE} AS build
# Which certificates to trust and where packages come from, on machines that have their own; each stage says so anew.
ARG SSL_CERT_FILE
ARG PIP_INDEX_URL
# Every download, tools of the build included, has a hash in the lock file.
ENV UV_CONSTRAINT=requirements.lock \
    UV_BUILD_CONSTRAINT=requirements.lock \
    UV_COMPILE_BYTECODE=1 \
    UV_LINK_MODE=copy \
    UV_NO_CACHE=1 \
    UV_NO_SOURCES=1 \
    UV_PYTHON_DOWNLOADS=never \
    UV_SYSTEM_CERTS=1 \
    VIRTUAL_ENV=/opt/freehold
WORKDIR /build
COPY requirements.lock ./
RUN sed -n '/^uv==/,/[^\\]$/p' requirements.lock > uv.lock \
    && python3 -m venv /opt/uv \
    && /opt/uv/bin/pip install --no-cache-dir --require-hashes --requirement uv.lock \
    && /opt/uv/bin/uv venv /opt/freehold
ENV PATH=/opt/uv/bin:$PATH
# What others wrote comes first, in a layer that our own changes leave alone.
COPY shared/pyproject.toml shared/

FROM build AS build-webhook
ARG SSL_CERT_FILE
ARG UV_DEFAULT_INDEX
RUN uv pip install --requirement shared/pyproject.toml --extra tracing
COPY shared shared
COPY webhook webhook
RUN uv pip install './shared[tracing]' ./webhook

FROM build AS build-controllers
ARG SSL_CERT_FILE
ARG UV_DEFAULT_INDEX
RUN uv pip install --requirement shared/pyproject.toml --extra snowflake --extra tracing
COPY shared shared
COPY controllers controllers
RUN uv pip install './shared[snowflake,tracing]' ./controllers

FROM ${BASE} AS run
ENV PATH=/opt/freehold/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
USER 65532:65532

FROM run AS webhook
COPY --from=build-webhook /opt/freehold /opt/freehold
ENTRYPOINT ["freehold-webhook"]

# One image for all domains; the command names the controller, as in `freehold-account --help`.
FROM run AS controllers
COPY --from=build-controllers /opt/freehold /opt/freehold
CMD ["freehold", "--help"]
