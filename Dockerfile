# The web app is built first, then everything runs from one Python image: the same image is
# the API, both workers, the scheduler, Flower and the migration.
FROM node:22-bookworm-slim AS web
WORKDIR /src/web
COPY .npmrc /src/.npmrc
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci
COPY web/ ./
RUN npm run build

FROM python:3.13-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates curl \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 pageturn
WORKDIR /app
COPY requirements.lock pyproject.toml README.md ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock
COPY api/ api/
COPY workers/ workers/
COPY shared/ shared/
COPY ops/ ops/
COPY migrations/ migrations/
COPY alembic.ini ./
RUN pip install --no-cache-dir --no-build-isolation --no-deps -e .
COPY --from=web /src/web/dist web/dist
RUN mkdir -p /data && chown pageturn /data
USER pageturn
ENV PAGETURN_HOME=/data PAGETURN_HOST=0.0.0.0 PYTHONUNBUFFERED=1
EXPOSE 8000 5555
