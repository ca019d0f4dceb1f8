import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#lib/json/json-object.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { kindsAndIds, source, trajectories } from '#testing/trajectories.ts'
import { openText } from '../reading/open.ts'
import { trajectoryOf } from '../test-trajectories.ts'
import { torchrl } from './torchrl.ts'

interface Golden {
  readonly cases: readonly {
    readonly mode: string
    readonly padded: boolean
    readonly samples: readonly GoldenSample[]
  }[]
}
interface GoldenSample {
  readonly tokens: { readonly prompt: number[] | null; readonly response: number[]; readonly full: number[] | null }
  readonly log_probs: { readonly response: number[] }
  readonly masks: { readonly all_attention_mask: boolean[] | null }
  readonly history?: { readonly full: { readonly content: string[] } }
}
/** golden/make_torchrl.py creates it. */
const golden = JSON.parse(readFileSync('lib/formats/golden/torchrl.json', 'utf8')) as Golden

const opened = (value: unknown): Trajectory => trajectoryOf(torchrl, value)
const refused = (value: unknown) => {
  const read = torchrl.read(value, source)
  return read.ok ? undefined : read.error
}
const written = (trajectory: Trajectory) => torchrl.write?.(trajectory).value as JsonObject & GoldenSample
const lost = (trajectory: Trajectory) => torchrl.write?.(trajectory).losses ?? []

describe('the output of TorchRL’s wrappers', () => {
  const cases = golden.cases.flatMap(({ mode, padded, samples }) =>
    samples.map((given, index) => [`${mode}, ${padded ? 'padded' : 'nested'}, ${index}`, given] as const),
  )
  test.each(cases)('opens for %s', (name, given) => {
    expect(torchrl.sniff(given)).toBe(true)
    const trajectory = opened(given)
    const { tokens, masks, log_probs: scores, history } = given
    const isThere = (_: unknown, index: number) => masks.all_attention_mask?.[index] ?? true
    const all = (tokens.full ?? tokens.response).filter(isThere)
    expect(ids(trajectory)).toEqual(all)
    const response = trajectory.segments.at(-1) as Segment
    expect(response.kind).toBe('response')
    // Only text mode pads without a mask, so the padding stays.
    if (!/text, padded, 0/.test(name)) expect(response.logprobs).toEqual(scores.response.slice(0, response.ids.length))
    expect(trajectory.segments.map(({ kind }) => kind)).toEqual(tokens.full ? ['prompt', 'response'] : ['response'])
    if (tokens.full) expect(logprobs(trajectory)[0]).toBeNull()
    const [first] = trajectory.segments
    if (history) expect(first).toMatchObject({ messages: [{ role: 'user', content: history.full.content[0] }] })
    expect(opened(written(trajectory)).segments).toEqual(trajectory.segments)
  })

  test('torchrl format opens the file of a real TransformersWrapper with its ids, logprobs and texts', () => {
    const lines = readFileSync('lib/formats/golden/foreign/torchrl-wrapper.jsonl', 'utf8')
    const records = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as GoldenSample & { readonly text: { readonly full: string } })
    const opened = openText(lines, source)
    expect(opened).toMatchObject({ ok: true, format: { name: 'torchrl' } })
    const read = opened.ok ? opened.trajectories : []
    expect(read.map(ids)).toEqual(records.map(({ tokens }) => tokens.full))
    expect(read.map(({ segments }) => segments.at(-1)?.logprobs)).toEqual(
      records.map(({ log_probs }) => log_probs.response),
    )
    expect(read).toMatchObject(records.map(({ text }) => ({ foreign: { torchrl: { text } } })))
  })

  test('torchrl format opens a file of several records, recognised by its fields', () => {
    const lines = golden.cases.flatMap(({ samples }) => samples.map((given) => JSON.stringify(given))).join('\n')
    const read = openText(lines, source)
    expect(read.ok && [read.format.name, read.trajectories.length]).toEqual(['torchrl', 12])
  })
})

test('torchrl format reads back what it writes: ids, mask, segments, and logprobs where 0 does not mean none', () => {
  fc.assert(
    fc.property(trajectories, (trajectory) => {
      const again = opened(JSON.parse(JSON.stringify(written(trajectory))))
      expect(kindsAndIds(again)).toEqual(kindsAndIds(trajectory))
      expect(lossMask(again)).toEqual(lossMask(trajectory))
      const scores = logprobs(trajectory)
      const isWhole = scores.every((score, index) => score !== null || lossMask(trajectory)[index] === 0)
      expect(logprobs(again)).toEqual(
        scores.map((score, index) => (isWhole && !(score === 0 && lossMask(trajectory)[index] === 0) ? score : null)),
      )
      if (!isWhole) expect(lost(trajectory).join()).toContain('logprobs')
    }),
  )
})

describe('a written torchrl record', () => {
  const [prompt, response, results] = sample.segments as [Segment, Segment, Segment]
  const scored = { ...response, logprobs: response.ids.map(() => -1) }

  test('has texts, tokens, masks, logprobs and history, with the prompt apart from the rest', () => {
    const value = written({ ...sample, segments: [prompt, scored, results] })
    const count = prompt.ids.length
    expect(value.tokens.prompt).toEqual(prompt.ids)
    expect(value.tokens.full).toEqual([...prompt.ids, ...response.ids, ...results.ids])
    expect(value.tokens.response).toEqual(value.tokens.full?.slice(count))
    expect(value).toMatchObject({
      text: { prompt: expect.any(String), response: expect.any(String), full: expect.any(String) },
      history: {
        prompt: { role: expect.arrayContaining(['user']) },
        response: { role: ['assistant', 'tool', 'tool'], tool_calls: null, is_complete: [true, true, true] },
      },
    })
    expect(value.masks.all_attention_mask).toHaveLength(value.tokens.full?.length ?? 0)
  })

  test('without an answer is all prompt; parts of a message are one text', () => {
    const messages = [{ role: 'user' as const, content: [{ type: 'text', text: 'a' }, { type: 'image' }] }]
    const value = written({ ...sample, segments: [{ ...prompt, messages } as Segment] })
    expect(value.tokens.response).toEqual([])
    expect(value).toMatchObject({ history: { full: { content: ['a'] } } })
  })

  test('has the fields of its file again, and no texts or messages if there were none', () => {
    const bare = opened({ tokens: { full: [70_000, 70_001], prompt: [70_000], response: [70_001] }, uid: 7 })
    expect(written(bare)).toMatchObject({ uid: 7 })
    expect(written(bare)).not.toHaveProperty('text')
    expect(written(bare)).not.toHaveProperty('history')
    expect(lost(bare)).toContain('texts: no tokenizer was named')
    const text = { prompt: 'a', response: 'b', full: 'ab' }
    const withTexts = opened({ tokens: { full: [70_000, 70_001] }, text })
    expect(written(withTexts)).toMatchObject({ text })
    expect(lost(withTexts).join()).not.toContain('texts')
  })
})

describe('a torchrl sample with unknown token texts', () => {
  const history = {
    full: { role: ['user', 'assistant'], content: ['q', 'a'], is_complete: [true, true], tool_calls: null },
  }
  const tokens = { prompt: [70_000], response: [70_001], full: [70_000, 70_001] }

  test('is written with the history of its file instead of ids as texts', () => {
    const imported = opened({ tokens, text: { prompt: 'q', response: 'a', full: 'qa' }, history })
    expect(imported.segments[0]).toMatchObject({ messages: [{ role: 'user', content: 'q' }] })
    expect(written(imported)).toMatchObject({ text: { full: 'qa' }, history })
    expect(JSON.stringify(written(imported))).not.toContain('⟨')
  })

  test('has null as the content of its answers if no file had their text', () => {
    const { foreign: _, ...imported } = opened({ tokens, history })
    expect(written(imported)).toMatchObject({
      history: {
        prompt: { role: ['user'], content: ['q'] },
        response: { role: ['assistant'], content: [null] },
        full: { role: ['user', 'assistant'], content: ['q', null] },
      },
    })
  })

  test('takes the texts of a tokenizer that is chosen later', () => {
    const imported = opened({ tokens, history })
    const vocab = { 70000: 'question', 70001: 'answer' }
    expect(written({ ...imported, vocab })).toMatchObject({ history: { full: { content: ['q', 'answer'] } } })
  })
})

describe('reading a torchrl record', () => {
  test('accepts prompt and response, with logprobs of the response at its end', () => {
    const tokens = { prompt: [1, 2], response: [3] }
    expect(logprobs(opened({ tokens, log_probs: { response: [-1] } }))).toEqual([null, null, -1])
    expect(logprobs(opened({ tokens, log_probs: { prompt: [0, -2], response: [-1] } }))).toEqual([null, -2, -1])
    expect(logprobs(opened({ tokens, log_probs: { prompt: [0, -2] } }))).toEqual([null, null, null])
    expect(opened({ tokens: { prompt: [1] } }).segments).toMatchObject([{ kind: 'prompt', ids: [1] }])
    expect(opened({ tokens: { response: [] }, log_probs: { response: [] } }).segments).toEqual([])
  })

  test('removes padding, and splits turns by a mask', () => {
    const trajectory = opened({
      tokens: { full: [0, 1, 2, 3, 4, 0] },
      masks: { all_attention_mask: [0, 1, 1, 1, 1, 0], all_assistant_mask: [0, 0, 1, 0, 1, 0] },
      log_probs: { full: [0, 0, -1, 0, -2, 0] },
      history: { full: { role: ['user', 'assistant', 'tool'], content: ['q', 'a', 'r'] } },
    })
    expect(kindsAndIds(trajectory)).toEqual([
      { kind: 'prompt', ids: [1] },
      { kind: 'response', ids: [2] },
      { kind: 'prompt', ids: [3] },
      { kind: 'response', ids: [4] },
    ])
    expect(logprobs(trajectory)).toEqual([null, -1, null, -2])
    expect(trajectory.segments[2]).toMatchObject({ messages: [{ role: 'tool', content: 'r' }] })
  })

  test('keeps an invalid history unchanged', () => {
    const history = { full: { role: ['user'] } }
    expect(opened({ tokens: { full: [1], prompt: [1] }, history }).foreign).toEqual({ torchrl: { history } })
  })

  test('ignores segments that do not match the tokens', () => {
    const rollscope = { segment_info: [[true, 9]] }
    const trajectory = opened({ tokens: { full: [1], prompt: [1] }, rollscope })
    expect(trajectory.segments).toHaveLength(1)
    expect(trajectory.provenance).toMatchObject({
      lacked: expect.arrayContaining([expect.stringContaining('segment_info does not match the tokens')]),
    })
  })

  test.each([
    ['a batch', { tokens: { full: [[1, 2]] } }, 'tokens.full[0]'],
    [
      'a mask of other length',
      { tokens: { full: [1, 2] }, masks: { all_assistant_mask: [true] } },
      'masks.all_assistant_mask',
    ],
    [
      'another attention mask',
      { tokens: { full: [1] }, masks: { all_attention_mask: [] } },
      'masks.all_attention_mask',
    ],
    ['other logprobs', { tokens: { full: [1] }, log_probs: { full: [-1, -2] } }, 'log_probs'],
    [
      'a mask that alternates',
      {
        tokens: { full: Array(20_002).fill(1) },
        masks: { all_assistant_mask: Array.from({ length: 20_002 }, (_, i) => i % 2) },
      },
      'masks.all_assistant_mask',
    ],
    ['a prompt that is not the beginning', { tokens: { full: [1, 2], prompt: [9] } }, 'tokens.prompt[0]'],
    ['a response that is not the end', { tokens: { full: [1, 2], response: [1] } }, 'tokens.response[0]'],
    ['a response that is longer than all', { tokens: { full: [1], response: [0, 1] } }, 'tokens.response[0]'],
    ['tokens that are in neither', { tokens: { full: [1, 2, 3], prompt: [1], response: [3] } }, 'tokens.full'],
    [
      'other logprobs of the response',
      { tokens: { full: [1, 2] }, log_probs: { full: [0, -1], response: [-2] } },
      'log_probs.response[0]',
    ],
    [
      'more logprobs than tokens',
      { tokens: { prompt: [1], response: [2] }, log_probs: { response: [-3, -2, -1] } },
      'log_probs',
    ],
  ])('reports %s', (_, value, path) => {
    expect(refused(value)?.path).toBe(path)
  })

  test('does not compare a separately padded prompt and response with the whole', () => {
    const padded = { full: [1, 2, 0], prompt: [0, 1], response: [2, 0], padded: true }
    expect(ids(opened({ tokens: padded }))).toEqual([1, 2, 0])
    const masks = { all_attention_mask: [true, true, false] }
    const trajectory = opened({ tokens: { ...padded, padded: undefined }, masks })
    expect(ids(trajectory)).toEqual([1, 2])
    expect(trajectory.provenance).toMatchObject({
      lacked: expect.arrayContaining(['1 tokens that masks.all_attention_mask marks as padding: removed']),
    })
  })

  test('drops logprobs of a prompt without ids', () => {
    const found = opened({ tokens: { response: [3] }, log_probs: { prompt: [0, -2], response: [-1] } })
    expect(logprobs(found)).toEqual([-1])
  })

  test('requires tokens', () => {
    expect([{}, { tokens: [1] }, { tokens: { ids: [] } }, null].map((value) => torchrl.sniff(value))).toEqual(
      Array(4).fill(false),
    )
  })
})
