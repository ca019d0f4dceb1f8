/** Writes the request for a value estimate as Python and as curl. Address and token come from the environment. */
import { pythonLiteral } from '#lib/analysis/requests/request-code.ts'
import type { ValueBody } from '#lib/api/forest/value.ts'

const pathOf = (key: string): string => `/api/trajectories/${encodeURIComponent(key)}/value`

/** Returns the curl command that starts an estimate. */
export const valueCurl = (key: string, body: ValueBody): string =>
  `# Starts the estimate and returns it with its id. Its progress: GET /api/values/{id}.
curl --fail-with-body "\${ROLLSCOPE_URL:-http://127.0.0.1:3000}${pathOf(key)}" \\
  -H 'Content-Type: application/json' \\
  -H 'X-Rollscope: 1' \\
  -H "Authorization: Bearer $ROLLSCOPE_TOKEN" \\
  --data-binary @- <<'JSON'
${JSON.stringify(body)}
JSON
`

/** Returns the Python script that starts an estimate, waits for its end and prints the curve. It needs only the standard library. */
export const valuePython = (key: string, body: ValueBody): string => `import json
import os
import time
import urllib.request

BASE = os.environ.get("ROLLSCOPE_URL", "http://127.0.0.1:3000")
BODY = {
${Object.entries(body)
  .map(([name, value]) => `    ${pythonLiteral(name)}: ${pythonLiteral(value)},\n`)
  .join('')}}


def call(path, body=None):
    headers = {
        "Authorization": f"Bearer {os.environ['ROLLSCOPE_TOKEN']}",
        "X-Rollscope": "1",
        "Content-Type": "application/json",
    }
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers)) as answer:
        return json.load(answer)


estimate = call(${pythonLiteral(pathOf(key))}, BODY)
while estimate["state"] == "running":
    time.sleep(1)
    estimate = call(f"/api/values/{estimate['id']}")
for point in estimate["points"]:
    value = point["value"]
    print(point["at"], value and f"{value['mean']:.2f} [{value['low']:.2f}, {value['high']:.2f}]")
print(estimate["state"], estimate["reading"], json.dumps(estimate["cliff"]))
`
