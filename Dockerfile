# Two images, each a static binary and root certificates, neither run as root:
#   (default)     nothing else: `docker run`, `uses: docker://…`
#   --target ci   with a shell, which hosts need that run `script:` inside the image (GitLab, Bitbucket, CircleCI, Jenkins)
#
# A release brings the programs of its archives instead of building them again (.ci/image); then no stage runs anything, and
# each architecture can be made on any machine.
FROM rust:1.95-bookworm@sha256:6258907abe69656e41cd992e0b705cdcfabcbbe3db374f92ed2d47121282d4a1 AS build
ARG TARGETARCH
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates musl-tools \
    && rm -rf /var/lib/apt/lists/* \
    && rustup target add "$(uname -m)-unknown-linux-musl"
WORKDIR /src
COPY . .
# cc would look for a compiler by a longer name on arm64.
RUN target="$(uname -m)-unknown-linux-musl" \
    && TARGET_CC=musl-gcc cargo build --profile dist --locked --target "$target" \
    && .ci/image /out "$TARGETARCH=target/$target/dist/sluicegate"

# Nothing runs here, so `scratch` is enough.
FROM scratch AS files
ARG TARGETARCH
COPY --from=build /out/root /
COPY --from=build /out/program/$TARGETARCH /usr/local/bin

FROM busybox:1.37.0-musl@sha256:19b646668802469d968a05342a601e78da4322a414a7c09b1c9ee25165042138 AS ci
LABEL org.opencontainers.image.title="sluicegate" \
      org.opencontainers.image.description="Reviews data pipelines before a merge, and publishes shared pipelines after it" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=files / /
USER 1001:1001
WORKDIR /work

FROM scratch
LABEL org.opencontainers.image.title="sluicegate" \
      org.opencontainers.image.description="Reviews data pipelines before a merge, and publishes shared pipelines after it" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=files / /
# The user of GitHub's hosted runners: a container action writes to a workspace that is theirs. Anywhere else
# `docker run --user` says whose the mounted checkout is.
USER 1001:1001
WORKDIR /work
ENTRYPOINT ["/usr/local/bin/sluicegate"]
