/** Code that sends a trainer’s logprobs to a stored trajectory. */
import { isTrained, segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Ids in the example: enough to see whether they agree. */
const SHOWN = 3

/** Returns the first trained tokens, for which the example sends values. */
function firstTrained({ segments }: TrajectoryView): { readonly start: number; readonly ids: readonly number[] } {
  const starts = segmentStarts({ segments })
  for (const [index, segment] of segments.entries())
    for (let offset = 0; offset < segment.ids.length; offset++)
      if (isTrained(segment, offset))
        return {
          start: elementAt(starts, index) + offset,
          ids: Array.from({ length: Math.min(SHOWN, segment.ids.length - offset) }, (_, at) =>
            elementAt(segment.ids, offset + at),
          ),
        }
  return { start: 0, ids: [] }
}

const MEANING = { quantity: 'logprob', model: 'trainer', values: 'raw', engine: 'fsdp' }

const bodyOf = (trajectory: TrajectoryView) => {
  const { start, ids } = firstTrained(trajectory)
  return { columns: { trainerLogprobs: { start, ids, values: ids.map(() => -0.5), meaning: MEANING } } }
}

const pathOf = (key: string): string => `/api/trajectories/${encodeURIComponent(key)}/columns`

/** Returns a Python script that needs only the standard library. */
export const sendingPython = (key: string, trajectory: TrajectoryView): string => `import json, os, urllib.request

base = os.environ.get("ROLLSCOPE_URL", "http://127.0.0.1:3000")
headers = {"Authorization": f"Bearer {os.environ['ROLLSCOPE_TOKEN']}", "X-Rollscope": "1", "Content-Type": "application/json"}
body = ${JSON.stringify(bodyOf(trajectory))}
request = urllib.request.Request(base + ${JSON.stringify(pathOf(key))}, json.dumps(body).encode(), headers, method="PATCH")
print(urllib.request.urlopen(request).read().decode())
`

/** Returns a cURL command. */
export const sendingCurl = (key: string, trajectory: TrajectoryView): string =>
  `curl -X PATCH "\${ROLLSCOPE_URL:-http://127.0.0.1:3000}${pathOf(key)}" -H "Authorization: Bearer $ROLLSCOPE_TOKEN" \\
  -H 'X-Rollscope: 1' -H 'Content-Type: application/json' -d '${JSON.stringify(bodyOf(trajectory))}'
`
