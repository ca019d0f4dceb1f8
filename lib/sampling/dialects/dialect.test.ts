import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#lib/json/json-object.ts'
import { isOwnParameter, isSamplingName, samplingNames } from '#lib/sampling/parameters.ts'
import { readSamplingText } from '#lib/sampling/texts.ts'
import { anyText } from '#testing/strings.ts'
import { readDialect } from './dialect.ts'
import { FORMATS, IGNORED, OTHER_NAMES, SAMPLE_NAMES, WRAPPERS } from './names.ts'
import { readDialectText } from './text.ts'
import { LONGEST_DIALECT } from './text-limits.ts'

const read = (text: string) => {
  const found = readDialectText(text)
  return found.ok ? readDialect(found.values, found.unread) : readDialect({})
}
const valuesOf = (text: string) => {
  const found = readDialectText(text)
  return found.ok ? { ...found.values, ...(found.unread.size > 0 && { unread: [...found.unread] }) } : found.why
}
const nothingElse = { samples: undefined, ignored: [], problems: [] }

describe('readDialect reads the same sampling from', () => {
  test('Hugging Face’s generation_config.json', () => {
    const qwen = {
      bos_token_id: 151643,
      do_sample: true,
      eos_token_id: [151645, 151643],
      pad_token_id: 151643,
      temperature: 0.6,
      top_k: 20,
      top_p: 0.95,
      transformers_version: '4.51.0',
    }
    const { sampling, ignored, problems } = read(JSON.stringify(qwen))
    expect(sampling).toEqual({ temperature: '0.6', top_k: '20', top_p: '0.95', stop_token_ids: '151645, 151643' })
    expect(ignored.map(({ name }) => name)).toEqual([
      'bos_token_id',
      'do_sample',
      'pad_token_id',
      'transformers_version',
    ])
    expect(problems).toEqual([])
  })

  test('the shipped model’s file', () => {
    const { sampling, problems } = read(readFileSync('models/tiny-qwen3/generation_config.json', 'utf8'))
    expect(Object.keys(sampling)).toContain('stop_token_ids')
    expect(problems).toEqual([])
  })

  test('vLLM’s call, in Python', () => {
    expect(
      read(
        'params = SamplingParams(n=4, temperature=1.0, top_k=-1, max_tokens=2_048, stop=["User:", "\\n\\n"], seed=None)',
      ),
    ).toEqual({
      ...nothingElse,
      sampling: { temperature: '1', top_k: '-1', max_new_tokens: '2048', stop: 'User:\n"\\n\\n"' },
      samples: 4,
    })
  })

  test('slime’s command line', () => {
    expect(
      read(`--n-samples-per-prompt 8 \\
   --rollout-max-response-len 8192 \\
   --rollout-temperature 0.8 --rollout-stop "a b" 'c' --rollout-stop-token-ids 1 2 --rollout-skip-special-tokens`),
    ).toEqual({
      sampling: { max_new_tokens: '8192', temperature: '0.8', stop: 'a b\nc', stop_token_ids: '1, 2' },
      samples: 8,
      ignored: [{ name: 'rollout_skip_special_tokens', why: 'The text contains all tokens.' }],
      problems: [],
    })
  })

  test('TorchRL’s arguments and from a Python dict', () => {
    expect(read("generate_kwargs={'max_tokens': 512, 'do_sample': False, 'stop_sequences': ['<end>']}")).toEqual({
      ...nothingElse,
      sampling: { max_new_tokens: '512', temperature: '0', stop: '<end>' },
    })
  })

  test('a request to OpenAI’s endpoint', () => {
    const schema = { type: 'object', properties: { a: { type: 'number' } } }
    const { sampling, samples, ignored } = readDialect({
      model: 'm',
      messages: [],
      max_completion_tokens: 10,
      n: 2,
      stop: 'x',
      logit_bias: { 50256: -100 },
      logprobs: true,
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
    })
    expect(sampling).toEqual({
      max_new_tokens: '10',
      stop: 'x',
      logit_bias: '50256: -100',
      json_schema: JSON.stringify(schema),
    })
    expect(samples).toBe(2)
    expect(ignored.map(({ name }) => name)).toEqual(['model', 'messages', 'logprobs'])
  })
})

test('readDialect turns greedy decoding into temperature 0 and reports what it overrides', () => {
  const both = readDialect({ temperature: 0.6, do_sample: false })
  expect(both.sampling).toEqual({ temperature: '0' })
  expect(both.ignored).toEqual([{ name: 'temperature', why: 'do_sample is false, so decoding is greedy.' }])
  expect(readDialect({ do_sample: false, temperature: 0 }).ignored).toEqual([])
})

test('readDialect prefers SGLang’s name where two names of one parameter are given', () => {
  const first = readDialect({ max_tokens: 5, max_new_tokens: 7 })
  expect(first.sampling).toEqual({ max_new_tokens: '7' })
  expect(first.ignored).toEqual([{ name: 'max_tokens', why: 'max_new_tokens is also given, with a different value.' }])
  expect(readDialect({ max_new_tokens: 7, max_tokens: 5 })).toEqual(first)
  expect(readDialect({ max_new_tokens: 7, max_tokens: 7 }).ignored).toEqual([])
})

test('readDialect reports and leaves out values that SGLang would refuse', () => {
  expect(readDialect({ top_p: 2, n: 100, temperature: 'hot' })).toEqual({
    ...nothingElse,
    sampling: {},
    problems: [
      { name: 'n', why: '100: must be a whole number from 1 to 64' },
      { name: 'top_p', why: '2: must be a number above 0, up to 1' },
      { name: 'temperature', why: '"hot": must be a number from 0 to 100' },
    ],
  })
})

test.each<[JsonObject, JsonObject]>([
  [{ response_format: { type: 'json_object' } }, { json_schema: '{"type":"object"}' }],
  [{ response_format: { type: 'text' } }, {}],
  [{ structured_outputs: { json: { a: 1 } } }, { json_schema: '{"a":1}' }],
  [{ structured_outputs: { regex: 'a|b' } }, { regex: 'a|b' }],
  [{ guided_grammar: 'root ::= "a"' }, { ebnf: 'root ::= "a"' }],
  [{ top_k: 0 }, { top_k: '-1' }],
  [{ extra_body: { sampling_params: { min_p: 0.1 } } }, { min_p: '0.1' }],
  [{ temperature: null, n: null }, {}],
])('readDialect converts %j to %j', (value, sampling) => {
  expect(readDialect(value)).toEqual({ ...nothingElse, sampling })
})

test('readDialect gives the reason for every ignored name and a hint for every unknown one', () => {
  expect(readDialect({ n_gram: 1, stream_interval: 5, response_format: 7 }).ignored).toEqual([
    { name: 'n_gram', why: 'Rollscope does not support it. If the server does, add it as a further parameter.' },
    { name: 'stream_interval', why: expect.stringContaining('stream') },
    { name: 'response_format', why: 'It contains no schema.' },
  ])
})

test('the dialect tables give every name one meaning', () => {
  const all = [...Object.keys(OTHER_NAMES), ...SAMPLE_NAMES, ...WRAPPERS, ...FORMATS, ...Object.keys(IGNORED)]
  expect(new Set(all).size).toBe(all.length)
  expect(all.filter((name) => isSamplingName(name))).toEqual([])
  expect(all.filter((name) => isOwnParameter(name))).toEqual(['n'])
})

test('readDialect never throws on pasted text, and its result can be sent', () => {
  const names = [...samplingNames, ...Object.keys(OTHER_NAMES), ...SAMPLE_NAMES, 'do_sample', 'response_format']
  const object = fc.dictionary(fc.constantFrom(...names), fc.jsonValue())
  fc.assert(
    fc.property(
      fc.oneof(
        object.map((value) => JSON.stringify(value)),
        anyText(),
      ),
      (pasted) => {
        const { sampling, samples = 1 } = read(pasted)
        for (const name of samplingNames) expect(readSamplingText(name, sampling[name] ?? '').kind).not.toBe('problem')
        expect(samples >= 1 && samples <= 64).toBe(true)
      },
    ),
  )
})

describe('readDialect of Python', () => {
  test.each<[string, JsonObject]>([
    ['SamplingParams(stop=["[/INST]", \'[\'], n=2)', { stop: ['[/INST]', '['], n: 2 }],
    ['SamplingParams(stop=["a)b", ")"], n=2)', { stop: ['a)b', ')'], n: 2 }],
    ['f(n=1, temperature=0.6, # temperature=1.0\n top_p=0.9)', { n: 1, temperature: 0.6, top_p: 0.9 }],
    ["f(stop=['a',\n 'b'\n 'd'])", { stop: ['a', 'bd'] }],
    ["f(regex=r'\\d+', stop='\\d\\n')", { regex: '\\d+', stop: '\\d\n' }],
    [
      'dict(temperature = 0.6,\n max_tokens=512, top_p=.9, stop=["a",])',
      { temperature: 0.6, max_tokens: 512, top_p: 0.9, stop: ['a'] },
    ],
    ['f(logit_bias={"50256": -100, "3": 1.5}, top_p=1)', { logit_bias: { '3': 1.5, '50256': -100 }, top_p: 1 }],
    ['params.temperature = 0.6\nparams.top_p = 0.9 # was 1', { temperature: 0.6, top_p: 0.9 }],
    [
      'actor.rollout.temperature=1.0 actor.rollout.n=8 \\\n actor.rollout.top_k=-1',
      { temperature: 1, n: 8, top_k: -1 },
    ],
    ['{"temperature": 0.6, # comment: "n": 3\n "top_p": 0.9,}', { temperature: 0.6, top_p: 0.9 }],
    ['f(stop=[" --n 5"], seed=None, a=="b")', { stop: [' --n 5'], seed: null }],
    [
      'out = model.generate(**inputs, max_new_tokens=5, extra_body={"top_k": 20, "x": y})',
      { max_new_tokens: 5, top_k: 20, unread: [['x', 'y']] },
    ],
  ])('reads %s', (text, values) => expect(valuesOf(text)).toEqual(values))

  test.each([
    ['f(temperature=args.temperature, n=2)', 'temperature', 'args.temperature'],
    ['f(temperature=choose(n=3, top_p=1)[0], n=2)', 'temperature', 'choose(n=3, top_p=1)[0]'],
    ['f(temperature=0.5 if a else 1, n=2)', 'temperature', '0.5 if a else 1'],
    ['f(temperature=0.5\n * 2, n=2)', 'temperature', '0.5\n * 2'],
    ['temperature = 0.5 * 2\nn = 2', 'temperature', '0.5 * 2'],
    ['f(temperature=1e999, n=2)', 'temperature', '1e999'],
    ['f(stop=["a"] + ["b, n=4"], n=2)', 'stop', '["a"] + ["b, n=4"]'],
    ['f(stop=f"a{b}, n=4", n=2)', 'stop', 'f"a{b}, n=4"'],
    ['f(stop=["a", b"c"], n=2)', 'stop', '["a", b"c"]'],
    ['f(stop="a"\n f"c", n=2)', 'stop', '"a"\n f"c"'],
    ['f(stop={"a"}, n=2)', 'stop', '{"a"}'],
    ['f(logit_bias={1.5: 2}, n=2)', 'logit_bias', '{1.5: 2}'],
    ['f(logit_bias={1: 2}, n=2)', 'logit_bias', '{1: 2}'],
    ['f(stop=("a",), n=2)', 'stop', '("a",)'],
    ['f(stop=["a", # ]\n "b"], n=2)', 'stop', '["a", # ]\n "b"]'],
    ['f(stop=["a" 5], n=2)', 'stop', '["a" 5]'],
    ['f(seed=int("5"), n=2)', 'seed', 'int("5")'],
    ['f(n=2, temperature=)', 'temperature', ''],
    ['f(n=2, temperature', undefined, ''],
    ['f(n=2, stop="a', 'stop', '"a'],
  ])('reports a value that is not a literal: %s', (text, name, written) => {
    expect(valuesOf(text)).toEqual({ n: 2, ...(name !== undefined && { unread: [[name, written]] }) })
    expect(read(text).problems.map((problem) => problem.name)).toEqual(name === undefined ? [] : [name])
  })

  test('skips names without a meaning here, whether their values are readable or not', () => {
    const { ignored, problems } = read(`f(temperature=x, top_p=, model=os.environ["M"], mine=${'y'.repeat(99)})`)
    expect(problems).toEqual([
      { name: 'temperature', why: 'x: must be a literal value, because nothing is executed here' },
      { name: 'top_p', why: 'The value is missing.' },
    ])
    expect(ignored.map(({ name }) => name)).toEqual(['model', 'mine'])
    expect(read(`f(stop=${'y'.repeat(99)})`).problems[0]?.why).toMatch(/^y{60} …:/)
  })
})

describe('readDialect of a command', () => {
  test.each<[string, JsonObject]>([
    [
      'ROLLOUT_ARGS=(\n   --n-samples-per-prompt 8\n   # --rollout-temperature 1\n   --rollout-temperature 0.8 # was 1\n)\nEVAL_ARGS=(\n --eval-top-p\n 0.7\n)',
      { n_samples_per_prompt: 8, rollout_temperature: 0.8, eval_top_p: 0.7 },
    ],
    [
      "python train.py --temperature=0.7 --seed=-5 --top-k -1 -v x --stop='a b' --do-sample | tee log",
      { temperature: 0.7, seed: -5, top_k: -1, stop: 'a b', do_sample: true },
    ],
    ["--rollout-stop \"\\n\" 'it'\\''s' a\\ b \"c\\\"\\\nd\" ''", { rollout_stop: ['\\n', "it's", 'a b', 'c"d', ''] }],
    ['--stop= --n=0x10 --x none --y 1_000 --z Ab', { stop: '', n: 16, x: null, y: 1000, z: 'Ab' }],
    [
      '--a $A --b "$B" --c `c` --d "d\n--e 5 --f $\'f\'',
      {
        unread: [
          ['a', '$A'],
          ['b', '"$B"'],
          ['c', '`c`'],
          ['d', '"d'],
          ['f', "$'f'"],
        ],
        e: 5,
      },
    ],
    ['(--a 1 \\\n 2) 3 --b 1\n2', { a: [1, 2], b: 1 }],
    ['run(x) # --n 3\n "--n 4" --a', { a: true }],
  ])('reads %s', (text, values) => expect(valuesOf(text)).toEqual(values))
})

/** Writes a value in one of Python's notations, with line breaks where Python allows them. */
function python(value: unknown, draw: () => number): string {
  const between = () => ['', ' ', '\n '][draw() % 3] as string
  const closing = () => between() + (draw() % 2 ? ',' : '') + between()
  if (typeof value === 'string') return pythonText(value, draw)
  if (Array.isArray(value)) {
    const items = value.map((item) => between() + python(item, draw) + between()).join(',')
    return `[${items}${items === '' ? between() : closing()}]`
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(
      ([name, own]) => `${between()}${pythonText(name, draw)}${between()}:${between()}${python(own, draw)}`,
    )
    return `{${members.join(',')}${members.length > 0 ? closing() : between()}}`
  }
  return { true: 'True', false: 'False', null: 'None' }[String(value)] ?? String(value)
}

function pythonText(text: string, draw: () => number): string {
  const quotes = ['"', "'", '"""', "'''"][draw() % 4] as string
  const quote = quotes[0] as string
  if (!/[\\\r\n]/.test(text) && !text.includes(quote) && draw() % 2) return `r${quotes}${text}${quotes}`
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  return quotes + escaped.replaceAll(quote, `\\${quote}`) + quotes
}

const odd = fc.string({ unit: fc.constantFrom(...'ab \n][)(}{"\',=#<>|\\-:/$'), maxLength: 6 })
const jsonLike = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    odd,
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(odd, tie('value'), { maxKeys: 3 }),
  ),
})).value
const names = fc.constantFrom(...samplingNames, ...Object.keys(OTHER_NAMES), 'n', 'mine', 'constructor', '__proto__')

test('readDialect reads a Python call as the same values in JSON', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.tuple(names, fc.oneof(jsonLike, fc.array(odd))), {
        minLength: 1,
        maxLength: 4,
        selector: ([name]) => name,
      }),
      fc.infiniteStream(fc.nat(99)),
      fc.boolean(),
      (members, stream, isCall) => {
        const draw = () => stream.next().value
        const pairs = members.map(([name, value]) =>
          isCall ? `${name}=${python(value, draw)}` : `${pythonText(name, draw)}: ${python(value, draw)}`,
        )
        const text = isCall ? `p = vllm.SamplingParams(${pairs.join(', ')})` : `{${pairs.join(',\n')}}`
        expect(read(text)).toEqual(read(JSON.stringify(Object.fromEntries(members))))
      },
    ),
  )
})

test('readDialect reads a Bash array as the same values in JSON', () => {
  const quoted = (text: string, draw: number) =>
    draw % 2 ? `'${text.replaceAll("'", "'\\''")}'` : `"${text.replace(/[\\$"`]/g, '\\$&')}"`
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 100, noNaN: true }).map((number) => number + 0),
      fc.array(fc.tuple(odd, fc.nat(1)), { minLength: 2 }),
      fc.constantFrom(' ', '\n', ' \\\n', ' # was --rollout-stop x\n'),
      (temperature, stops, between) => {
        const written = stops.map(([stop, draw]) => quoted(stop, draw))
        const words = ['A=(', '--rollout-temperature', temperature, '--rollout-stop', ...written, ')']
        const rollout_stop = stops.map(([stop]) => stop)
        expect(valuesOf(words.join(between))).toEqual({ rollout_temperature: temperature, rollout_stop })
      },
    ),
  )
})

test('readDialect treats names of Object.prototype as ordinary names', () => {
  const { ignored } = read('{"constructor": 1, "toString": 2, "__proto__": 3}')
  expect(ignored.map(({ name }) => name)).toEqual(['constructor', 'toString', '__proto__'])
  expect(read('f(a=1, constructor=x)').ignored).toHaveLength(2)
})

test('readDialect refuses text that is nested too deeply before it walks it', () => {
  const deep = (depth: number, inner: string) => '{"extra_body":'.repeat(depth) + inner + '}'.repeat(depth)
  expect(readDialectText(deep(10_000, '1'))).toEqual({ ok: false, why: 'It is nested deeper than 100 levels.' })
  expect(read(deep(99, '{"n": 3}')).samples).toBe(3)
  expect(read(`f(stop=${'['.repeat(50_000)}${']'.repeat(50_000)}, n=2)`)).toMatchObject({
    samples: 2,
    problems: [{ name: 'stop' }],
  })
  expect(read(deep(1_000, '{x, "n": 3}')).samples).toBe(3)
})

test.each([
  'a=[',
  'a="\\"',
  "a='\\'",
  '"""\'\'\'',
  '--a "',
  "--a '\\",
  '--a "$',
  '{"extra_body":[1,',
  'a=int(',
  '#',
  '\\',
  ' //',
  ' ',
])('readDialect takes linear time on unclosed text: %j', (part) => {
  expect(read(`--x\n${part.repeat(LONGEST_DIALECT / part.length)}`)).toBeDefined()
  expect(read(part.repeat(LONGEST_DIALECT / part.length)).sampling).toEqual({})
})

test.each(['', 'hello', '[1, 2]', '{}', '"text"', 'a == b'])('readDialectText finds no names in %j', (pasted) => {
  expect(readDialectText(pasted)).toEqual({ ok: false, why: 'It contains no name with a value.' })
})
