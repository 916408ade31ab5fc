# Builds foley from this folder: docker build --tag foley .
# README.md and docs/service.md show how to run the image.
FROM node:24-slim AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY . .
# The image has glibc, so the SQLite for musl is not needed.
RUN npm pack --silent \
  && npm install --global --prefix /opt/foley --ignore-scripts foley-*.tgz \
  && rm -r /opt/foley/lib/node_modules/foley/node_modules/@libsql/*-musl*

FROM node:24-slim
COPY --from=build /opt/foley /opt/foley
# Any user may write here, so that `docker run --user` works.
RUN mkdir -m 1777 /audio /data
ENV HOME=/data PATH=/opt/foley/bin:$PATH
VOLUME /data
WORKDIR /audio
# The user "node".
USER 1000
EXPOSE 4747
HEALTHCHECK --start-period=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:4747/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["foley"]
CMD ["serve", "--host", "0.0.0.0", "--accept-keys-file", "/run/secrets/foley-keys"]
