/** Writes a recorded call as a shell command and as a Python program. Both read the server's address and key from the environment. */
import type { SentBody } from './recorded-calls.ts'

/** Returns curl commands. Bodies are passed on the standard input, because Linux refuses arguments of more than 128 KiB. */
export function curlText(bodies: readonly SentBody[]): string {
  return bodies
    .map(
      ({ purpose, path, body }) => `# ${PURPOSES[purpose]}
curl --fail-with-body${body.stream === true ? ' --no-buffer' : ''} "$SGLANG_BASE_URL${path}" \\
  -H 'Content-Type: application/json' \\
  -H "Authorization: Bearer $SGLANG_API_KEY" \\
  --data-binary @- <<'JSON'
${JSON.stringify(body)}
JSON
`,
    )
    .join('\n')
}

/** Returns a Python program that sends the requests. It needs httpx. */
export function pythonText(bodies: readonly SentBody[]): string {
  const parts = bodies.map(({ purpose, path, body }) => {
    const lines = Object.entries(body).map(([key, value]) => `    ${pythonLiteral(key)}: ${pythonLiteral(value)},`)
    return `# ${PURPOSES[purpose]}
url = base + ${pythonLiteral(path)}
body = {
${lines.join('\n')}
}
${body.stream === true ? STREAMED : PLAIN}`
  })
  return `import os

import httpx

base = os.environ["SGLANG_BASE_URL"]
key = os.environ.get("SGLANG_API_KEY")
headers = {"Authorization": f"Bearer {key}"} if key else {}

${parts.join('\n')}`
}

const PURPOSES: Readonly<Record<SentBody['purpose'], string>> = {
  scores: 'Returns the logprobs of the prompt, without sampling.',
  writes: 'Samples the response.',
}

const PLAIN = `reply = httpx.post(url, json=body, headers=headers, timeout=None)
reply.raise_for_status()
print(reply.json())
`

const STREAMED = `with httpx.stream("POST", url, json=body, headers=headers, timeout=None) as reply:
    reply.raise_for_status()
    for line in reply.iter_lines():
        if line:
            print(line)
`

/** Returns a JSON value as a Python literal. JSON's string escapes are valid in Python. Throws TypeError for a value that is not JSON. */
export function pythonLiteral(value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`
  if (typeof value === 'object')
    return `{${Object.entries(value)
      .map(([key, item]) => `${pythonLiteral(key)}: ${pythonLiteral(item)}`)
      .join(', ')}}`
  if (typeof value !== 'string' && typeof value !== 'number') throw new TypeError(`no JSON: ${typeof value}`)
  return JSON.stringify(value)
}
