# The gateway as a container: a build stage with a compiler-free install from the lock, and a small image that runs
# it as an unprivileged user. It needs to write to /var/lib/tidegate and nowhere else.
FROM python:3.13-slim-bookworm AS build

ENV PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src

# Dependencies first: they change less often than the code, so this layer is kept.
COPY requirements-run.lock ./
RUN python -m venv /opt/tidegate \
    && /opt/tidegate/bin/pip install --require-hashes --no-deps -r requirements-run.lock

COPY pyproject.toml README.md LICENSE ./
COPY src ./src
RUN python -m venv /opt/build \
    && /opt/build/bin/pip install "hatchling==1.33.0" \
    && /opt/build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
    && /opt/tidegate/bin/pip install --no-index --no-deps /wheels/*.whl

FROM python:3.13-slim-bookworm

RUN groupadd --system --gid 10001 tidegate \
    && useradd --system --uid 10001 --gid tidegate --no-create-home --home-dir /var/lib/tidegate tidegate \
    && install --directory --owner tidegate --group tidegate --mode 0750 /var/lib/tidegate \
    && install --directory /etc/tidegate
COPY --from=build /opt/tidegate /opt/tidegate
COPY deploy/docker/healthcheck.py /opt/tidegate/healthcheck.py

ENV PATH=/opt/tidegate/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    TIDEGATE_CONFIG=/etc/tidegate/tidegate.toml \
    TIDEGATE_LOG_FORMAT=json
USER 10001:10001
WORKDIR /var/lib/tidegate
VOLUME /var/lib/tidegate
EXPOSE 8080 9464

HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
    CMD ["python", "/opt/tidegate/healthcheck.py"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tidegate"]
CMD ["serve", "--host", "0.0.0.0"]
