// Command admission_go is a minimal admission webhook that finds out whether a name is taken the way that most do: at
// each admission it lists, by a label with the name's hash, all objects of the kind from the API server.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// hashLabel is the label that objects carry the hash of their name in.
const hashLabel = "benchmark.freehold.dev/name-hash"

func main() {
	port := flag.Int("port", 9443, "port of the admission server")
	certificates := flag.String("certificate-dir", "", "folder of tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(klog.Background())
	if err := run(*port, *certificates); err != nil {
		klog.Background().Error(err, "the webhook ended")
		os.Exit(1)
	}
}

func run(port int, certificates string) error {
	// This client is not rate limited, and reads unstructured objects from the API server, not from a cache.
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Metrics:       metrics.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Port: port, CertDir: certificates}),
	})
	if err != nil {
		return err
	}
	handler := &ownership{client: manager.GetClient()}
	manager.GetWebhookServer().Register("/validate", &admission.Webhook{Handler: handler})
	return manager.Start(ctrl.SetupSignalHandler())
}

// ownership refuses a name that another object of the kind has.
type ownership struct {
	client client.Client
}

func (o *ownership) Handle(ctx context.Context, request admission.Request) admission.Response {
	asked := &unstructured.Unstructured{}
	if err := json.Unmarshal(request.Object.Raw, asked); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	name, _, _ := unstructured.NestedString(asked.Object, "spec", "name")
	found := &unstructured.UnstructuredList{}
	found.SetGroupVersionKind(schema.GroupVersionKind(request.Kind))
	if err := o.client.List(ctx, found, client.MatchingLabels{hashLabel: hash(name)}); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	for _, other := range found.Items {
		if other.GetUID() != asked.GetUID() {
			return admission.Denied("ownership conflict: " + name)
		}
	}
	return admission.Allowed("")
}

// hash is the first 64 bits of the quoted name's sha256, in hexadecimal.
func hash(name string) string {
	sum := sha256.Sum256([]byte(`"` + strings.ReplaceAll(name, `"`, `""`) + `"`))
	return hex.EncodeToString(sum[:8])
}
