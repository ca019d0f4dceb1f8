/**
 * Measures searches over 200,000 and 1,000,000 tokens: texts, expressions, ids and facts, as the worker runs them, and in the
 * page from the key to the count. A plain indexOf over the same text shows the lower bound. Making the text is a separate
 * figure, because it happens once.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { findTask } from '#lib/analysis/find/find.ts'
import { foldedText } from '#lib/analysis/find/folded-text.ts'
import { textIndex } from '#lib/analysis/find/text-index.ts'
import { runToEnd } from '#lib/tasks/task.ts'
import { encode } from '#lib/trajectory/format/codec.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { largeTrajectory } from '../../e2e/support/large-trajectory.ts'
import { openStored, withBench } from '../support/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'

const SIZES = [200_000, 1_000_000]
/** The limit in milliseconds for 200,000 tokens. */
const LIMIT_MS = 100
const ROUNDS = 7
const RARE = 'loss mask'
const QUERIES = [
  RARE,
  'e',
  '/export (const|function) \\w+/',
  '/\\w+/',
  'id:198',
  'logprob<-3',
  'entropy>1',
  'rank>1 span:call -segment:3',
  '"const" mask:1 or p<0.01',
]

const large = SIZES.map((tokens) => largeTrajectory({ tokens }))
for (const [index, tokens] of SIZES.entries()) {
  const { trajectory } = pack(large[index] as (typeof large)[number])
  const size = tokens.toLocaleString('en')
  const limit = tokens === SIZES[0] ? LIMIT_MS : undefined
  reportFigure(
    `${size}: make the text, once`,
    median(() => textIndex({ ...trajectory })),
    'ms',
    limit,
  )
  const { folded } = textIndex(trajectory)
  reportFigure(
    `${size}: every indexOf of “${RARE}”, no tokens`,
    median(() => everyIndexOf(folded, foldedText(RARE))),
    'ms',
  )
  for (const query of QUERIES)
    reportFigure(
      `${size}: ${query}`,
      median(() => hitsOf(query, trajectory)),
      'ms',
      limit,
    )
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-bench-find-'))
const file = path.join(folder, 'large.json')
writeFileSync(file, encode(large[0] as (typeof large)[number]))
try {
  await withBench(async ({ open }) => {
    const page = await open('/library')
    await openStored(page, file)
    // The first search makes the text, unless the page has already made it.
    for (const query of ['read', ...QUERIES]) {
      const times: number[] = []
      for (let round = 0; round < ROUNDS; round++) times.push(await fromKeyToCount(page, query))
      reportFigure(`in the page, 200,000: ${query}`, percentile(times, 0.5), 'ms', LIMIT_MS)
    }
  })
} finally {
  rmSync(folder, { recursive: true })
}

/**
 * Returns the milliseconds from the start of the search to the frame with its result, without the pause that waits for
 * further keys.
 */
async function fromKeyToCount(page: Page, query: string): Promise<number> {
  const field = page.getByLabel('Find', { exact: true })
  await field.fill('')
  await page.locator('[data-find-state="none"]').waitFor({ state: 'attached' })
  await field.fill(query)
  await page.locator('[data-find-state="done"]').waitFor()
  await page.evaluate(() => new Promise(requestAnimationFrame))
  return page.evaluate(() => performance.getEntriesByName('rollscope: find').at(-1)?.duration ?? Number.NaN)
}

function hitsOf(query: string, trajectory: TrajectoryView): number {
  const result = runToEnd(findTask({ query }, trajectory))
  if (result.kind !== 'found') throw new Error(`${query}: ${JSON.stringify(result)}`)
  return result.hits.length / 2
}

function everyIndexOf(text: string, needle: string): number {
  let count = 0
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) count++
  return count
}

/** Returns the median duration of several runs in milliseconds. */
function median(run: () => unknown): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now()
    run()
    return performance.now() - start
  })
  return percentile(times, 0.5)
}
