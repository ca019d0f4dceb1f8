/**
 * Measures the offline page: its size, and the time from opening the file to its tokens, for an example and for generated
 * trajectories with 5 alternatives at trained tokens.
 */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import { largeTrajectory } from '../../e2e/support/large-trajectory.ts'
import { chooseFile, FIRST_TOKENS, weigh, withBench } from '../support/browser.ts'
import { reportFigure } from '../support/figures.ts'

const scratch = mkdtempSync(path.join(os.tmpdir(), 'rollscope-offline-'))

await withBench(async ({ browser, open }) => {
  const example = await open('/example/two-steps')
  await measure('example', browser, example)
  for (const tokens of [50_000, 200_000]) {
    const file = path.join(scratch, `${tokens}.json`)
    writeFileSync(file, encode(largeTrajectory({ tokens })))
    const page = await open('/library')
    await chooseFile(page, file)
    await measure(`${tokens.toLocaleString('en')} tokens`, browser, page, tokens === 50_000 ? 1_500 : undefined)
  }
})
rmSync(scratch, { recursive: true })

async function measure(what: string, browser: Browser, page: Page, limit?: number): Promise<void> {
  await page.locator(FIRST_TOKENS).first().waitFor()
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  const button = page.getByRole('button', { name: 'Export as an offline page' })
  await button.waitFor()
  const startedAt = performance.now()
  const download = page.waitForEvent('download')
  await button.click()
  const file = path.join(scratch, 'page.html')
  await (await download).saveAs(file)
  reportFigure(`${what}: saved`, performance.now() - startedAt, 'ms')
  await page.context().close()
  reportFigure(`${what}: size of the file`, statSync(file).size / 1e6, 'MB')
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const saved = await context.newPage()
  await saved.addInitScript((selector) => {
    const look = () => {
      if (!document.querySelector(selector)) return requestAnimationFrame(look)
      // The frame that has found it is painted before the next task.
      return setTimeout(() => {
        document.documentElement.dataset.painted = String(performance.now())
      })
    }
    requestAnimationFrame(look)
  }, FIRST_TOKENS)
  await saved.goto(pathToFileURL(file).href)
  await saved.locator('html[data-painted]').waitFor()
  reportFigure(
    `${what}: opened → first tokens painted`,
    Number(await saved.getAttribute('html', 'data-painted')),
    'ms',
    limit,
  )
  const { nodes, heap, buffers } = await weigh(saved)
  reportFigure(`${what}: DOM nodes`, nodes, 'nodes', 5_000)
  reportFigure(`${what}: heap and typed arrays`, (heap + buffers) / 1e6, 'MB')
  await context.close()
}
