import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runToEnd } from '#lib/tasks/task.ts'
import { decode } from '#lib/trajectory/format/codec.ts'
import { inputHash, inputHashes } from '#lib/trajectory/format/input-hash.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { PNG_URL } from '#testing/images.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { checkInputs } from './check-inputs.ts'
import { fewIds, inputIds, recordedCalls, sentBodies } from './recorded-calls.ts'
import { curlText, pythonLiteral, pythonText } from './request-code.ts'

const EXAMPLES = readdirSync('public/examples').filter((name) => name.endsWith('.json'))

function example(name: string): Trajectory {
  const decoded = decode(readFileSync(`public/examples/${name}`, 'utf8'))
  if (!decoded.ok) throw new Error(name)
  return decoded.trajectory
}

test.each(EXAMPLES)('the input hash of each request in %s matches the tokens before the response', (name) => {
  const { trajectory } = pack(example(name))
  const calls = recordedCalls(trajectory)
  const checked = runToEnd(checkInputs(null, trajectory))
  expect(calls.length).toBeGreaterThan(0)
  expect(checked.map(({ hash }) => hash)).toEqual(calls.map(({ request }) => request.inputHash))
  expect(calls.map((call) => inputHash(inputIds(trajectory, call)))).toEqual(checked.map(({ hash }) => hash))
  expect(calls.map(({ inputLength }) => inputLength)).toEqual(calls.map(({ request }) => request.inputLength))
})

test('the bodies of recorded calls name the LoRA adapter', () => {
  const adapted = (name: string): Trajectory => {
    const trajectory = example(name)
    const segments = trajectory.segments.map((segment) =>
      segment.kind === 'response' && segment.request
        ? { ...segment, request: { ...segment.request, adapter: 'math' } }
        : segment,
    )
    return { ...trajectory, segments }
  }
  for (const name of EXAMPLES) {
    const trajectory = adapted(name)
    const bodies = recordedCalls(trajectory).flatMap((call) => sentBodies(trajectory, call, fewIds))
    expect([name, ...new Set(bodies.map(({ body }) => body.lora_path))]).toEqual([name, 'math'])
  }
})

test('over a chat endpoint the input ids are those that the server reports to have read', () => {
  const request = {
    server: 's',
    endpoint: 'chat' as const,
    read: { kept: 1, ids: [4, 5] },
    samplingParams: {},
    inputLength: 3,
    inputHash: inputHash([1, 4, 5]),
    streamed: false,
  }
  const trajectory = {
    ...sampleTrajectory,
    segments: sampleTrajectory.segments.map((segment) =>
      segment.kind === 'response' ? { ...segment, request } : segment,
    ),
  }
  const [call] = recordedCalls(trajectory)
  expect([...inputIds(trajectory, call as NonNullable<typeof call>)]).toEqual([1, 4, 5])
  expect(runToEnd(checkInputs(null, trajectory)).map(({ hash }) => hash)).toEqual([
    request.inputHash,
    request.inputHash,
  ])
})

test('an input hash of other ids than those of the request differs from the recorded hash', () => {
  const [call] = recordedCalls(sampleTrajectory)
  expect(call?.request.inputHash).not.toBe(runToEnd(checkInputs(null, sampleTrajectory))[0]?.hash)
})

test('the incremental input hashes equal the hashes of the whole inputs', () => {
  fc.assert(
    fc.property(fc.array(fc.array(fc.nat())), (parts) => {
      expect([...inputHashes(parts)]).toEqual(parts.map((_, i) => inputHash(parts.slice(0, i + 1).flat())))
    }),
  )
})

test('a prompt that was scored first gives two calls, as they were sent', () => {
  const [call] = recordedCalls(sampleTrajectory)
  if (!call) throw new Error('the sample has a call')
  const request = {
    ...call.request,
    rid: 'main',
    streamInterval: 8,
    logprobStartLen: 2,
    topLogprobsNum: 5,
    scoring: { rid: 'first', elapsedMs: 1 },
  }
  const fixed = { skip_special_tokens: false, spaces_between_special_tokens: false, no_stop_trim: true }
  expect(sentBodies(sampleTrajectory, { ...call, request }, Array.from)).toEqual([
    {
      purpose: 'scores',
      path: '/generate',
      body: {
        input_ids: [1, 3, 2],
        rid: 'first',
        sampling_params: { max_new_tokens: 0, temperature: 0, ...fixed },
        return_logprob: true,
        logprob_start_len: 2,
        top_logprobs_num: 5,
        stream: false,
      },
    },
    {
      purpose: 'writes',
      path: '/generate',
      body: {
        input_ids: [1, 3, 2],
        rid: 'main',
        sampling_params: { temperature: 0.7, top_p: 0.9, stream_interval: 8, ...fixed },
        return_logprob: true,
        top_logprobs_num: 5,
        stream: true,
      },
    },
  ])
  const [plain] = sentBodies(sampleTrajectory, call, Array.from)
  expect(Object.keys(plain?.body ?? {})).toEqual(['input_ids', 'sampling_params', 'return_logprob', 'stream'])
})

test('a chat request is rebuilt from what each call adds to the one before', () => {
  const of = (kept: number, ...contents: readonly string[]) => ({
    server: 's',
    rid: 'r',
    endpoint: 'chat' as const,
    chat: { model: 'm', kept, messages: contents.map((content) => ({ role: 'user', content })) },
    samplingParams: { temperature: 0, max_completion_tokens: 5 },
    inputLength: 3,
    inputHash: '',
    streamed: false,
  })
  const requests = [of(0, 'a', 'b'), of(1, 'c')]
  const trajectory = {
    ...sampleTrajectory,
    segments: sampleTrajectory.segments.map((segment) =>
      segment.kind === 'response' ? { ...segment, request: requests.shift() } : segment,
    ),
  } as Trajectory
  const bodies = recordedCalls(trajectory).flatMap((call) => sentBodies(trajectory, call, fewIds))
  expect(bodies.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/chat/completions'])
  expect(bodies.map(({ body }) => (body.messages as { content: string }[]).map(({ content }) => content))).toEqual([
    ['a', 'b'],
    ['a', 'c'],
  ])
  expect(Object.keys(bodies[0]?.body ?? {})).toEqual([
    'model',
    'messages',
    'tools',
    'temperature',
    'max_completion_tokens',
    'chat_template_kwargs',
    'stream',
    'logprobs',
    'return_token_ids',
    'rid',
  ])
  expect(curlText(bodies)).toContain('"$SGLANG_BASE_URL/v1/chat/completions"')
  const [call] = recordedCalls(trajectory)
  const { chat: _, ...bare } = call?.request ?? {}
  expect(sentBodies(trajectory, { ...call, request: bare } as never, fewIds)).toEqual([])
})

test('a short list of ids states how many are left out', () => {
  expect(fewIds(Int32Array.from({ length: 24 }, (_, i) => i))).toHaveLength(24)
  expect(fewIds(Int32Array.from({ length: 100 }, (_, i) => i))).toEqual([
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    '… 88 more …',
    96,
    97,
    98,
    99,
  ])
})

const body = { input_ids: [1, 2], sampling_params: { stop: ["it's", '$HOME `x` \\ "q"\n'], x: null }, stream: true }

test('the curl text passes the body byte for byte', () => {
  const text = curlText([{ purpose: 'writes', path: '/generate', body }])
  const stub = 'curl() { for argument; do printf "%s\\n" "$argument" >&2; done; cat; }\n'
  const { stdout, stderr } = spawnSync('bash', ['-c', stub + text], {
    encoding: 'utf8',
    env: { ...process.env, SGLANG_BASE_URL: 'http://there:1', SGLANG_API_KEY: 'k' },
  })
  expect(JSON.parse(stdout)).toEqual(body)
  expect(stderr.split('\n')).toContain('http://there:1/generate')
  expect(stderr.split('\n')).toContain('Authorization: Bearer k')
})

const hasPython = spawnSync('python3', ['--version']).status === 0

test.skipIf(!hasPython)('the Python text runs in Python, and its literals equal the JSON', () => {
  const values = fc.sample(fc.jsonValue(), { numRuns: 200, seed: 1 })
  const script = `
import ast, json, sys
given = json.load(sys.stdin)
for literal, text in given["literals"]:
    assert json.dumps(ast.literal_eval(literal), sort_keys=True) == json.dumps(json.loads(text), sort_keys=True), literal
for program in given["programs"]:
    compile(program, "request.py", "exec")
print("held")`
  const input = JSON.stringify({
    literals: [...values, body].map((value) => [pythonLiteral(value), JSON.stringify(value)]),
    programs: [
      pythonText([{ purpose: 'writes', path: '/generate', body }]),
      pythonText([{ purpose: 'writes', path: '/v1/chat/completions', body: { stream: false } }]),
    ],
  })
  expect(execFileSync('python3', ['-c', script], { input, encoding: 'utf8' }).trim()).toBe('held')
})

test.each([undefined, { a: undefined }, [1n], () => 1])('pythonLiteral refuses %s, which is not JSON', (value) => {
  expect(() => pythonLiteral(value)).toThrow(TypeError)
})

test('the body of a call with images has those before its response, one placeholder each, and positions as the server counts', () => {
  const [PAD, TEXT, TURN] = [1, 2, 3]
  const request = { server: 's', samplingParams: {}, inputLength: 0, inputHash: '', streamed: false, rid: 'r' }
  const image = { role: 'user' as const, content: [{ type: 'image', image: PNG_URL }] }
  const response = (ids: readonly number[], more: object) => ({
    kind: 'response' as const,
    ids,
    thinks: [],
    toolCalls: [],
    request: { ...request, ...more },
  })
  const trajectory: Trajectory = {
    ...sampleTrajectory,
    vocab: { [PAD]: '<|image_pad|>', [TEXT]: 'a', [TURN]: 'b' },
    model: { ...sampleTrajectory.model, tokenizer: { name: 't', specialIds: [PAD] } },
    segments: [
      { kind: 'prompt', ids: [TEXT, PAD, PAD, TEXT], messages: [image] },
      response([TURN], { logprobStartLen: 0, images: { count: 1, tokens: [5] } }),
      { kind: 'prompt', ids: [TEXT, PAD], messages: [image] },
      response([TURN], { logprobStartLen: 4, images: { count: 2 } }),
    ],
  }
  const bodies = recordedCalls(trajectory).flatMap((call) => sentBodies(trajectory, call, Array.from))
  expect(bodies.map(({ body }) => [body.input_ids, body.image_data, body.logprob_start_len])).toEqual([
    [[TEXT, PAD, TEXT], [PNG_URL], 0],
    [[TEXT, PAD, TEXT, TURN, TEXT, PAD], [PNG_URL, PNG_URL], 7],
  ])
  expect(bodies[0]?.body.return_prompt_token_ids).toBe(true)
  const [shown] = recordedCalls(trajectory).flatMap((call) => sentBodies(trajectory, call, fewIds))
  expect(shown?.body.image_data).toEqual([`${PNG_URL.slice(0, 64)}… ${PNG_URL.length - 64} more characters …`])
})
