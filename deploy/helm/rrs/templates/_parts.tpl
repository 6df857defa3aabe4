{{- define "rrs.labels" -}}
app.kubernetes.io/name: rrs
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: rrs-{{ .Chart.Version }}
{{- end }}

{{- define "rrs.selector" -}}
app.kubernetes.io/name: rrs
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "rrs.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "rrs.podSettings" -}}
serviceAccountName: {{ .Release.Name }}
# The service does not use the API of Kubernetes.
automountServiceAccountToken: false
enableServiceLinks: false
# The service finishes requests and jobs for up to 25 seconds.
terminationGracePeriodSeconds: 45
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  # "Always" would let the group read the signing keys again at each start, which the service refuses.
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: keys
    persistentVolumeClaim:
      claimName: {{ .Values.keys.existingClaim | default (printf "%s-keys" .Release.Name) }}
  - name: data
    emptyDir: {}
  - name: temporary
    emptyDir:
      sizeLimit: {{ .Values.temporarySize }}
  - name: database
    secret:
      secretName: {{ required "Set database.existingSecret to a secret with the URL of the database." .Values.database.existingSecret }}
      defaultMode: 288 # 0440
  {{- if .Values.s3.existingSecret }}
  - name: s3
    secret:
      secretName: {{ .Values.s3.existingSecret }}
      defaultMode: 288 # 0440
  {{- end }}
  {{- range .Values.secretSettings }}
  - name: {{ .setting | lower | replace "_" "-" }}
    secret:
      secretName: {{ .secret }}
      defaultMode: 288 # 0440
  {{- end }}
{{- end }}

{{- define "rrs.containerSettings" -}}
image: {{ include "rrs.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
ports:
  - name: http
    containerPort: 8080
# The first start creates the schema.
startupProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 2
  failureThreshold: 150
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 15
  timeoutSeconds: 5
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 5
  timeoutSeconds: 5
lifecycle:
  preStop:
    # Time for the other nodes to learn that this pod ends. It must not get new requests when it stops.
    exec: { command: [node, -e, 'setTimeout(() => {}, 5000)'] }
env:
  - name: RRS_PUBLIC_URL
    value: {{ required "Set publicUrl to the address that callers use." .Values.publicUrl | quote }}
  - name: DATABASE_URL_FILE
    value: {{ printf "/run/secrets/database/%s" .Values.database.key | quote }}
  - name: RRS_KEYS_DIR
    value: /var/lib/rrs-keys/private
  - name: RRS_S3_BUCKET
    value: {{ required "Set s3.bucket to the bucket for stored files." .Values.s3.bucket | quote }}
  - name: RRS_S3_PREFIX
    value: {{ .Values.s3.prefix | quote }}
  - name: RRS_S3_REGION
    value: {{ .Values.s3.region | quote }}
  - name: RRS_S3_ENDPOINT
    value: {{ .Values.s3.endpoint | quote }}
  - name: RRS_S3_PATH_STYLE
    value: {{ .Values.s3.pathStyle | quote }}
  {{- if .Values.s3.existingSecret }}
  - name: RRS_S3_ACCESS_KEY_ID
    value: {{ required "Set s3.accessKeyId together with s3.existingSecret." .Values.s3.accessKeyId | quote }}
  - name: RRS_S3_SECRET_ACCESS_KEY_FILE
    value: {{ printf "/run/secrets/s3/%s" .Values.s3.key | quote }}
  {{- end }}
  {{- range .Values.secretSettings }}
  - name: {{ .setting }}_FILE
    value: {{ printf "/run/secrets/%s/%s" (.setting | lower | replace "_" "-") .key | quote }}
  {{- end }}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
volumeMounts:
  - { name: keys, mountPath: /var/lib/rrs-keys }
  - { name: data, mountPath: /var/lib/rrs }
  - { name: temporary, mountPath: /tmp }
  - { name: database, mountPath: /run/secrets/database, readOnly: true }
  {{- if .Values.s3.existingSecret }}
  - { name: s3, mountPath: /run/secrets/s3, readOnly: true }
  {{- end }}
  {{- range .Values.secretSettings }}
  - name: {{ .setting | lower | replace "_" "-" }}
    mountPath: {{ printf "/run/secrets/%s" (.setting | lower | replace "_" "-") | quote }}
    readOnly: true
  {{- end }}
{{- end }}
