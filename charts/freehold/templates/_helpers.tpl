{{/* The name that all objects of a release begin with: "freehold" where the release is called so. */}}
{{- define "freehold.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" (.Release.Name | trunc 31 | trimSuffix "-") .Chart.Name -}}
{{- end -}}
{{- end -}}

{{/* Labels that select the pods of a component. Arguments: root, component. */}}
{{- define "freehold.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Labels of every object; component is left out for what belongs to none. Arguments: root, component. */}}
{{- define "freehold.labels" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Reference of an image. Arguments: root, image. */}}
{{- define "freehold.image" -}}
{{- $image := .root.Values.image -}}
{{- $registry := required "set image.registry to the registry that Freehold's images were pushed to, for example --set image.registry=registry.example.com" $image.registry -}}
{{- $name := join "/" (list $registry $image.repository .image) -}}
{{- $digest := get $image.digest .image -}}
{{- if $digest -}}
{{- printf "%s@%s" $name $digest -}}
{{- else -}}
{{- printf "%s:%s" $name ($image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* The users that components of all releases in the cluster are, as a CEL list. Arguments: root, components. */}}
{{- define "freehold.users" -}}
{{- $users := list -}}
{{- range $release := prepend .root.Values.otherReleases (printf "%s/%s" .root.Release.Namespace (include "freehold.fullname" .root)) -}}
{{- range $component := $.components -}}
{{- $users = append $users (printf "'system:serviceaccount:%s-%s'" (replace "/" ":" $release) $component) -}}
{{- end -}}
{{- end -}}
[{{ join ", " $users }}]
{{- end -}}

{{/* The users that the controllers are, as a CEL list. */}}
{{- define "freehold.controllers" -}}
{{ include "freehold.users" (dict "root" . "components" (list "account" "schema")) }}
{{- end -}}

{{/* The Secret in which the webhook's replicas keep certificates that they make themselves. */}}
{{- define "freehold.authority" -}}
{{ include "freehold.fullname" . }}-webhook-authority
{{- end -}}

{{/* The volume that the webhook finds its certificate in. */}}
{{- define "freehold.certificateVolume" -}}
{{- $certificates := .Values.certificates -}}
{{- if eq $certificates.mode "selfManaged" -}}
emptyDir: {medium: Memory, sizeLimit: 1Mi}
{{- else if eq $certificates.mode "provided" -}}
secret: {secretName: {{ required "certificates.mode=provided needs certificates.secretName, the Secret with tls.crt and tls.key" $certificates.secretName }}}
{{- else -}}
secret: {secretName: {{ include "freehold.fullname" . }}-webhook}
{{- end -}}
{{- end -}}
