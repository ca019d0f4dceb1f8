import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DRIFT_KINDS } from '#lib/trajectory/drift/kinds.ts'
import { DRIFT_SEVERITIES } from '#lib/trajectory/drift/report.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { loadedTokenizer, tokenizerFolder } from '#testing/tokenizers.ts'
import { exampleTrajectory } from '#testing/trajectories.ts'
import { checkSample } from './check.ts'
import { kindsCsv, samplesCsv } from './csv.ts'
import { corpusReport, corpusReportSchema, missedCallsText, reportSummary } from './report.ts'
import { type CheckedSample, type Sample, type SampleOrigin, sampleOriginText, uncheckedSample } from './sample.ts'
import { sampleTokenizer } from './settings.ts'
import { addTotals, NO_TOTALS, spanCount, withSample } from './totals.ts'

const tiny = loadedTokenizer(tokenizerFolder('tiny-qwen3'), 'built-in')

const drifting = exampleTrajectory('retokenization-drift')
const place: SampleOrigin = { kind: 'file', file: 'a.jsonl', record: 2, line: 3 }
const check = (trajectory: Trajectory, kind: 'text' | 'structured' | 'raw' = 'text') =>
  checkSample(place, { as: { kind }, trajectory: pack(trajectory).trajectory, tokenizer: tiny, template: undefined })

function checkedAs(sample: Sample): CheckedSample {
  if (sample.kind !== 'checked') throw new Error(sample.why)
  return sample
}

test('the example of a failure reason is its first sample, by number and not by digits', () => {
  const wrong = (line: number) =>
    uncheckedSample({ kind: 'file', file: 'a.jsonl', record: line, line }, undefined, { why: 'It is wrong.' })
  const { unchecked } = reportSummary([10, 9, 11].map(wrong).reduce(withSample, NO_TOTALS))
  expect(unchecked).toMatchObject([{ samples: 3, example: { place: { line: 9 } } }])
})

describe('a corpus sample', () => {
  test('that drifts has its spans by kind, turn and tool, and its most severe span', () => {
    const sample = checkedAs(check(drifting))
    expect(sample).toMatchObject({ id: drifting.id, title: drifting.title, place, severity: 'trained' })
    const spans = sample.kinds.reduce((sum, one) => sum + spanCount(one.spans), 0)
    expect(spans).toBeGreaterThan(0)
    expect(sample.byTurn.reduce((sum, one) => sum + one.spans, 0)).toBe(spans)
    expect(sample.worst).toBeLessThan(spans)
    expect(sample.turns).toBe(2)
    expect(sample.byTool.map(({ calls }) => calls)).toEqual(sample.byTool.map(() => 1))
  })

  test('that comes back the same has no drift', () => {
    const sample = checkedAs(check(exampleTrajectory('two-steps')))
    expect(sample).toMatchObject({ kinds: [], byTurn: [], prefixLost: 0, rows: { count: 1, extra: 0 } })
    expect(sample).not.toHaveProperty('severity')
    expect(sample).not.toHaveProperty('worst')
  })

  test('that differs by a newline after the last end of turn is counted separately, not as drifting', () => {
    const sample = checkedAs(check(exampleTrajectory('two-steps'), 'structured'))
    expect(sample).toMatchObject({ severity: 'tail', kinds: [{ kind: 'separator' }] })
    const { totals } = reportSummary([sample, checkedAs(check(drifting, 'structured'))].reduce(withSample, NO_TOTALS))
    expect(totals.samples).toMatchObject({ checked: 2, drifting: 1, bySeverity: { trained: 1, context: 0, tail: 1 } })
    expect(totals.rate.samples).toBe(0.5)
  })

  test('has the lost share of all tokens that were in the prefix cache', () => {
    const sample = checkedAs(check(drifting, 'structured'))
    const { wasted } = reportSummary(withSample(NO_TOTALS, sample)).totals
    expect(wasted).toMatchObject({ prefix: sample.prefixLost, prefixOf: sample.prefixLost + sample.prefixKept })
    expect(wasted.prefixOf).toBeGreaterThan(0)
  })

  const bare: Trajectory = {
    ...drifting,
    model: { tools: [] },
    vocab: {},
    segments: drifting.segments.map((segment) =>
      segment.kind === 'prompt' ? { ...segment, messages: [] } : { ...segment, thinks: [], toolCalls: [] },
    ),
    provenance: { kind: 'import', format: 'slime', lacked: [] },
  }

  test('of ids only is checked with the chosen tokenizer', () => {
    const [retokenized, whole] = [checkedAs(check(bare)), checkedAs(check(drifting))]
    expect(retokenized.kinds.map(({ kind, spans }) => [kind, spans])).toEqual(
      whole.kinds.map(({ kind, spans }) => [kind, spans]),
    )
    expect(retokenized.tokens).toEqual(whole.tokens)
  })

  test('whose calls another parser would read counts those responses and names that parser', () => {
    const wrong: Trajectory = {
      ...drifting,
      model: { ...drifting.model, parser: 'kimi_k2' },
      segments: drifting.segments.map((segment) =>
        segment.kind === 'prompt' ? segment : { ...segment, toolCalls: [] },
      ),
    }
    const sample = checkedAs(check(wrong))
    expect(sample.missedCalls).toEqual({
      responses: 1,
      readers: [{ kind: 'rollscope', name: 'hermes', responses: 1 }],
    })
    expect(checkedAs(check(drifting))).not.toHaveProperty('missedCalls')
    const summary = reportSummary(folded([sample, { ...sample, place: { ...place, record: 3 } }]))
    expect(missedCallsText(summary)).toBe(
      '2 responses in 2 samples have the markup of a tool call, and no call was parsed: hermes reads 2 responses.',
    )
    const foreign = { responses: 1, readers: [{ kind: 'sglang' as const, name: 'minimax-m2', responses: 1 }] }
    expect(missedCallsText(reportSummary(folded([{ ...sample, missedCalls: foreign }])))).toBe(
      '1 response in 1 sample has the markup of a tool call, and no call was parsed: SGLang’s minimax-m2 reads 1 response.',
    )
    expect(missedCallsText(reportSummary(NO_TOTALS))).toBeUndefined()
  })

  test.each<[string, Trajectory, 'text' | 'structured', RegExp]>([
    ['no messages', bare, 'structured', /not the messages/],
    ['no tokens', { ...drifting, segments: [] }, 'text', /has no tokens/],
    [
      'ids that the tokenizer does not have',
      { ...bare, segments: [{ kind: 'response', ids: [9_999_999], thinks: [], toolCalls: [] }] },
      'text',
      /another model/,
    ],
  ])('with %s is not checked, and reports why', (_what, trajectory, mode, why) => {
    expect(check(trajectory, mode)).toMatchObject({ kind: 'unchecked', place, why: expect.stringMatching(why) })
  })

  test('uses its own tokenizer, and another one only if it has none or if that is requested', () => {
    const otherwise = 'other'
    expect(sampleTokenizer(drifting, { as: { kind: 'text' }, otherwise })).toEqual({ ok: true, value: 'built-in' })
    expect(sampleTokenizer(bare, { as: { kind: 'text' }, otherwise })).toEqual({ ok: true, value: 'other' })
    expect(sampleTokenizer(bare, { as: { kind: 'text' }, otherwise: undefined })).toMatchObject({ ok: false })
    expect(sampleTokenizer(drifting, { as: { kind: 'text', tokenizer: 'wished' }, otherwise })).toEqual({
      ok: true,
      value: 'wished',
    })
  })
})

const counts = fc
  .record({ trained: fc.nat(3), context: fc.nat(3), tail: fc.nat(3) })
  .filter((one) => spanCount(one) > 0)
const anyPlace: fc.Arbitrary<SampleOrigin> = fc.oneof(
  fc.record({ kind: fc.constant('stored' as const), key: fc.string({ minLength: 1 }) }),
  fc.record({
    kind: fc.constant('file' as const),
    file: fc.constantFrom('a', 'b'),
    record: fc.nat(1000).map((n) => n + 1),
  }),
)
const text = fc.constantFrom('plain', '=1+1', 'a "quoted"\r\nword, and more', '-', '')
const checked: fc.Arbitrary<CheckedSample> = fc
  .record({
    place: anyPlace,
    kinds: fc.uniqueArray(
      fc
        .record({
          kind: fc.constantFrom(...DRIFT_KINDS),
          spans: counts,
          structural: fc.nat(9),
          trained: fc.nat(50),
          gravest: fc.record({
            drift: fc.nat(9),
            severity: fc.constantFrom(...DRIFT_SEVERITIES),
            trained: fc.nat(9),
            cause: text,
            remedy: text,
          }),
        })
        .map(({ structural: wanted, ...kind }) => {
          const structural = Math.min(wanted, spanCount(kind.spans))
          return { ...kind, layers: { structural, content: spanCount(kind.spans) - structural } }
        }),
      { selector: ({ kind }) => kind, maxLength: 4 },
    ),
    byTurn: fc.uniqueArray(fc.record({ turn: fc.nat(4), spans: fc.nat(3) }, { requiredKeys: ['spans'] }), {
      selector: ({ turn }) => turn,
    }),
    byTool: fc.uniqueArray(fc.record({ tool: fc.constantFrom('f', 'g'), calls: fc.nat(3), spans: fc.nat(3) }), {
      selector: ({ tool }) => tool,
    }),
    numbers: fc.array(fc.nat(1000), { minLength: 8, maxLength: 8 }),
    title: text,
    caveats: fc.array(text, { maxLength: 1 }),
    missed: fc.uniqueArray(
      fc.record({
        kind: fc.constantFrom('rollscope' as const, 'sglang' as const),
        name: fc.constantFrom('glm', 'step3'),
        responses: fc.integer({ min: 1, max: 3 }),
      }),
      { selector: ({ kind, name }) => `${kind} ${name}`, maxLength: 3 },
    ),
  })
  .map(({ missed, numbers: [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0], kinds, ...rest }) => ({
    kind: 'checked',
    id: 't',
    tokens: { left: a, right: b },
    trained: { touched: Math.min(c, d), of: d },
    turns: e % 6,
    ...(kinds[0] && { severity: kinds[0].gravest.severity, worst: f }),
    kinds,
    prefixLost: g,
    prefixKept: a,
    rows: { count: 1 + (h % 3), extra: h, realigned: f },
    ...(missed.length > 0 && {
      missedCalls: { responses: Math.max(...missed.map(({ responses }) => responses)), readers: missed },
    }),
    ...rest,
  }))
const unchecked: fc.Arbitrary<Sample> = fc.record(
  {
    kind: fc.constant('unchecked' as const),
    place: anyPlace,
    why: fc.constantFrom('no tokenizer', 'no messages'),
    detail: text,
  },
  { requiredKeys: ['kind', 'place', 'why'] },
)
/** Places are unique, as in a report. */
const corpus = fc.uniqueArray(fc.oneof({ weight: 4, arbitrary: checked }, unchecked), {
  selector: ({ place }) => sampleOriginText(place),
  maxLength: 12,
})
const folded = (samples: readonly Sample[]) => samples.reduce(withSample, NO_TOTALS)

describe('corpus totals', () => {
  test('are the same in any order of samples and in any parts', () => {
    fc.assert(
      fc.property(corpus, fc.nat(), fc.nat(12), (samples, seed, cut) => {
        const shuffled = samples
          .map((sample, index) => ({ sample, rank: Math.imul(index + 1, seed | 1) % 101 }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ sample }) => sample)
        const whole = reportSummary(folded(samples))
        expect(reportSummary(folded(shuffled))).toEqual(whole)
        expect(reportSummary(addTotals(folded(samples.slice(0, cut)), folded(samples.slice(cut))))).toEqual(whole)
      }),
    )
  })

  test('add up for samples, spans, tokens and turns', () => {
    fc.assert(
      fc.property(corpus, (samples) => {
        const { totals, kinds, turns, tools, unchecked: reasons, missedCalls } = reportSummary(folded(samples))
        const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0)
        const all = samples.flatMap((sample) => (sample.kind === 'checked' ? [sample] : []))
        expect(totals.samples.checked + totals.samples.unchecked).toBe(samples.length)
        expect(totals.samples.drifting).toBe(
          all.filter(({ severity }) => severity === 'trained' || severity === 'context').length,
        )
        expect(sum(reasons.map((reason) => reason.samples))).toBe(totals.samples.unchecked)
        expect(sum(kinds.map(({ spans }) => spanCount(spans)))).toBe(spanCount(totals.spans))
        expect(totals.layers.structural + totals.layers.content).toBe(spanCount(totals.spans))
        expect(sum(kinds.map(({ layers }) => layers.structural))).toBe(totals.layers.structural)
        const isStructural = ({ kinds: own }: CheckedSample) => own.some(({ layers }) => layers.structural > 0)
        expect(totals.samples.structural).toBe(all.filter(isStructural).length)
        expect(totals.tokens.left).toBe(sum(all.map(({ tokens }) => tokens.left)))
        expect(totals.wasted.prefix).toBe(sum(all.map(({ prefixLost }) => prefixLost)))
        expect(totals.wasted.prefix).toBeLessThanOrEqual(totals.wasted.prefixOf)
        expect(sum(turns.map(({ reached, turn }) => (turn === undefined ? 0 : reached)))).toBe(totals.turns)
        expect(sum(tools.map(({ calls }) => calls))).toBe(
          sum(all.flatMap(({ byTool }) => byTool.map((one) => one.calls))),
        )
        expect(missedCalls.responses).toBe(sum(all.map((sample) => sample.missedCalls?.responses ?? 0)))
        expect(missedCalls.samples).toBe(all.filter((sample) => sample.missedCalls).length)
        expect(sum(missedCalls.readers.map(({ responses }) => responses))).toBe(
          sum(all.flatMap((sample) => sample.missedCalls?.readers.map(({ responses }) => responses) ?? [])),
        )
        expect(kinds.every(({ samples: hit }) => hit <= totals.samples.checked)).toBe(true)
      }),
    )
  })

  test('of no samples have no rates', () => {
    expect(reportSummary(NO_TOTALS).totals.rate).toEqual({ samples: null, per1000Tokens: null, perTurn: null })
  })
})

describe('a corpus report', () => {
  const report = (samples: readonly Sample[]) =>
    corpusReport({ against: { mode: 'text' }, partial: false }, folded(samples), samples)

  test('matches its schema', () => {
    fc.assert(
      fc.property(corpus, (samples) => {
        const made = report(samples)
        expect(corpusReportSchema.parse(JSON.parse(JSON.stringify(made)))).toEqual(made)
      }),
    )
  })

  test('as CSV has a row for each sample and each kind, all as wide as their headers', () => {
    fc.assert(
      fc.property(corpus, (samples) => {
        const made = report(samples)
        for (const [table, rows] of [
          [readCsv(samplesCsv(made)), made.samples.length],
          [readCsv(kindsCsv(made)), made.kinds.length],
        ] as const) {
          expect(table).toHaveLength(rows + 1)
          expect(new Set(table.map(({ length }) => length)).size).toBe(1)
        }
      }),
    )
  })

  test('as CSV preserves every text, and gives a spreadsheet no formula', () => {
    const sample = { ...checkedAs(check(drifting)), title: 'one "two"\nthree, four', id: '=1+1' }
    const [head = [], row = []] = readCsv(samplesCsv(report([sample])))
    expect(row[head.indexOf('title')]).toBe('one "two"\nthree, four')
    expect(row[head.indexOf('id')]).toBe("'=1+1")
    expect(row[head.indexOf('place')]).toBe('a.jsonl:3')
    expect(Number(row[head.indexOf('trained_tokens')])).toBe(sample.trained.of)
  })
})

/** Reads CSV by the grammar of RFC 4180. Returns the fields of each record. */
function readCsv(csv: string): string[][] {
  const records: string[][] = []
  let fields: string[] = []
  for (const [, quoted, plain = '', end] of csv.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === '\r\n') {
      records.push(fields)
      fields = []
    }
  }
  return records
}
