{{- define "copra.labels" -}}
app.kubernetes.io/name: copra
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "copra.selector" -}}
app.kubernetes.io/name: copra
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* The URL of the control plane for nodes. */}}
{{- define "copra.url" -}}
{{- if .Values.nodes.url }}{{ .Values.nodes.url }}{{ else if .Values.controlPlane.enabled }}http://{{ .Release.Name }}-control-plane:8787{{ else }}{{ fail "nodes.url: give the URL of the control plane, or set controlPlane.enabled" }}{{ end }}
{{- end }}

{{/* The proxies before the control plane, separated by commas; the argument is .Values.controlPlane. */}}
{{- define "copra.trustedProxies" -}}
{{- if and (not .trustedProxies) (hasPrefix "https:" .publicUrl) }}{{ fail "controlPlane.trustedProxies: give the network of the ingress controller's pods, or [none]" }}{{ end }}
{{- join "," .trustedProxies }}
{{- end }}

{{/* The pod of a node; the argument is a dict of `root` and `extra`, arguments for the node. */}}
{{- define "copra.nodePod" -}}
{{- $ := .root -}}
{{- $nodes := $.Values.nodes -}}
automountServiceAccountToken: false
terminationGracePeriodSeconds: {{ $nodes.terminationGracePeriodSeconds }}
{{- with $nodes.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with $nodes.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $nodes.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
containers:
  - name: node
    image: "{{ $nodes.image.repository }}:{{ $nodes.image.tag | default $.Chart.AppVersion }}"
    imagePullPolicy: {{ $nodes.image.pullPolicy }}
    args:
      - --url
      - {{ include "copra.url" $ | quote }}
      - --token-file
      - /run/copra/token
      - --drain-seconds
      - {{ sub $nodes.terminationGracePeriodSeconds 60 | quote }}
      - --health-port
      - 0.0.0.0:8788
      {{- range concat .extra $nodes.args }}
      - {{ . | quote }}
      {{- end }}
    ports: [{ name: health, containerPort: 8788 }]
    # At its start the node tries ffmpeg's encoders.
    startupProbe:
      httpGet: { path: /health, port: health }
      periodSeconds: 5
      failureThreshold: 60
    # Later than the node's own watchdog, which acts after 30 s and reports which job it was.
    livenessProbe:
      httpGet: { path: /health, port: health }
      periodSeconds: 15
      timeoutSeconds: 5
      failureThreshold: 4
    readinessProbe:
      httpGet: { path: /health/ready, port: health }
      periodSeconds: 10
      timeoutSeconds: 5
    resources: {{- toYaml $nodes.resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
      seccompProfile:
        {{- if $nodes.seccompProfile }}
        type: Localhost
        localhostProfile: {{ $nodes.seccompProfile }}
        {{- else }}
        type: RuntimeDefault
        {{- end }}
    volumeMounts:
      - { name: work, mountPath: /work }
      - { name: tmp, mountPath: /tmp }
      - { name: token, mountPath: /run/copra, readOnly: true }
volumes:
  - name: work
    ephemeral:
      volumeClaimTemplate:
        spec:
          accessModes: [ReadWriteOnce]
          resources: { requests: { storage: {{ $nodes.scratch.size }} } }
  - name: tmp
    emptyDir: { sizeLimit: 64Mi }
  - name: token
    secret: { secretName: {{ $nodes.tokenSecret }}, defaultMode: 0440 }
{{- end }}
