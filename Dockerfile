# A static binary on an empty base. The root certificates are in the binary, for an image without any.
FROM rust:1.95-bookworm AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends musl-tools \
    && rm -rf /var/lib/apt/lists/* \
    && rustup target add "$(uname -m)-unknown-linux-musl"
WORKDIR /src
COPY . .
RUN cargo build --release --locked --target "$(uname -m)-unknown-linux-musl" \
    && mkdir -p /out/work \
    && cp "target/$(uname -m)-unknown-linux-musl/release/sluicegate" /out/sluicegate

FROM scratch
LABEL org.opencontainers.image.title="sluicegate" \
      org.opencontainers.image.description="Reviews data pipelines before a merge, and publishes the shared ones after it" \
      org.opencontainers.image.licenses="MIT OR Apache-2.0"
COPY --from=build /out/sluicegate /usr/local/bin/sluicegate
COPY --from=build --chown=65532:65532 /out/work /work
USER 65532:65532
# Mount the checkout here; it may belong to any user.
WORKDIR /work
ENTRYPOINT ["/usr/local/bin/sluicegate"]
