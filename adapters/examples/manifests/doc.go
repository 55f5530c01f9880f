// Package manifests has tests only: they decode the manifests that our pages show by the types that Kubernetes
// publishes.
package manifests
