{{- define "snowlane.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "snowlane.selector" -}}
app.kubernetes.io/name: snowlane
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "snowlane.labels" -}}
{{ include "snowlane.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "snowlane.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "snowlane.name" .) -}}
{{- end -}}

{{- define "snowlane.storeScheme" -}}
{{- (splitList ":" .Values.store.url) | first -}}
{{- end -}}

{{- define "snowlane.scheme" -}}
{{- ternary "HTTPS" "HTTP" (ne .Values.tls.secret "") -}}
{{- end -}}

{{/* What no schema can say: values that do not go together. Each is one line that names the cure. */}}
{{- define "snowlane.check" -}}
{{- $v := .Values -}}
{{- $url := $v.store.url -}}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" .Release.Name) }}{{ fail (printf "A Service takes its name from the release, and may not be called %s: give the release a name of a-z, 0-9 and - that begins with a letter." .Release.Name) }}{{ end -}}
{{- if not $v.image.repository }}{{ fail "image.repository is missing: build the image from deploy/container/Dockerfile, and name it." }}{{ end -}}
{{- if and (not $url) (not $v.store.secret.name) }}{{ fail "The store is missing: set store.url, or store.secret.name where its URL has a password." }}{{ end -}}
{{- if and $url $v.store.secret.name }}{{ fail "store.url and store.secret.name exclude each other: give one of them." }}{{ end -}}
{{- if or (regexMatch "^[^:]+://[^:@]*:.*@" $url) (regexMatch "[?&][a-z]*(?i:password|secret|token)=" $url) }}{{ fail "store.url has a password: put the whole URL into a Secret, and name that with store.secret.name." }}{{ end -}}
{{- if hasPrefix "sqlite:" $url -}}
{{- if or (ne (toString $v.replicas) "1") $v.autoscaling.enabled }}{{ fail "An SQLite store is for one server, because each pod would have a file of its own and repeat the IDs of the others: set replicas: 1 without autoscaling, or another store." }}{{ end -}}
{{- if not $v.persistence.existingClaim }}{{ fail "An SQLite store needs a volume that outlives the pod: name it with persistence.existingClaim." }}{{ end -}}
{{- end -}}
{{- if and $v.persistence.existingClaim (not (hasPrefix "sqlite:" $url)) }}{{ fail "persistence.existingClaim is for an SQLite store: servers that share a store need no volume." }}{{ end -}}
{{- if regexMatch "^[^:]+://.*@" $v.tracing.endpoint }}{{ fail "tracing.endpoint has a password: put a field with the key into a Secret, and name that with tracing.headersSecret.name." }}{{ end -}}
{{- if and $v.tracing.headersSecret.name (not $v.tracing.endpoint) }}{{ fail "tracing.headersSecret needs tracing.endpoint: nothing is sent without a receiver." }}{{ end -}}
{{- if and $v.tls.clientCaSecret (not $v.tls.secret) }}{{ fail "tls.clientCaSecret needs tls.secret: client certificates come with TLS." }}{{ end -}}
{{- if hasKey $v.settings "workerId" -}}
{{- if or (ne (toString $v.replicas) "1") $v.autoscaling.enabled }}{{ fail "settings.workerId pins one worker ID, which one server can hold: set replicas: 1 without autoscaling, or leave it out." }}{{ end -}}
{{- end -}}
{{- if and $v.autoscaling.enabled (lt (int64 $v.autoscaling.maxReplicas) (int64 $v.autoscaling.minReplicas)) }}{{ fail (printf "autoscaling.maxReplicas is %v, below autoscaling.minReplicas, %v: raise the first or lower the second." $v.autoscaling.maxReplicas $v.autoscaling.minReplicas) }}{{ end -}}
{{- range $name, $_ := $v.podLabels -}}
{{- if hasKey (include "snowlane.labels" $ | fromYaml) $name }}{{ fail (printf "podLabels may not have %s, which the chart gives: leave it out." $name) }}{{ end -}}
{{- end -}}
{{- $drain := toString $v.settings.drainTimeout -}}
{{- if regexMatch "^[0-9]+[hms]$" $drain -}}
{{- $seconds := mul (regexFind "^[0-9]+" $drain | int) (get (dict "h" 3600 "m" 60 "s" 1) (regexFind "[hms]$" $drain)) -}}
{{- if ge $seconds (int64 $v.terminationGracePeriodSeconds) }}{{ fail (printf "terminationGracePeriodSeconds is %v, so a pod is killed while its calls may run on for settings.drainTimeout, %s: raise the first." $v.terminationGracePeriodSeconds $drain) }}{{ end -}}
{{- end -}}
{{- if $v.serviceMonitor.enabled -}}
{{- if and $v.networkPolicy.enabled (not $v.networkPolicy.metricsFrom) }}{{ fail "The NetworkPolicy keeps Prometheus out: name its pods with networkPolicy.metricsFrom, or set networkPolicy.enabled: false." }}{{ end -}}
{{- if and $v.tls.secret (not $v.serviceMonitor.tlsConfig) }}{{ fail "Prometheus asks pods by their addresses, which the certificate of tls.secret does not name: set serviceMonitor.tlsConfig, such as serverName and ca." }}{{ end -}}
{{- if and $v.principals.secret.name (not $v.serviceMonitor.tokenSecret.name) }}{{ fail "A scrape needs a token of a principal with the permission observe: put it into a Secret, and name that with serviceMonitor.tokenSecret.name." }}{{ end -}}
{{- end -}}
{{- if not (or $v.principals.secret.name $v.tls.clientCaSecret (eq $v.auth "none")) }}{{ fail "Other pods can reach the servers: say who may call with principals.secret.name or tls.clientCaSecret, or set auth: none if every caller there may." }}{{ end -}}
{{- if and (eq $v.auth "none") (or $v.principals.secret.name $v.tls.clientCaSecret) }}{{ fail "auth: none and credentials exclude each other: leave out one of them." }}{{ end -}}
{{- end -}}

{{/* The file of settings: the chart's own, and those of the values. */}}
{{- define "snowlane.settings" -}}
{{- $own := dict "listen" "0.0.0.0:7609" "adminListen" "0.0.0.0:7610" -}}
{{- /* By this the server refuses a Secret with the URL of an SQLite file, which no other pod would share. */ -}}
{{- if not (hasPrefix "sqlite:" .Values.store.url) }}{{ $_ := set $own "resumeDir" "/var/lib/snowlane/resume" }}{{ end -}}
{{- /* Why five minutes: docs/adr/0204. */ -}}
{{- if not (hasKey .Values.settings "connectionAge") }}{{ $_ := set $own "connectionAge" "5m" }}{{ end -}}
{{- if .Values.auth }}{{ $_ := set $own "auth" .Values.auth }}{{ end -}}
{{- if .Values.store.secret.name }}{{ $_ := set $own "storeFile" (printf "/etc/snowlane/store/%s" .Values.store.secret.key) }}{{ end -}}
{{- if .Values.principals.secret.name }}{{ $_ := set $own "principals" (printf "/etc/snowlane/principals/%s" .Values.principals.secret.key) }}{{ end -}}
{{- if .Values.tls.secret }}{{ $_ := set $own "tlsCert" "/etc/snowlane/tls/tls.crt" }}{{ $_ := set $own "tlsKey" "/etc/snowlane/tls/tls.key" }}{{ end -}}
{{- if .Values.tls.clientCaSecret }}{{ $_ := set $own "tlsClientCa" "/etc/snowlane/client-ca/ca.crt" }}{{ end -}}
{{- merge $own .Values.settings | toPrettyJson -}}
{{- end -}}
