/** Ten sets of values for the chart that are right, by what they show. */
const image = { repository: "registry.example.com/snowlane" };
const kubernetes = { url: "kubernetes://test/snowlane" };

export const rightValues: Readonly<Record<string, object>> = {
  "leases as the store": { image, store: kubernetes, auth: "none" },
  "a store whose URL is in a Secret": { image, store: { secret: { name: "store", key: "url" } }, auth: "none" },
  "principals and TLS": {
    image: { ...image, tag: "1.2.3" },
    store: { secret: { name: "store" } },
    principals: { secret: { name: "principals" } },
    tls: { secret: "tls" },
    serviceMonitor: {
      enabled: true,
      tlsConfig: { serverName: "ids.example.com", ca: { secret: { name: "tls", key: "ca.crt" } } },
      tokenSecret: { name: "scraper" },
    },
    networkPolicy: { metricsFrom: [{ namespaceSelector: {} }] },
  },
  "client certificates": { image, store: kubernetes, tls: { secret: "tls", clientCaSecret: "callers" } },
  "settings of every type": {
    image,
    store: kubernetes,
    auth: "none",
    settings: {
      batchCountMax: 1_000_000_000,
      drainTimeout: "2m",
      page: "off",
      layout: "discord",
      datacenterIds: "0-3",
      waitForWorkerId: "30s",
    },
    terminationGracePeriodSeconds: 180,
  },
  "one server on SQLite": {
    image,
    replicas: 1,
    store: { url: "sqlite:/var/lib/snowlane/ids.db" },
    persistence: { existingClaim: "ids" },
    auth: "none",
  },
  autoscaling: { image, store: kubernetes, auth: "none", autoscaling: { enabled: true, maxReplicas: 12 } },
  "metrics, rules and traces": {
    image,
    store: kubernetes,
    auth: "none",
    serviceMonitor: { enabled: true, tokenSecret: { name: "scraper" } },
    prometheusRule: { enabled: true },
    networkPolicy: { metricsFrom: [{ namespaceSelector: {} }] },
    tracing: { endpoint: "http://collector:4318", headersSecret: { name: "collector" } },
  },
  "nothing beside the servers": {
    image,
    store: kubernetes,
    auth: "none",
    rbac: { create: false },
    serviceAccount: { name: "own" },
    networkPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
    service: { type: "LoadBalancer", port: 443, annotations: { "example.com/a": "b" } },
  },
  "places for the pods": {
    image: { ...image, pullPolicy: "Always" },
    imagePullSecrets: [{ name: "registry" }],
    store: kubernetes,
    auth: "none",
    nodeSelector: { "kubernetes.io/arch": "amd64" },
    tolerations: [{ key: "ids", operator: "Exists", effect: "NoSchedule" }],
    affinity: { podAntiAffinity: {} },
    podLabels: { team: "ids" },
    podAnnotations: { "example.com/c": "d" },
    resources: { limits: { cpu: 1, memory: "1Gi" } },
    networkPolicy: { from: [{ ipBlock: { cidr: "10.0.0.0/8" } }] },
  },
};

const scraped = { serviceMonitor: { enabled: true }, networkPolicy: { enabled: false } };

/** Sets of values that the chart refuses, with what its one line must say. */
export const wrongValues: Readonly<Record<string, readonly [values: object, message: RegExp]>> = {
  "no image": [{ store: kubernetes, auth: "none" }, /image\.repository is missing/],
  "no store": [{ image, auth: "none" }, /The store is missing: set store\.url/],
  "a password in plain values": [
    { image, store: { url: "postgres://snowlane:hunter2@db/snowlane" }, auth: "none" },
    /store\.url has a password: put the whole URL into a Secret/,
  ],
  "a password behind a scheme in capitals": [
    { image, store: { url: "Postgres://snowlane:hunter2@db/snowlane" }, auth: "none" },
    /store\.url has a password/,
  ],
  "a password among the parameters of a URL": [
    { image, store: { url: "mysql://snowlane@db/snowlane?password=hunter2" }, auth: "none" },
    /store\.url has a password/,
  ],
  "a password that holds a slash": [
    { image, store: { url: "postgres://snowlane:hunter/2@db/snowlane" }, auth: "none" },
    /store\.url has a password/,
  ],
  "three servers on SQLite": [
    { image, store: { url: "sqlite:/var/lib/snowlane/ids.db" }, persistence: { existingClaim: "ids" }, auth: "none" },
    /each pod would have a file of its own and repeat the IDs of the others: set replicas: 1/,
  ],
  "OPERATIONS 21: three servers with one worker ID": [
    // Two of three pods ended for ever.
    { image, store: kubernetes, auth: "none", settings: { workerId: 3 } },
    /settings\.workerId pins one worker ID, which one server can hold: set replicas: 1/,
  ],
  "OPERATIONS 21: fewer servers at most than at least": [
    { image, store: kubernetes, auth: "none", autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 2 } },
    /autoscaling\.maxReplicas is 2, below autoscaling\.minReplicas, 3/,
  ],
  "OPERATIONS 21: a label of pods that the chart gives": [
    { image, store: kubernetes, auth: "none", podLabels: { "app.kubernetes.io/name": "x" } },
    /podLabels may not have app\.kubernetes\.io\/name/,
  ],
  "SQLite that goes with its pod": [
    { image, replicas: 1, store: { url: "sqlite:/var/lib/snowlane/ids.db" }, auth: "none" },
    /outlives the pod: name it with persistence\.existingClaim/,
  ],
  "callers that nobody let in": [{ image, store: kubernetes }, /say who may call/],
  "a password in the URL of a receiver": [
    { image, store: kubernetes, auth: "none", tracing: { endpoint: "https://a:hunter2@collector" } },
    /tracing\.endpoint has a password: .* tracing\.headersSecret\.name/,
  ],
  "fields for no receiver": [
    { image, store: kubernetes, auth: "none", tracing: { headersSecret: { name: "collector" } } },
    /tracing\.headersSecret needs tracing\.endpoint/,
  ],
  "a password in the URL of a receiver behind a scheme in capitals": [
    { image, store: kubernetes, auth: "none", tracing: { endpoint: "HTTPS://a:hunter/2@collector" } },
    /tracing\.endpoint has a password/,
  ],
  "a pod that is killed before its calls end": [
    { image, store: kubernetes, auth: "none", settings: { drainTimeout: "1m" } },
    /terminationGracePeriodSeconds is 45, so a pod is killed .*drainTimeout, 1m: raise the first/,
  ],
  "a Prometheus that the NetworkPolicy keeps out": [
    { image, store: kubernetes, auth: "none", serviceMonitor: { enabled: true } },
    /keeps Prometheus out: name its pods with networkPolicy\.metricsFrom/,
  ],
  "a Prometheus that finds no name in the certificate": [
    { image, store: kubernetes, auth: "none", tls: { secret: "tls" }, ...scraped },
    /set serviceMonitor\.tlsConfig/,
  ],
  "a Prometheus without a token where callers need one": [
    { image, store: kubernetes, principals: { secret: { name: "principals" } }, ...scraped },
    /name that with serviceMonitor\.tokenSecret\.name/,
  ],
  "a section that is left empty: it ended in an error of Go's": [
    { image, store: kubernetes, auth: "none", tls: null },
    /missing property 'tls'/,
  ],
  "a value that is left empty: it ended in an error of Go's": [
    { image, store: kubernetes, auth: null },
    /missing property 'auth'/,
  ],
  "a replica count in words": [{ image, store: kubernetes, auth: "none", replicas: "two" }, /replicas.*integer/s],
  "a setting that there is not": [
    { image, store: kubernetes, auth: "none", settings: { drainTimout: "20s" } },
    /drainTimout/,
  ],
  "a setting out of range": [
    { image, store: kubernetes, auth: "none", settings: { sequenceConnections: 70 } },
    /sequenceConnections.*64/s,
  ],
  "a setting that is the chart's": [
    { image, store: kubernetes, auth: "none", settings: { listen: "0.0.0.0:80" } },
    /listen/,
  ],
};
