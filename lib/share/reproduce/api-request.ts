/** Writes a request to Rollscope's HTTP API as curl and as Python. Address and token come from the environment. */
import { pythonLiteral } from '#lib/analysis/requests/request-code.ts'

/** A request with a JSON body. */
export interface ApiRequest {
  readonly path: string
  readonly body: object
}

/** Returns the curl command of a request. `about` is its comment; `options` are further options of curl. */
export const apiCurl = ({ path, body }: ApiRequest, about: string, options = ''): string =>
  // The body is passed on the standard input, because Linux refuses arguments of more than 128 KiB.
  `# ${about}
curl --fail-with-body ${options}"\${ROLLSCOPE_URL:-http://127.0.0.1:3000}${path}" \\
  -H 'Content-Type: application/json' \\
  -H 'X-Rollscope: 1' \\
  -H "Authorization: Bearer $ROLLSCOPE_TOKEN" \\
  --data-binary @- <<'JSON'
${JSON.stringify(body)}
JSON
`

/**
 * Returns a Python script that sends a request and continues with `program`, which has its answer in `answer`, and a function
 * `call(path, body=None)` for further requests. It needs only the standard library.
 */
export const apiPython = ({ path, body }: ApiRequest, program: string): string => `import json
import os
import time
import urllib.parse
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
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers)) as reply:
        return json.load(reply)


answer = call(${pythonLiteral(path)}, BODY)
${program}`
