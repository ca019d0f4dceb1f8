/** Writes the request for a value estimate as Python and as curl. */
import type { ValueBody } from '#lib/api/forest/value.ts'
import { type ApiRequest, apiCurl, apiPython } from './api-request.ts'

const requestOf = (key: string, body: ValueBody): ApiRequest => ({
  path: `/api/trajectories/${encodeURIComponent(key)}/value`,
  body,
})

/** Returns the curl command that starts an estimate. */
export const valueCurl = (key: string, body: ValueBody): string =>
  apiCurl(requestOf(key, body), 'Starts the estimate and returns it with its id. Its progress: GET /api/values/{id}.')

/** Returns the Python script that starts an estimate, waits for its end and prints the curve. */
export const valuePython = (key: string, body: ValueBody): string =>
  apiPython(
    requestOf(key, body),
    `estimate = answer
while estimate["state"] == "running":
    time.sleep(1)
    estimate = call(f"/api/values/{estimate['id']}")
for point in estimate["points"]:
    value = point["value"]
    print(point["at"], value and f"{value['mean']:.2f} [{value['low']:.2f}, {value['high']:.2f}]")
print(estimate["state"], estimate["reading"], json.dumps(estimate["cliff"]))
`,
  )
