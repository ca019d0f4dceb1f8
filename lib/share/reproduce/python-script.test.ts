/** Parses and runs the scripts with Python. */
import { execFileSync, spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunRequest } from '#lib/api/run-request.ts'
import { failureAt, replyTo } from '#lib/tools/mock-reply.ts'
import { anyText } from '#testing/strings.ts'
import { pythonScript } from './python-script.ts'
import { type RepeatableRun, repeatableRunOfRequest } from './repeatable-run.ts'
import { addTool, BASE, searchTool, weather, whole } from './test-requests.ts'

test('pythonScript notes the images that it leaves out, of a question and of messages', () => {
  const image = { type: 'image', image: 'data:image/png;base64,AA==' }
  const messages = [{ role: 'user' as const, content: [image, { type: 'text', text: 'q' }] }]
  for (const request of [{ messages }, { prompt: 'q', images: [image.image] }])
    expect(pythonScript(repeatableRunOfRequest(request), BASE)).toContain('The images of messages are left out')
  expect(pythonScript(repeatableRunOfRequest({ prompt: 'q' }), BASE)).not.toContain('images')
})

test('the Python script names what strands-sglang cannot express', () => {
  const script = pythonScript(repeatableRunOfRequest({ ...whole, parser: 'llama3', tokenizer: 'server' }), BASE)
  const odd = pythonScript(
    repeatableRunOfRequest({ prompt: 'q', sampling: { top_p: 1, further: { odd: true } } }),
    BASE,
  )
  expect(odd).toContain('SAMPLING = {"max_new_tokens": 1024, "odd": True, "top_p": 1}')
  expect(script).toContain('no parser llama3')
  expect(script).toContain('strands-sglang has no limit maxTokens (99 in the run).')
  expect(script).toContain('MODEL = os.environ["MODEL"]')
  expect(script).toContain('LoopLimiter(max_tool_iters=2)')
  expect(script).toContain('only recorded results: search')
  expect(pythonScript(repeatableRunOfRequest({ prompt: 'q', endpoint: 'chat' }), { baseUrl: undefined })).toMatch(
    /over a chat endpoint[\s\S]*os\.environ\["SGLANG_BASE_URL"\]/,
  )
  const reasoning = { role: 'assistant', content: 'a', reasoning: 'r' } as const
  const messages = [reasoning, { role: 'user', content: 'q' }] as const
  expect(pythonScript(repeatableRunOfRequest({ messages }), BASE)).toContain('Structured calls and reasoning')
  expect(pythonScript({ ...repeatableRunOfRequest({ ids: [1] }), turns: ['x'] }, BASE)).toContain(
    'samples only the first response',
  )
})

test('the Python script has the known schema of each tool, and names the tools whose schema is unknown', () => {
  const request: RunRequest = { prompt: 'q', tools: ['add', { mcp: 'files', name: 'search' }] }
  const known = pythonScript(
    repeatableRunOfRequest(request, { specs: [addTool, { ...searchTool, name: 'add' }, searchTool] }),
    BASE,
  )
  expect(known).toContain('"description": "Adds"')
  expect(known).toContain('"description": "Searches files"')
  expect(known).not.toContain('schemas of these tools are unknown')
  const unknown = pythonScript(
    repeatableRunOfRequest(request, { specs: [{ ...searchTool, mcp: { server: 'other' } }] }),
    BASE,
  )
  expect(unknown).toContain('The schemas of these tools are unknown: add, search.')
  expect(unknown).toContain('"properties": {}}}},  # add its schema here, which is unknown')
})

const hasPython = spawnSync('python3', ['--version']).status === 0

test.runIf(hasPython)('the Python script is valid Python for any run', () => {
  const text = anyText({ maxLength: 12 })
  const requests = fc.record(
    {
      opening: fc.oneof(
        fc.record({ prompt: text }),
        fc.record({ text }),
        fc.record({ ids: fc.array(fc.nat(), { minLength: 1 }) }),
      ),
      system: text,
      chatTemplate: text,
      adapter: text,
      tokenizer: text,
      tools: fc.subarray(['calculator', 'python', weather, { mcp: 'files', name: 'search' }] as const),
      samples: fc.integer({ min: 1, max: 2 }),
      templateOptions: fc.dictionary(fc.constantFrom('enable_thinking', 'date', 'a b'), fc.jsonValue(), {
        maxKeys: 2,
      }),
      turns: fc.array(text, { maxLength: 2 }),
    },
    { requiredKeys: ['opening', 'tools', 'turns', 'samples'] },
  )
  const sampled = fc.sample(requests, 60)
  const scripts = [
    pythonScript(repeatableRunOfRequest(whole), BASE),
    ...sampled.map(({ opening, turns, samples, ...rest }) =>
      pythonScript({ ...repeatableRunOfRequest({ ...opening, ...rest } as RunRequest, { samples }), turns }, BASE),
    ),
  ]
  const check = 'import ast, json, sys\nfor source in json.load(sys.stdin): ast.parse(source)\nprint("parsed")'
  const input = JSON.stringify(scripts.map((script) => script.replace(/[\ud800-\udfff]/g, (c) => c)))
  expect(execFileSync('python3', ['-c', check], { input, encoding: 'utf8' }).trim()).toBe('parsed')
})

/** Runs calls with the tools of a script, which come before with_options(), and returns their results. */
function answersOf(again: RepeatableRun, asked: readonly (readonly [string, unknown])[]): readonly string[] {
  const script = pythonScript(again, BASE)
  const tools = script.slice(script.indexOf('\nOPTIONS = '), script.indexOf('def with_options'))
  const program = `import asyncio, json, re, sys
from collections.abc import Callable
from fractions import Fraction
PythonAgentTool = lambda name, spec, call: (name, call)
${tools}
async def main():
    tools = dict(tools_of_a_run())
    for name, value in json.load(sys.stdin):
        result = await tools[name]({"name": name, "input": value, "toolUseId": "t"})
        print(json.dumps(result["content"][0]["text"]))
asyncio.run(main())`
  const output = execFileSync('python3', ['-c', program], { input: JSON.stringify(asked), encoding: 'utf8' })
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test.runIf(hasPython)(
  'tools of the Python script return their recorded results first, and then compute results',
  () => {
    const again = {
      ...repeatableRunOfRequest(whole),
      results: { search: [{ status: 'success', text: 'found' }] },
    } as RepeatableRun
    expect(
      answersOf(again, [
        ['search', {}],
        ['search', {}],
        ['weather', { city: 'Rome' }],
        ['calculator', { expression: '(1 + 2) * 3 / 4' }],
        ['calculator', { expression: '9^9^9' }],
      ]),
    ).toEqual([
      'found',
      'Error: no recorded result is left',
      'Sunny in Rome: {"city":"Rome"}',
      '2.25',
      'Error: the result is too large (more than 1,000 digits)',
    ])
  },
)

test.runIf(hasPython)('mock tools of the Python script reply as Rollscope’s mock tools do', () => {
  const place = fc.constantFrom('.', 'a', ' a.b ', 'a.0', 'a.00', 'a.length', '', 'b.-1', 'constructor')
  const template = fc
    .array(
      fc.oneof(
        fc.string(),
        place.map((path) => `{{${path}}}`),
      ),
    )
    .map((parts) => parts.join(''))
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, true, 1, 2.5, -3, 1e20, 'é"\n', '{{a}}'),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c d'), tie('value'), { maxKeys: 3 }),
    ),
  })).value
  const failure = fc.oneof(
    fc.constant({ kind: 'always', error: 'e' } as const),
    fc.record({ kind: fc.constant('calls' as const), calls: fc.array(fc.integer({ min: 1, max: 3 })), error: place }),
    fc.record({ kind: fc.constant('every' as const), nth: fc.integer({ min: 2, max: 3 }), error: place }),
  )
  const mock = fc.record(
    {
      reply: fc.oneof(
        fc.record({ kind: fc.constant('canned' as const), text: fc.string() }),
        fc.record({ kind: fc.constant('templated' as const), template }),
      ),
      failure,
    },
    { requiredKeys: ['reply'] },
  )
  const cases = fc.sample(fc.tuple(mock, fc.array(value, { minLength: 1, maxLength: 4 })), 100)
  const tools = cases.map(([mock], index) => ({ name: `mock${index}`, inputSchema: {}, mock }))
  const calls = cases.flatMap(([mock, values], index) =>
    values.map((value, before) => ({ name: `mock${index}`, mock, value, number: before + 1 })),
  )
  const answers = answersOf(
    repeatableRunOfRequest({ prompt: 'q', tools }),
    calls.map(({ name, value }) => [name, value]),
  )
  expect(answers).toEqual(
    calls.map(({ mock, value, number }) => {
      const error = failureAt(mock, number)
      return error === undefined ? replyTo(mock, value) : `Error: ${error}`
    }),
  )
})

/** Returns the lines that the script prints. Its packages are replaced by stand-ins that record what they receive. */
function printed(again: RepeatableRun): unknown[] {
  const output = execFileSync('python3', ['-c', `${STAND_INS}\n${pythonScript(again, BASE)}`], {
    env: { ...process.env, MODEL: 'm' },
    encoding: 'utf8',
  })
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

test.runIf(hasPython)(
  'the Python script sends every question with limits of its own, also after one that was stopped',
  () => {
    const request: RunRequest = {
      prompt: 'stop here',
      templateOptions: { date: 'today' },
      limits: { maxToolIterations: 1 },
    }
    expect(printed({ ...repeatableRunOfRequest(request), turns: ['two'] })).toEqual([
      {
        rollout: [{ max_new_tokens: 1024 }, { tokenize: false, date: 'today' }, 'reset', 'stop here', 'reset', 'two'],
        stopped: null,
      },
    ])
    expect(printed({ ...repeatableRunOfRequest(request), turns: ['two', 'stop'] })).toMatchObject([
      { stopped: "ValueError('stop')" },
    ])
    const thinks = { prompt: 'q', templateOptions: { enable_thinking: true } }
    expect(printed(repeatableRunOfRequest(thinks))).toMatchObject([
      { rollout: [{}, { tokenize: false, enable_thinking: true }, 'q'] },
    ])
  },
)

test.each([[{ prompt: 'q' }], [{ ids: [1] }]])(
  'the Python script of %j sends the LoRA adapter with every call',
  (opening) => {
    const script = pythonScript(repeatableRunOfRequest({ ...opening, adapter: 'a "b"' }), BASE)
    expect(script).toContain('import functools\n')
    expect(script).toContain('ADAPTER = "a \\"b\\""')
    expect(script).toContain('client.generate = functools.partial(client.generate, lora_path=ADAPTER)')
    expect(pythonScript(repeatableRunOfRequest(opening), BASE)).not.toMatch(/functools|lora/)
  },
)

test('the Python script requests routed experts, or says that it does not', () => {
  expect(pythonScript(repeatableRunOfRequest({ prompt: 'q', routedExperts: true }), BASE)).toContain(
    'return_routed_experts=True,',
  )
  expect(pythonScript(repeatableRunOfRequest({ ids: [1], routedExperts: true }), BASE)).toContain(
    'does not request routed experts',
  )
  expect(pythonScript(repeatableRunOfRequest({ prompt: 'q' }), BASE)).not.toContain('routed')
})

test('the Python script gives an agent the context window of the run, or none', () => {
  const windowOf = (limits: RunRequest['limits']) =>
    pythonScript(repeatableRunOfRequest({ prompt: 'q', ...(limits && { limits }) }), BASE)
  expect(windowOf({ contextWindow: 512 })).toContain('CONTEXT_WINDOW = 512')
  expect(windowOf({ contextWindow: 512 })).not.toContain('strands-sglang has no limit')
  expect(windowOf(undefined)).toContain('CONTEXT_WINDOW = None')
  expect(windowOf(undefined)).toContain('context_window_limit=CONTEXT_WINDOW')
})

test.runIf(hasPython)(
  'the Python script lowers max_new_tokens of given ids to the space in the context of the server or the run',
  () => {
    const sent = (limits: RunRequest['limits']) =>
      printed(repeatableRunOfRequest({ ids: Array(4000).fill(1), ...(limits && { limits }) })).map(
        (line) => (line as { rollout: [unknown, { max_new_tokens: number }] }).rollout[1].max_new_tokens,
      )
    expect(sent(undefined)).toEqual([96])
    expect(sent({ contextWindow: 4010 })).toEqual([10])
    expect(sent({ contextWindow: 10_000 })).toEqual([1024])
  },
)

test.runIf(hasPython)(
  'the Python script runs the requested number of samples, each with its own seed and messages',
  () => {
    const request: RunRequest = { prompt: 'q', sampling: { sampling_seed: 5, max_new_tokens: 2 } }
    const rule = { kind: 'exact', expected: '4' } as never
    const again = repeatableRunOfRequest(request, { samples: 3, reward: rule })
    expect(pythonScript(again, BASE)).toContain('computes no rewards')
    expect(printed(again)).toMatchObject(
      [5, 6, 7].map((seed) => ({ rollout: [{ sampling_seed: seed, max_new_tokens: 2 }, {}, 'q'] })),
    )
    const { prompt: _, ...rest } = request
    expect(printed(repeatableRunOfRequest({ ...rest, ids: [1] }, { samples: 2 }))).toEqual(
      [5, 6].map((seed) => ({
        rollout: [[1], { skip_special_tokens: false, sampling_seed: seed, max_new_tokens: 2 }],
        stopped: 'stop',
      })),
    )
  },
)

/** Stand-ins for strands, strands-sglang and transformers. A rollout is the list of what they received. */
const STAND_INS = `
import json, sys, types

class Rollout(list):
    def model_dump_json(self): return json.dumps(self)
    def add_prompt(self, ids, logprobs): self.append(ids)
    def add_response(self, ids, logprobs): self.append(sampled)

class Model:
    def __init__(self, *, tokenizer, sampling_params, **_):
        kwargs = {"tokenize": False, "enable_thinking": True}
        self.rollout = Rollout([sampling_params, tokenizer.apply_chat_template([], **kwargs)])

class Agent:
    def __init__(self, *, model, messages, hooks=(), **_):
        assert messages == []
        self.model, self.messages = model, messages
        for hook in hooks: hook.told = model.rollout
    async def invoke_async(self, prompt):
        self.messages.append(prompt)
        self.model.rollout.append(prompt)
        if "stop" in prompt: raise ValueError("stop")

class Limiter:
    def __init__(self, **_): pass
    def reset(self): self.told.append("reset")

class Tokenizer:
    @staticmethod
    def from_pretrained(name): return Tokenizer()
    def apply_chat_template(self, messages, **given): return given

class Client:
    def __init__(self, **_): pass
    async def __aenter__(self): return self
    async def __aexit__(self, *_): pass
    async def max_model_len(self): return 4096
    async def generate(self, ids, *, sampling_params, **_):
        global sampled
        sampled = sampling_params
        return {"meta_info": {"input_token_logprobs": [], "output_token_logprobs": [], "finish_reason": "stop"}}

for name, members in {
    "strands": {"Agent": Agent},
    "strands.agent": {},
    "strands.agent.conversation_manager": {"NullConversationManager": object},
    "strands_sglang": {"LoopLimiter": Limiter, "SGLangClient": Client, "SGLangModel": Model, "Rollout": Rollout,
                       "get_tool_parser": lambda name: name},
    "transformers": {"AutoTokenizer": Tokenizer},
}.items():
    sys.modules[name] = types.ModuleType(name)
    vars(sys.modules[name]).update(members)
`
