import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { compareSides } from '../compare/compare-sides.ts'
import type { Reconstruction } from '../compare/side.ts'
import { type Repro, type ReproducedPair, reproOf } from './repro.ts'
import { reproJson } from './repro-json.ts'
import { reproPytest } from './repro-pytest.ts'

const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'built-in')
const drifting = exampleTrajectory('retokenization-drift')

function pairOf(
  as: Reconstruction,
  trajectory: Trajectory = drifting,
  order: 'recorded first' | 'swapped' = 'recorded first',
) {
  const given = { trajectory, template: undefined }
  const recorded = { side: { key: 'a', as: { kind: 'recorded' } as Reconstruction }, tokenizer: undefined }
  const made = { side: { key: 'a', as }, tokenizer: tiny }
  const [left, right] = order === 'swapped' ? ([made, recorded] as const) : ([recorded, made] as const)
  const compared = compareSides(
    { ...given, as: left.side.as, tokenizer: left.tokenizer },
    { ...given, as: right.side.as, tokenizer: right.tokenizer },
  )
  if (!compared.ok) throw new Error(compared.why)
  return { left: left.side, right: right.side, compared: compared.value } satisfies ReproducedPair
}

function reproduced(pair: ReproducedPair, drift?: number) {
  const made = reproOf(pair, drift)
  if (!made.ok) throw new Error(made.why)
  return made.value
}

/** Runs `difference` of each Python file on each list of ids: [text, recorded position, position in the list], or null if none is found. */
function differencesFound(
  files: readonly { readonly source: string; readonly again: readonly (readonly number[])[] }[],
) {
  // UTF-8 files cannot contain lone surrogates.
  const wellFormed = files.map(({ source, again }) => ({ source: source.toWellFormed(), again }))
  const script = `
import json, sys, types

transformers = types.ModuleType("transformers")
transformers.AutoTokenizer = None
transformers.utils = types.ModuleType("transformers.utils")
transformers.utils.chat_template_utils = None
sys.modules.update({"transformers": transformers, "transformers.utils": transformers.utils})
found = []
for file in json.load(sys.stdin):
    module = {}
    exec(compile(file["source"], "test_drift.py", "exec"), module)
    found.append([module["difference"](again) for again in file["again"]])
json.dump(found, sys.stdout)
`
  return JSON.parse(
    execFileSync('python3', ['-c', script], { input: JSON.stringify(wellFormed), maxBuffer: 2 ** 26 }).toString(),
  )
}

/** Returns the ids of the reconstruction, with the recorded ids in the drift spans that are healed. */
function healed(
  { recorded, again, recordedSide, report }: Repro,
  isHealed: (drift: number) => boolean,
): readonly number[] {
  const [own, other] = recordedSide === 'left' ? (['left', 'right'] as const) : (['right', 'left'] as const)
  const ids: number[] = []
  let at = 0
  for (const [drift, span] of report.spans.entries()) {
    ids.push(...recorded.slice(at, span[own].start))
    ids.push(
      ...(isHealed(drift)
        ? recorded.slice(span[own].start, span[own].end)
        : again.slice(span[other].start, span[other].end)),
    )
    at = span[own].end
  }
  return [...ids, ...recorded.slice(at)]
}

/** A text with everything that could end a Python string or a docstring. */
const hostile = '"""\'\'\'\\ \\" \r\n\u2028 \u0000 \ud800 {x} %s é 日本 </tool_call>'

describe.each(['text', 'structured', 'raw'] as const)('a reproduction in %s mode', (kind) => {
  test('has a Python file that compiles, whatever messages, template and cause contain', () => {
    const [first, ...rest] = drifting.segments
    if (first?.kind !== 'prompt') throw new Error('no prompt')
    const trajectory: Trajectory = {
      ...drifting,
      segments: [{ ...first, messages: [...first.messages, { role: 'user', content: hostile }] }, ...rest],
    }
    const repro = reproduced(pairOf({ kind }, trajectory), 0)
    const span = repro.drift?.span
    if (!span) throw new Error('it drifts')
    const hostileRepro = { ...repro, drift: { number: 0, span: { ...span, cause: hostile } }, caveats: [hostile] }
    expect(differencesFound([{ source: reproPytest(hostileRepro), again: [repro.recorded, repro.again] }])).toEqual([
      [null, ['drift 1: first difference', expect.any(Number), expect.any(Number)]],
    ])
    expect(reproPytest(hostileRepro)).toContain(`RECORDED = [${repro.recorded.slice(0, 3).join(',')},`)
  })

  test('has JSON with both sides, the rendered input and the verdict', () => {
    const pair = pairOf({ kind })
    const repro = reproduced(pair, 1)
    const { version, mode, ids, verdict, drift, messages, tokenizer } = JSON.parse(reproJson(repro))
    expect({ version, mode, drift }).toEqual({
      version: 1,
      mode: kind,
      drift: { number: 1, span: repro.report.spans[1] },
    })
    expect(ids).toEqual({ recorded: repro.recorded, again: repro.again })
    expect(ids.recorded).not.toEqual(ids.again)
    expect(verdict).toMatchObject({ severity: repro.report.severity, tokens: repro.report.tokens })
    expect(tokenizer).toEqual({ name: 'built-in', fingerprint: tiny.tokenizer.fingerprint })
    expect(messages === undefined).toBe(kind === 'text')
  })
})

test('the Python file of a drift fails at that drift, whether or not the others are fixed', () => {
  for (const one of [pairOf({ kind: 'text' }), pairOf({ kind: 'text' }, drifting, 'swapped')]) {
    const { spans } = one.compared.comparison.report
    expect(spans.length).toBeGreaterThan(2)
    const repros = spans.map((_, drift) => reproduced(one, drift))
    const found = differencesFound(
      repros.map((repro, drift) => ({
        source: reproPytest(repro),
        again: [
          healed(repro, () => false),
          healed(repro, (other) => other !== drift),
          healed(repro, (other) => other < drift),
          repro.recorded,
          healed(repro, (other) => other === drift),
        ],
      })),
    )
    for (const [drift, repro] of repros.entries()) {
      const { start, end } = spans[drift]?.[repro.recordedSide] ?? { start: -1, end: -1 }
      const [every, alone, withLater, none, allOthers] = found[drift]
      for (const failure of [every, alone, withLater]) {
        expect(failure[0]).toBe(`drift ${drift + 1}: first difference`)
        expect(failure[1]).toBeGreaterThanOrEqual(start)
        expect(failure[1]).toBeLessThanOrEqual(end)
      }
      expect([none, allOthers]).toEqual([null, null])
    }
  }
})

test('a drift that repeats the text after it is found by the text after the copies', () => {
  const ids = (...groups: readonly (readonly number[])[]) => groups.flat()
  const [ab, c] = [[1, 2], [3]]
  const repro = reproduced(pairOf({ kind: 'text' }), 0)
  const span = repro.drift?.span
  if (!span) throw new Error('it drifts')
  // The reconstruction has one pair more before the three recorded pairs, and a second drift span after them.
  const spans = [
    { ...span, left: { start: 0, end: 0 }, right: { start: 0, end: 2 } },
    { ...span, left: { start: 6, end: 7 }, right: { start: 8, end: 10 } },
  ]
  const repeated: Repro = {
    ...repro,
    recorded: ids(ab, ab, ab, c, [9]),
    again: ids(ab, ab, ab, ab, [7, 8], [9]),
    report: { ...repro.report, spans },
    drift: { number: 0, span: spans[0] ?? span },
  }
  const second: Repro = { ...repeated, drift: { number: 1, span: spans[1] ?? span } }
  const all = [repeated.again, ids(ab, ab, ab, [7, 8], [9]), ids(ab, ab, ab, ab, c, [9]), repeated.recorded]
  expect(differencesFound([repeated, second].map((one) => ({ source: reproPytest(one), again: all })))).toEqual([
    [['drift 1: first difference', 6, 6], null, ['drift 1: first difference', 6, 6], null],
    [['drift 2: first difference', 6, 8], ['drift 2: first difference', 6, 6], null, null],
  ])
})

test('a reproduction keeps the spelling of numbers in calls', () => {
  const segments = drifting.segments.map((segment) =>
    segment.kind === 'prompt'
      ? segment
      : {
          ...segment,
          toolCalls: segment.toolCalls.map((call) =>
            call.kind === 'parsed' ? { ...call, input: { x: 1 }, raw: '{"name": "f", "arguments": {"x": 1.0}}' } : call,
          ),
        },
  )
  const repro = reproduced(pairOf({ kind: 'structured' }, { ...drifting, segments }))
  expect(reproJson(repro)).toContain('{"x": 1.0}')
  expect(reproPytest(repro)).toContain('{\\"x\\": 1.0}')
})

test('a reproduction of a run without tools has a Python file that runs, with an empty list of tools', () => {
  const without = { ...drifting, model: { ...drifting.model, tools: [] } }
  const repro = reproduced(pairOf({ kind: 'structured' }, without))
  expect(differencesFound([{ source: reproPytest(repro), again: [repro.recorded] }])).toEqual([[null]])
  expect(JSON.parse(reproJson(repro))).toMatchObject({ tools: [] })
})

test('a reproduction accepts the sides in either order, and refuses two different trajectories', () => {
  const { left, right, compared } = pairOf({ kind: 'text' })
  const swapped = pairOf({ kind: 'text' }, drifting, 'swapped')
  expect(reproduced(swapped).recorded).toEqual(reproduced({ left, right, compared }).recorded)
  expect(reproduced(swapped).recordedSide).toBe('right')
  const others: ReproducedPair = { left, right: { key: 'b', as: { kind: 'text' } }, compared }
  expect(reproOf(others, undefined)).toMatchObject({ ok: false, why: expect.stringMatching(/own reconstruction/) })
  const { comparison } = compared
  const foreign = {
    ...compared,
    comparison: { ...comparison, report: { ...comparison.report, sameVocabulary: false } },
  }
  expect(reproOf({ left, right, compared: foreign }, 0)).toMatchObject({
    ok: false,
    why: expect.stringMatching(/different tokenizers/),
  })
})

test('a reproduction without a chosen drift fails at any difference, and says if there is none', () => {
  const repro = reproduced(pairOf({ kind: 'text' }))
  const source = reproPytest(repro)
  expect(source).toContain('This test fails at the first token that differs')
  expect(differencesFound([{ source, again: [repro.recorded, repro.again] }])).toEqual([
    [null, ['first difference', expect.any(Number), expect.any(Number)]],
  ])
  expect(JSON.parse(reproJson(repro)).drift).toBeUndefined()
  const same = { ...repro, again: repro.recorded, report: { ...repro.report, spans: [] } }
  expect(reproPytest(same)).toContain('Rollscope found no drift: this test passes.')
})

test('a reproduction of a number without a drift span is that of the whole comparison', () => {
  expect(reproduced(pairOf({ kind: 'text' }), 999).drift).toBeUndefined()
})

test('a reproduction of a template that writes the time has the time at which the trajectory was created', () => {
  const pair = pairOf({ kind: 'structured' })
  const { compared } = pair
  const template = { text: "{{ strftime_now('%Y') }}{{ messages[0].content }}", options: {} }
  const { model } = compared.right.trajectory
  const trajectory = { ...compared.right.trajectory, model: { ...model, template } }
  const repro = reproduced({ ...pair, compared: { ...compared, right: { ...compared.right, trajectory } } })
  expect(JSON.parse(reproJson(repro)).clock).toBe(new Date(drifting.createdAt).toISOString())
  const source = reproPytest(repro)
  expect(source).toContain(`return cls.fromtimestamp(${Date.parse(drifting.createdAt) / 1000}, tz)`)
  expect(source).toContain('monkeypatch.setattr(chat_template_utils, "datetime", Clock)')
  expect(differencesFound([{ source, again: [repro.recorded] }])).toEqual([[null]])
})

test('a reproduction names its caveats, and the tokenizer as from_pretrained takes it', () => {
  const repro = reproduced(pairOf({ kind: 'text' }))
  expect(JSON.parse(reproJson({ ...repro, caveats: [] })).caveats).toBeUndefined()
  const caveats = ['The tokenizer is another one.']
  expect(JSON.parse(reproJson({ ...repro, caveats })).caveats).toEqual(caveats)
  expect(reproPytest({ ...repro, caveats })).toContain('Caveat: The tokenizer is another one.')
  expect(reproPytest(repro)).toContain('This name is local to Rollscope')
  const ofHub = reproPytest({ ...repro, tokenizer: { name: 'org/model', fingerprint: undefined } })
  expect(ofHub).not.toContain('local to Rollscope')
  expect(ofHub).toContain('os.environ.get("MODEL", "org/model")')
  expect(ofHub).toContain('SHA-256 unknown')
})

test('a reproduction needs the tokenizer of the reconstruction', () => {
  const pair = pairOf({ kind: 'text' })
  const { right } = pair.compared
  const { tokenizer: _, ...model } = right.trajectory.model
  const nameless = { ...right, trajectory: { ...right.trajectory, model } }
  expect(reproOf({ ...pair, compared: { ...pair.compared, right: nameless } }, undefined)).toEqual({
    ok: false,
    why: 'No tokenizer is named.',
  })
})

test('a reproduction reads the messages of a recording without texts with the texts of its reconstruction', () => {
  const pair = pairOf({ kind: 'raw' })
  const { left } = pair.compared
  const { tokenizer: _, ...model } = left.trajectory.model
  const bare = { ...left, trajectory: { ...left.trajectory, model, vocab: {} } }
  const repro = reproduced({ ...pair, compared: { ...pair.compared, left: bare } })
  expect(repro.rendered?.messages).toContain('The calculator returned 55.')
})
