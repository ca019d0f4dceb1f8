/**
 * Measures the time from a chosen file to its tokens, in the inspector and in two baselines: `node bench/inspector-load.ts
 * [tokens]`. The trajectory is generated: 27 % of its tokens are trained, with 5 alternatives each.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import { largeTrajectory } from '../e2e/large-trajectory.ts'
import { serveBaselines } from './baselines/serve.ts'
import { chooseFile, FIRST_TOKENS, longTasks, settled, untilDrawn, weigh, withBench } from './browser.ts'
import { reportFigure } from './figures.ts'

const tokens = Number(process.argv[2] ?? 200_000)
const scratch = mkdtempSync(path.join(os.tmpdir(), 'rollscope-load-'))
const file = path.join(scratch, 'large.json')
writeFileSync(file, encode(largeTrajectory({ tokens })))
const baselines = await serveBaselines()
/** Time after leaving the page until its memory must be free, in milliseconds. */
const LET_GO_MS = 5_000

await withBench(async ({ open }) => {
  const page = await open()
  await settled(page)
  const painted = firstPaint(page, FIRST_TOKENS)
  await chooseFile(page, file)
  await reportLoad('', page, await painted, { painted: 500, interactive: 1000, longest: 100, nodes: 5000, heap: 100 })
  await page.waitForURL(/\/t\//)
  await page.getByRole('link', { name: 'Library' }).click()
  await page.locator('[data-library="idle"]').waitFor()
  await page.waitForTimeout(LET_GO_MS)
  const left = await weigh(page)
  reportFigure('after the page was left: heap and typed arrays', (left.heap + left.buffers) / 1e6, 'MB', 25)
  await page.context().close()

  for (const [who, hash] of [
    ['a React span per token: ', '#spans'],
    ['react-window rows: ', '#rows'],
  ] as const) {
    const baseline = await open(hash, baselines.base)
    const painted = firstPaint(baseline, '.token')
    await baseline.getByLabel('Trajectory file').setInputFiles(file)
    await reportLoad(who, baseline, await painted, {})
    reportFigure(`${who}pointed at → highlighted`, await pointed(baseline), 'ms')
    await baseline.context().close()
  }
})
await baselines.close()
rmSync(scratch, { recursive: true })

/** Returns the milliseconds from the moment when the pointer reaches a token until its highlight is drawn. */
function pointed(page: Page): Promise<number> {
  return untilDrawn(
    page,
    () => {
      const token = document.querySelectorAll('.token')[20]
      token?.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }))
    },
    () => document.querySelector('.token.pointed') !== null,
    null,
  )
}

/** Returns the page's time of the first frame with an element that matches the selector. */
function firstPaint(page: Page, selector: string): Promise<number> {
  return page.evaluate(async (selector) => {
    while (!document.querySelector(selector)) await new Promise((resolve) => requestAnimationFrame(resolve))
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)))
    return performance.now()
  }, selector)
}

interface Limits {
  readonly painted?: number
  readonly interactive?: number
  readonly longest?: number
  readonly nodes?: number
  readonly heap?: number
}

/** Reports the figures of a loaded page. Interactive is the time after which no task over 50 ms remains. */
async function reportLoad(who: string, page: Page, painted: number, limits: Limits): Promise<void> {
  await settled(page)
  const { chosen, lastEnd } = await page.evaluate(() => ({
    chosen: window.recorded.chosen,
    lastEnd: Math.max(...window.recorded.longTasks.map(({ start, duration }) => start + duration)),
  }))
  const { nodes, heap, buffers } = await weigh(page)
  const [longest = 0] = await longTasks(page, chosen)
  reportFigure(`${who}file chosen → first tokens painted`, painted - chosen, 'ms', limits.painted)
  reportFigure(`${who}file chosen → interactive`, Math.max(painted, lastEnd) - chosen, 'ms', limits.interactive)
  reportFigure(`${who}longest task`, longest, 'ms', limits.longest)
  reportFigure(`${who}DOM nodes`, nodes, 'nodes', limits.nodes)
  reportFigure(`${who}heap`, heap / 1e6, 'MB', limits.heap)
  reportFigure(`${who}typed arrays beside it`, buffers / 1e6, 'MB')
}
