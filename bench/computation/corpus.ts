/**
 * Measures a drift report over a corpus in tokens per second: 300 generated conversations with tools, in the ids of Qwen3's
 * tokenizer, compared with their messages in Qwen3's chat template. Its limit is a multiple of what every report needs: the
 * messages rendered and encoded again. Encoding the finished texts alone is the lower bound; the words of the corpus repeat, so
 * most of them are remembered. Run it with `node bench/computation/corpus.ts`.
 *
 * Figures are medians of alternating runs in this process, in processor time of this thread.
 */
import { buildSide } from '#lib/analysis/compare/retokenized.ts'
import { checkSample } from '#lib/analysis/corpus/check.ts'
import { corpusReport } from '#lib/analysis/corpus/report.ts'
import type { Sample } from '#lib/analysis/corpus/sample.ts'
import { NO_TOTALS, spanCount, withSample } from '#lib/analysis/corpus/totals.ts'
import { openEach } from '#lib/formats/reading/open-each.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { driftingCorpus } from '../support/drifting-corpus.ts'
import { median, reportFigure } from '../support/figures.ts'

const SAMPLES = 300
const RUNS = 7
/** The largest time of a report, as a multiple of the time in which the messages alone are rendered and encoded again. It also renders the prompt of each call. */
const MOST = 4

const { tokenizer: qwen, trajectories } = driftingCorpus(SAMPLES)
const lines = trajectories.map((one) => Buffer.from(`${JSON.stringify(one)}\n`))
const tokens = trajectories.reduce((sum, one) => sum + tokenCount(one), 0)
const rendered = retokenized().map((trajectory) => textOf(ids(trajectory), trajectory.vocab))

/** Renders and encodes the messages of every conversation again. */
function retokenized() {
  return trajectories.map((trajectory) => {
    const side = buildSide({ as: { kind: 'structured' }, trajectory, tokenizer: qwen, template: undefined })
    if (!side.ok) throw new Error(side.why)
    return side.value.trajectory
  })
}

async function report() {
  const samples: Sample[] = []
  let totals = NO_TOTALS
  const source = { file: 'corpus.jsonl', now: '2026-01-01T00:00:00.000Z', newId: () => '' }
  for await (const one of openEach(chunks(), source)) {
    if (!one.ok) throw new Error(one.error.message)
    const place = { kind: 'file', file: 'corpus.jsonl', record: samples.length + 1 } as const
    const sample = checkSample(place, {
      as: { kind: 'structured' },
      trajectory: one.trajectory,
      tokenizer: qwen,
      template: undefined,
    })
    samples.push(sample)
    totals = withSample(totals, sample)
  }
  return corpusReport({ against: { mode: 'structured' }, partial: false }, totals, samples)
}

async function* chunks() {
  yield* lines
}

const encode = (): number => rendered.reduce((sum, one) => sum + qwen.tokenizer.encode(one).length, 0)

/** Returns the processor time of this thread in milliseconds. */
async function milliseconds(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

const { totals } = await report()
encode()
console.log(
  `${totals.samples.checked} samples, ${tokens} tokens (${lines.join('').length >> 20} MB of JSON lines), ` +
    `${spanCount(totals.spans)} drift spans in ${totals.samples.drifting} samples`,
)
const runs: { readonly report: number; readonly retokenize: number; readonly encode: number }[] = []
for (let run = 0; run < RUNS; run++)
  runs.push({
    report: await milliseconds(report),
    retokenize: await milliseconds(retokenized),
    encode: await milliseconds(encode),
  })
const perSecond = (ms: number): number => (1000 * tokens) / ms
reportFigure('corpus report, tokens/s', perSecond(median(runs.map((run) => run.report))), '')
reportFigure('rendering and encoding alone, tokens/s', perSecond(median(runs.map((run) => run.retokenize))), '')
reportFigure('encoding alone, tokens/s', perSecond(median(runs.map((run) => run.encode))), '')
reportFigure('report over rendering and encoding', median(runs.map((run) => run.report / run.retokenize)), '×', MOST)
