# syntax=docker/dockerfile:1
# One image for `start` (the default), `api` and `worker`. See docs/operating.md.

FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci && npm run pack && deploy/image/assemble.sh dist/packages /image

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="Remediation Risk Service" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image/ /
ENV PATH=/opt/rrs/bin:/usr/bin:/bin \
    HOST=0.0.0.0 \
    PORT=8080 \
    RRS_WORKER_PORT=8080 \
    RRS_DATA_DIR=/var/lib/rrs
USER 10001:10001
WORKDIR /var/lib/rrs
VOLUME /var/lib/rrs
EXPOSE 8080
# The service finishes requests and jobs for up to 25 seconds: stop it with `docker stop --timeout 40`.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 CMD ["node", "/opt/rrs/bin/health.mjs"]
ENTRYPOINT ["node", "--max-semi-space-size=8", "/opt/rrs/node_modules/@rrs/service/bin/rrs-server.mjs"]
CMD ["start"]
