# An encoder node: Node.js, ffmpeg of Debian 13 pinned by digest, and the sources of the node.
#   docker build -f deploy/images/node.Dockerfile -t copra-node .
#   docker run --read-only --cap-drop ALL --security-opt seccomp=deploy/seccomp.json ... copra-node --url https://copra.example.com
# One image has one ffmpeg: nodes that encode chunks of one video must have the same.
ARG BASE=debian:trixie-slim

FROM ${BASE} AS packages
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ca-certificates curl openssl
# Node.js accepts the certificate authorities of the system, too, such as that of a company's proxy.
ENV NODE_USE_SYSTEM_CA=1
WORKDIR /copra
COPY package.json package-lock.json deploy/images/install-packages.sh ./
RUN ./install-packages.sh @20minutes/s3rver @preact/signals commander dashjs drizzle-orm esbuild \
    eventemitter3 hls.js hono miniflare preact url-toolkit wrangler \
  && rm -rf install-packages.sh package-lock.json \
  # Only these styles are used (encoder-node/text/burn-in/node-fonts.ts).
  && find node_modules/@expo-google-fonts -name '*.ttf' ! -path '*/400*' ! -path '*/700Bold/*' -delete
COPY shared shared
COPY encoder-node encoder-node
RUN find shared encoder-node -name '*.test.ts' -delete && rm -rf shared/testing encoder-node/testing

FROM ${BASE}
ARG DEBIAN_FRONTEND=noninteractive
# Drivers for GPUs of Intel (intel-media-va-driver) and AMD (mesa-va-drivers). Those of NVIDIA come from the host.
ARG VA_DRIVERS=""
COPY deploy/images/ffmpeg-*.sha256 /tmp/ffmpeg/
# The digests name the version. When Debian replaces it, its mirrors drop this one and the build fails: write the new
# digests (docs/containers.md), after a look at what changed.
RUN set -eu; cd /tmp/ffmpeg; sums=$(pwd)/ffmpeg-$(dpkg --print-architecture).sha256; \
  apt-get update; \
  sed 's/^[0-9a-f]*  //; s/%3a/:/; s/_[a-z0-9]*\.deb$//; s/_/=/' "$sums" | xargs apt-get download; \
  sha256sum --check --strict "$sums"; \
  apt-get install -y --no-install-recommends ca-certificates iproute2 ./*.deb ${VA_DRIVERS}; \
  # 200 MB that only drivers of Mesa use, on which ffplay depends.
  case "${VA_DRIVERS}" in *mesa*) ;; *) rm -f /usr/lib/*/libLLVM* /usr/lib/*/libgallium* /usr/lib/*/libz3*;; esac; \
  rm -rf /tmp/ffmpeg /var/lib/apt/lists/* /var/cache/apt/* /usr/share/doc /usr/share/man /usr/share/locale; \
  ffmpeg -version; \
  useradd --system --uid 10001 --home-dir /work --create-home copra; \
  install -d -o copra /run/copra
COPY --from=packages /usr/local/bin/node /usr/local/bin/node
COPY --from=packages /copra /copra
USER 10001
# Sources and work in progress; needs space for the largest source and its outputs.
VOLUME /work
ENV COPRA_NODE_WORK=/work/node COPRA_NODE_HEALTH_PORT=8788 NODE_ENV=production NODE_USE_SYSTEM_CA=1
# For NVIDIA's container runtime: the driver's libraries for CUDA and NVENC.
ENV NVIDIA_DRIVER_CAPABILITIES=compute,video,utility
STOPSIGNAL SIGTERM
# A node that hangs does not respond. The port may be another port, or an address with a port.
HEALTHCHECK --start-period=60s --interval=30s --timeout=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.COPRA_NODE_HEALTH_PORT.split(':').at(-1)}/health`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/copra/encoder-node/main.ts"]
