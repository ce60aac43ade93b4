# What a kubelet finds out by itself, and what becomes of Jobs.
k apply -f - >/dev/null <<Y
apiVersion: v1
kind: Pod
metadata: {name: volume}
spec:
  containers: [{name: main, image: r/i:1}]
  volumes: [{name: certs, secret: {secretName: absent}}]
---
apiVersion: v1
kind: Pod
metadata: {name: key}
spec:
  containers:
  - name: main
    image: r/i:1
    env: [{name: A, valueFrom: {secretKeyRef: {name: password, key: user}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: from}
spec:
  containers: [{name: main, image: r/i:1, envFrom: [{configMapRef: {name: absent}}]}]
---
apiVersion: v1
kind: Pod
metadata: {name: init, annotations: {testbed.windlass.dev/container: prepare, testbed.windlass.dev/crash-loop: "true"}}
spec:
  initContainers: [{name: prepare, image: r/i:1}]
  containers: [{name: main, image: r/i:1}]
---
apiVersion: v1
kind: Secret
metadata: {name: password}
stringData: {pass: x}
---
apiVersion: batch/v1
kind: Job
metadata: {name: bad}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {testbed.windlass.dev/exit-code: "3"}}
    spec: {restartPolicy: Never, containers: [{name: main, image: r/i:1}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: indexed}
spec:
  completions: 3
  parallelism: 3
  completionMode: Indexed
  backoffLimitPerIndex: 0
  template:
    metadata: {annotations: {testbed.windlass.dev/exit-code: "3", testbed.windlass.dev/only-ordinals: "1"}}
    spec: {restartPolicy: Never, containers: [{name: main, image: r/i:1}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: policy}
spec:
  backoffLimit: 6
  podFailurePolicy: {rules: [{action: FailJob, onExitCodes: {operator: In, values: [42]}}]}
  template:
    metadata: {annotations: {testbed.windlass.dev/exit-code: "42"}}
    spec: {restartPolicy: Never, containers: [{name: main, image: r/i:1}]}
Y
waits='{.status.containerStatuses[0].state.waiting.reason}'
message='{.status.containerStatuses[0].state.waiting.message}'
soon 15 "missing secret: event" has 'MountVolume.SetUp failed for volume "certs" : secret "absent" not found' k get events --field-selector=reason=FailedMount
ok "missing secret: the pod waits" is "Pending ContainerCreating" field pod/volume "{.status.phase} $waits"
soon 15 "missing key" is "CreateContainerConfigError couldn't find key user in Secret $NS/password" field pod/key "$waits $message"
soon 15 "missing config map" is "CreateContainerConfigError configmap \"absent\" not found" field pod/from "$waits $message"
ok "failed job" k wait --for=condition=failed job/bad --timeout=20s
ok "job: exit code" is 3 k get pods -l job-name=bad -o 'jsonpath={.items[0].status.containerStatuses[0].state.terminated.exitCode}'
ok "indexed job fails for one index" k wait --for=condition=failed job/indexed --timeout=20s
ok "that index" is "1 0,2" field job/indexed '{.status.failedIndexes} {.status.completedIndexes}'
ok "pod failure policy" k wait --for=condition=failed job/policy --timeout=20s
ok "pod failure policy: reason" is PodFailurePolicy field job/policy '{.status.conditions[?(@.type=="Failed")].reason}'
soon 15 "init container crashes" is "Pending CrashLoopBackOff PodInitializing" field pod/init "{.status.phase} {.status.initContainerStatuses[0].state.waiting.reason} $waits"
k create secret generic absent --from-literal=a=b >/dev/null
k create configmap absent --from-literal=a=b >/dev/null
k patch secret password --type=merge -p '{"stringData":{"user":"x"}}' >/dev/null
ok "all go on once the objects are there" k wait --for=condition=ready pod/volume pod/key pod/from --timeout=10s
