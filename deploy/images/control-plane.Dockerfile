# The control plane on one machine (copra serve): API, dashboard, and an S3 server for the test storage and for chunks.
#   docker build -f deploy/images/control-plane.Dockerfile -t copra .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL -v copra-data:/data -p 8787:8787 -p 9000:9000 \
#     -e COPRA_PUBLIC_URL=https://encode.example.com copra
# Encoder nodes run in images of their own (node.Dockerfile): this one has no ffmpeg.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS packages
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates curl openssl
# Node.js accepts the certificate authorities of the system, too, such as that of a company's proxy.
ENV NODE_USE_SYSTEM_CA=1
WORKDIR /copra
COPY package.json package-lock.json deploy/images/install-packages.sh ./
RUN ./install-packages.sh @fugood/node-whisper-linux-x64 @expo-google-fonts/noto-sans @expo-google-fonts/noto-sans-arabic \
  && rm install-packages.sh
COPY wrangler.toml tsconfig.base.json ./
COPY shared shared
COPY worker worker
COPY encoder-node encoder-node
COPY local local
COPY client client
COPY cli cli
COPY dashboard dashboard
COPY migrations migrations
COPY docs docs
# The sources of dashboard and guides are in what is built of them.
RUN node local/assets/assets.ts \
  && rm -rf dashboard docs node_modules/dashjs node_modules/hls.js node_modules/preact node_modules/@preact \
  && find shared encoder-node worker local client cli -name '*.test.ts' -delete

FROM ${BASE}
ARG DEBIAN_FRONTEND=noninteractive
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc /usr/share/man \
  && useradd --system --uid 10001 --home-dir /data --create-home copra \
  && install -d -o copra /run/copra
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=packages /copra /copra
WORKDIR /copra
USER 10001
# All data: jobs, accounts, secrets, stack.json, results in the test storage.
VOLUME /data
EXPOSE 8787 9000
ENV COPRA_HOME=/data COPRA_BIND=0.0.0.0 COPRA_NODES=0 COPRA_LOG=stderr NODE_ENV=production NODE_USE_SYSTEM_CA=1
HEALTHCHECK --start-period=60s --interval=15s --timeout=10s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/v2/health/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "local/serve/serve.ts"]
