/**
 * A process with a session that a test kills during its second call. Arguments: the data folder, and the name of the session in its address.
 * Prints what it does as lines.
 */
import { AUTO_SESSION } from '#lib/api/sessions/session.ts'
import type { EngineClient } from '#lib/engine/engine.ts'
import { says } from '#testing/scripted-rollout.ts'
import { testServices } from '#testing/services.ts'
import { chatml } from '#testing/small-templates.ts'
import type { Services } from '../services.ts'
import { answerClient } from './client-call.ts'

const [folder = '', name = ''] = process.argv.slice(2)
let calls = 0
const generate: EngineClient['generate'] = (_, signal) => {
  calls++
  if (calls === 1) return says('one')
  return (async function* () {
    yield { tokens: { ids: [104, 97], logprobs: [-1, -1] }, problems: [] }
    console.log('generating')
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })()
}
const services: Services = testServices(folder, {
  template: () => chatml,
  describe: async () => ({ kind: 'server', modelName: 'bytes', contextLength: 4096, incrementalStreaming: true }),
  generate,
})
if (name !== AUTO_SESSION) services.sessions.create({}, name)

const send = (messages: readonly object[]): Promise<Response> =>
  answerClient(
    'chat',
    name,
    new Request('http://localhost/', { method: 'POST', body: JSON.stringify({ model: 'm', messages }) }),
    services,
  )

const question = { role: 'user', content: 'a' }
const first = (await (await send([question])).json()) as { readonly choices: readonly [{ readonly message: object }] }
console.log(JSON.stringify(first.choices[0].message))
// The process is killed meanwhile, and the wait would let it end.
const keepAlive = setInterval(() => {}, 1000)
await send([question, first.choices[0].message, { role: 'user', content: 'b' }])
clearInterval(keepAlive)
