# The command in an image of its own: one static program, the certificates of public authorities, and nothing else.
#
#     docker build -t holdfast .
#     docker run --rm -e HOLDFAST_BACKEND=redis://redis:6379 holdfast ls
#
# A command that is to run under a lock needs the program in its own image:
#
#     COPY --from=holdfast /holdfast /usr/bin/holdfast
#
# TAGS leaves engines out, as in --build-arg TAGS="no_etcd no_zookeeper". VERSION is what `holdfast version` says.

FROM golang:1.26 AS build
ARG TAGS=""
ARG VERSION="(devel)"
WORKDIR /source
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -tags "grpcnotrace $TAGS" -ldflags "-s -w -X github.com/holdfast-go/holdfast/cmd/holdfast/internal/release.build=$VERSION" -o /holdfast ./cmd/holdfast

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /holdfast /holdfast
USER 65532:65532
ENTRYPOINT ["/holdfast"]
