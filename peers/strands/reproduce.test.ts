/**
 * Runs the code of “Copy as Python script” and “Copy as cURL”: the real Python strands-sglang and the real curl send the ids
 * that the run of Rollscope began with, and at temperature 0 they get the same tokens.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, inject, test } from 'vitest'
import { rolloutCurl } from '#lib/share/reproduce/curl.ts'
import { pythonScript } from '#lib/share/reproduce/python-script.ts'
import { repeatableRunOfRequest, repeatableRunOfTrajectory } from '#lib/share/reproduce/repeatable-run.ts'
import { rolloutEventSchema } from '#lib/trajectory/events/event-schema.ts'
import { applyEvent, type LiveTrajectory, type RolloutEvent } from '#lib/trajectory/events/events.ts'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { application } from '../set-up/application.ts'
import { APPLICATION_TOKEN } from '../set-up/processes.ts'

const places = inject('strands')
const rollscope = application(places.application)

const weather = {
  name: 'get_weather',
  description: 'The weather in a city.',
  inputSchema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'The city.' } },
    required: ['city'],
  },
  mock: { reply: { kind: 'templated', template: 'Sunny in {{city}}.' } },
}
/** Strands adds descriptions to such a schema, but the model gets it unchanged. */
const undescribed = {
  name: 'get_weather',
  inputSchema: { properties: { city: { type: 'string' }, at: { type: 'object', properties: { day: {} } } } },
  mock: { reply: { kind: 'templated', template: '{{at.day}} in {{city}}' }, failure: { kind: 'always', error: 'no' } },
}
const ASKS_FOR_THINKING = `{% if enable_thinking is defined %}told{% endif %}{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`
const settings = { server: 'built-in', sampling: { temperature: 0, max_new_tokens: 256 } }

const RUNS: readonly (readonly [string, object, readonly string[]])[] = [
  [
    'a question',
    { prompt: 'What is 25 * 17, and then plus 9?', system: 'You are a helpful assistant.', tools: ['calculator'] },
    [],
  ],
  ['a mock tool', { prompt: 'What is the weather in Rome?', tools: ['calculator', weather] }, []],
  [
    'a conversation',
    {
      messages: [
        { role: 'system', content: 'You are a helpful assistant.' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello!' },
        { role: 'user', content: 'What is 3 * 4?' },
      ],
      tools: ['calculator'],
      templateOptions: { enable_thinking: false },
    },
    [],
  ],
  ['ids', { ids: [1, 73, 74, 75] }, []],
  ['a tool without descriptions', { prompt: 'What is the weather in Rome?', tools: [undescribed] }, []],
  ['a template that was not told of thinking', { prompt: 'Hello!', chatTemplate: ASKS_FOR_THINKING }, []],
  ['a context window of the run', { prompt: 'Hello!', limits: { contextWindow: 120 } }, []],
  [
    'turns, each with limits of its own',
    {
      prompt: 'What is 25 * 17?',
      system: 'You are a helpful assistant.',
      tools: ['calculator'],
      limits: { maxToolIterations: 1 },
    },
    ['What is 12 * 3?', 'What is 7 * 8?'],
  ],
]

test.each(RUNS)('the request code of %s reproduces the response', async (_, opening, turns) => {
  const trajectory = await recorded({ ...opening, ...settings }, turns)
  const again = repeatableRunOfTrajectory(trajectory)
  if (!again) throw new Error('nothing was read')
  const [made] = await scriptRuns(pythonScript(again, { baseUrl: rollscope.baseUrl }))
  const [first] = trajectory.segments
  expect(made?.rollout.segment_info[0]).toEqual([false, first?.ids.length])
  expect(made?.rollout.token_ids).toEqual(ids(trajectory))
  if (turns.length > 0) expect(made?.stopped).toContain('Max tool iterations (1) reached')
  else if (first?.kind === 'prompt' && first.messages.length > 0) expect(made?.stopped).toBeNull()

  const called = ids(replayed(await curlRuns(rolloutCurl(again))))
  // The call makes only the first turn; a comment below it explains the others.
  expect(called).toEqual(turns.length > 0 ? ids(trajectory).slice(0, called.length) : ids(trajectory))
})

test('a reproduced setup has samples of one prompt, with a tool without a known schema', async () => {
  const server = { server: 'built-in', sampling: { temperature: 0, max_new_tokens: 16 } }
  const tools = ['calculator', { mcp: 'files', name: 'search' }]
  const script = pythonScript(repeatableRunOfRequest({ prompt: 'Hi', tools, ...server }, { samples: 3 }), {
    baseUrl: rollscope.baseUrl,
  })
  const made = await scriptRuns(script)
  expect(made).toHaveLength(3)
  for (const { rollout } of made) expect(rollout.token_ids).toEqual(made[0]?.rollout.token_ids)

  const call = rolloutCurl(repeatableRunOfRequest({ prompt: 'Hi', ...server }, { samples: 3 }))
  expect(JSON.parse(await curlRuns(call)).samples).toHaveLength(3)
})

interface ScriptRun {
  readonly rollout: { readonly token_ids: readonly number[]; readonly segment_info: readonly unknown[] }
  readonly stopped: unknown
}

async function scriptRuns(script: string): Promise<readonly ScriptRun[]> {
  const environment = { MODEL: places.model, HF_HUB_OFFLINE: '1' }
  const lines = await output(places.python, ['-c', script], environment)
  return lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const curlRuns = (call: string): Promise<string> =>
  output('bash', ['-c', call], { ROLLSCOPE_URL: rollscope.baseUrl, ROLLSCOPE_TOKEN: APPLICATION_TOKEN })

/** Runs a conversation with further turns, all with the same settings. */
async function recorded(
  request: { readonly limits?: object; readonly sampling: object; readonly server: string },
  turns: readonly string[],
): Promise<Trajectory> {
  const started = await rollscope.post('/api/rollouts', request)
  const key = encodeURIComponent(started.headers.get('x-trajectory-id') ?? '')
  await started.text()
  const { limits = {}, sampling, server } = request
  for (const prompt of turns) {
    const again = { prompt, limits, sampling, server }
    await (await rollscope.post(`/api/trajectories/${key}/continue`, again)).text()
  }
  const decoded = decodeValue(await (await rollscope.get(`/api/trajectories/${key}`)).json())
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.error))
  return decoded.trajectory
}

/** Returns the trajectory of a rollout's events. */
function replayed(lines: string): Trajectory {
  const events = lines.split('\n').flatMap((line) => (line === '' ? [] : [rolloutEventSchema.parse(JSON.parse(line))]))
  const made = (events as readonly RolloutEvent[]).reduce<LiveTrajectory | undefined>(applyEvent, undefined)
  if (!made) throw new Error('there are no events')
  return made
}

async function output(program: string, parameters: readonly string[], environment: object): Promise<string> {
  const child = spawn(program, parameters, { env: { ...process.env, ...environment } })
  const closed = once(child, 'close')
  const [written, errors] = await Promise.all(
    [child.stdout, child.stderr].map(async (stream) => (await stream.setEncoding('utf8').toArray()).join('')),
  )
  const [status] = await closed
  if (status !== 0) throw new Error(`${program} failed:\n${errors?.slice(-3000)}`)
  return written ?? ''
}
