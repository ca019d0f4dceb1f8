/**
 * Measures the drift report of a dropped file with one worker and with two, alternately, in the same browser: 600 generated conversations
 * with tools in the ids of Qwen3's tokenizer, from the drop to the finished report. The report starts as many workers as the browser
 * says that there are cores. Run it with `node bench/pages/corpus-workers.ts`.
 */
import path from 'node:path'
import type { Page } from '@playwright/test'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { type Bench, withBench } from '../support/browser.ts'
import { driftingCorpus, QWEN_FOLDER } from '../support/drifting-corpus.ts'
import { median, reportFigure } from '../support/figures.ts'

const SAMPLES = 600
const PAIRS = 3

const { trajectories } = driftingCorpus(SAMPLES)
const tokens = trajectories.reduce((sum, one) => sum + tokenCount(one), 0)
const text = trajectories
  .map(({ model, ...rest }) => {
    const tokenizer = { ...model.tokenizer, name: path.basename(QWEN_FOLDER) }
    return JSON.stringify({ ...rest, model: { ...model, tokenizer } })
  })
  .join('\n')

await withBench(
  async (bench) => {
    const rounds: { readonly one: number; readonly two: number }[] = []
    // The first pair warms up the application.
    for (let pair = 0; pair <= PAIRS; pair++) {
      const round = { one: await reportMs(bench, 1), two: await reportMs(bench, 2) }
      if (pair > 0) rounds.push(round)
    }
    const one = median(rounds.map((round) => round.one))
    const two = median(rounds.map((round) => round.two))
    console.log(`${SAMPLES} samples, ${tokens} tokens`)
    reportFigure('drift report with one worker, tokens/s', (1000 * tokens) / one, '')
    reportFigure('drift report with two workers, tokens/s', (1000 * tokens) / two, '')
    const ratio = median(rounds.map((round) => round.one / round.two))
    reportFigure('drift report, two workers beside one', ratio, '×', { atLeast: 1 })
  },
  { ROLLSCOPE_TOKENIZERS: path.dirname(QWEN_FOLDER) },
)

/** Returns the milliseconds from the drop of the file to the finished report in a page with this number of cores. */
async function reportMs({ newContext, open }: Bench, cores: number): Promise<number> {
  const context = await newContext()
  await context.addInitScript((cores) => {
    Object.defineProperty(navigator, 'hardwareConcurrency', { get: () => cores })
  }, cores)
  const page = await open('/compare/corpus', undefined, { context })
  await page.locator('[data-corpus="none"]').waitFor()
  await drop(page)
  const start = performance.now()
  await page.locator('[data-corpus="finished"]').waitFor({ timeout: 300_000 })
  const duration = performance.now() - start
  const summary = (await page.getByLabel('Summary').textContent()) ?? ''
  if (!summary.includes(` of ${SAMPLES} checked`) || summary.includes('not checked'))
    throw new Error(`not all samples were checked: ${summary}`)
  await context.close()
  return duration
}

async function drop(page: Page): Promise<void> {
  const dataTransfer = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([text], 'corpus.jsonl'))
    return transfer
  }, text)
  await page.dispatchEvent('body', 'drop', { dataTransfer })
}
