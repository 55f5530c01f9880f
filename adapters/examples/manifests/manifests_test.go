package manifests

import (
	"os"
	"regexp"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// manifest is a block of a page that is for Kubernetes.
var manifest = regexp.MustCompile("(?ms)^```yaml\n(apiVersion:.*?)^```")

// The manifests of docs/running.md are such as Kubernetes takes: no field is unknown or has another type, a Deployment
// selects its own pods, and containers get their backend from a secret.
func TestManifests(t *testing.T) {
	text, err := os.ReadFile("../../../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := manifest.FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d manifests were found, want 2", len(blocks))
	}
	var job batchv1.CronJob
	var leader appsv1.Deployment
	for i, into := range []any{&job, &leader} {
		if err := yaml.UnmarshalStrict([]byte(blocks[i][1]), into); err != nil {
			t.Errorf("manifest %d: %v", i+1, err)
		}
	}
	if is := job.APIVersion + " " + job.Kind; is != "batch/v1 CronJob" {
		t.Errorf("the first one is a %s", is)
	}
	if is := leader.APIVersion + " " + leader.Kind; is != "apps/v1 Deployment" {
		t.Errorf("the second one is a %s", is)
	}
	for key, value := range leader.Spec.Selector.MatchLabels {
		if got := leader.Spec.Template.Labels[key]; got != value {
			t.Errorf("the Deployment selects %s=%s, and its pods have %q", key, value, got)
		}
	}
	pods := []corev1.PodSpec{job.Spec.JobTemplate.Spec.Template.Spec, leader.Spec.Template.Spec}
	for _, c := range append(pods[0].Containers, pods[1].Containers...) {
		if len(c.Env) != 1 || c.Env[0].Name != "HOLDFAST_BACKEND" || c.Env[0].ValueFrom.SecretKeyRef == nil {
			t.Errorf("container %s has the environment %v", c.Name, c.Env)
		}
		if command := strings.Join(c.Command, " "); !strings.HasPrefix(command, "holdfast ") {
			t.Errorf("container %s starts %s", c.Name, command)
		}
	}
}
