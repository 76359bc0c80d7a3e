{{/* Labels that tools expect, besides those of the manifests. */}}
{{- define "understudy.labels" -}}
app.kubernetes.io/part-of: understudy
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Changes a network policy by the values. Argument: root, policy. */}}
{{- define "understudy.policy" -}}
{{- $values := .root.Values.networkPolicy }}
{{- range $rule := .policy.spec.ingress }}
{{- range $from := $rule.from }}
{{- $selected := dig "namespaceSelector" "matchLabels" dict $from }}
{{- if hasKey $selected "kubernetes.io/metadata.name" }}
{{- $_ := set $selected "kubernetes.io/metadata.name" $values.monitoringNamespace }}
{{- end }}
{{- end }}
{{- end }}
{{- if and $values.egressPorts (has .policy.metadata.name (list "gateway" "mirror" "supervisor")) }}
{{- $ports := list }}
{{- range $values.egressPorts }}
{{- $ports = append $ports (dict "port" (int .)) }}
{{- end }}
{{- $_ := set .policy.spec "egress" (append .policy.spec.egress (dict "ports" $ports)) }}
{{- end }}
{{- $_ := set .policy.metadata "name" (printf "understudy-%s" .policy.metadata.name) }}
{{- end }}

{{/* Scheme of a process: its configuration may replace the chart's TLS. Argument: root, name. */}}
{{- define "understudy.scheme" -}}
{{- $given := (index .root.Values .name).config }}
{{- if eq .name "supervisor" }}
{{- $given = get $given "supervisor" | default dict }}
{{- end }}
{{- ternary "https" "http" (or (not (empty (dig "tls" "certificate" "" $given))) (and .root.Values.tls.enabled (not $given.insecure))) }}
{{- end }}

{{/* URLs of the pods of a StatefulSet: a common Service would hide which pod responds. Argument: root, name, port. */}}
{{- define "understudy.pods" -}}
{{- $scheme := include "understudy.scheme" . }}
{{- range $index := until (int (index .root.Values .name).replicas) }}
- {{ printf "%s://understudy-%s-%d.understudy-%s:%d" $scheme $.name $index $.name $.port }}
{{- end }}
{{- end }}

{{/* What the chart sets in a configuration file. Argument: root, name. */}}
{{- define "understudy.config" -}}
{{- $tls := ternary "tls: {certificate: /etc/understudy/tls/tls.crt, key: /etc/understudy/tls/tls.key}" "insecure: true" (eq (include "understudy.scheme" .) "https") }}
{{- if eq .name "gateway" -}}
listen: 0.0.0.0:2379
closeTimeout: 20s
rest:
  listen: 0.0.0.0:8080
{{ $tls }}
{{- if or .root.Values.mirror.enabled .root.Values.supervisor.enabled }}
dashboard:
  {{- if .root.Values.mirror.enabled }}
  mirrors:
    {{- include "understudy.pods" (dict "root" .root "name" "mirror" "port" 8081) | nindent 4 }}
  {{- end }}
  {{- if .root.Values.supervisor.enabled }}
  supervisors:
    {{- include "understudy.pods" (dict "root" .root "name" "supervisor" "port" 8082) | nindent 4 }}
  {{- end }}
  {{- if .root.Values.tls.enabled }}
  tls:
    trusted: /etc/understudy/tls/ca.crt
  {{- end }}
{{- end }}
{{- else if eq .name "mirror" -}}
status:
  listen: 0.0.0.0:8081
{{ $tls }}
{{- else -}}
supervisor:
  listen: 0.0.0.0:8082
  {{ $tls }}
snapshots:
  directory: /var/lib/understudy/snapshots
{{- end }}
{{- end }}
