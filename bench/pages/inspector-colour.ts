/**
 * Measures the colours of a long trajectory: `node bench/pages/inspector-colour.ts [tokens]`. Figures are the time from a choice in
 * the menu to the drawn tokens and minimap, the counting for the minimap alone, and a step of the scale's handle.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Page } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import { largeTrajectory } from '../../e2e/support/large-trajectory.ts'
import { openStored, untilDrawn, waitUntilSettled, withBench } from '../support/browser.ts'
import { percentile, reportFigure } from '../support/figures.ts'

const tokens = Number(process.argv[2] ?? 200_000)
/** Choices of each colour after the first: a percentile of nine would be the slowest of them. */
const ROUNDS = 4
const scratch = mkdtempSync(path.join(os.tmpdir(), 'rollscope-colour-'))
const file = path.join(scratch, 'large.json')
writeFileSync(file, encode(largeTrajectory({ tokens })))

await withBench(async ({ open }) => {
  const page = await open()
  await openStored(page, file)
  const modes = [
    'rank',
    'entropy',
    'margin',
    'span',
    'segment',
    'version',
    'column:trainerLogprobs',
    'column:advantage',
    'logprobs',
  ]
  // A person opens the menu before choosing from it.
  await page.getByLabel('More colour modes').focus()
  const first: number[] = []
  for (const mode of modes) first.push(await choose(page, mode))
  const again: number[] = []
  for (let round = 0; round < ROUNDS; round++) for (const mode of modes) again.push(await choose(page, mode))
  const steps: number[] = []
  for (let step = 0; step < 20; step++) steps.push(await moveHandle(page, 1 + step / 10))
  reportFigure('colour switch, first time, worst', Math.max(...first), 'ms', 50)
  reportFigure('colour switch, again, p95', percentile(again, 0.95), 'ms', 50)
  reportFigure('handle to drawn tokens and minimap, p95', percentile(steps, 0.95), 'ms', 50)
})
rmSync(scratch, { recursive: true })

/** Returns the milliseconds from the choice until tokens, legend and minimap are drawn. */
async function choose(page: Page, mode: string): Promise<number> {
  await waitUntilSettled(page)
  return untilDrawn(
    page,
    (mode) => {
      const menu = document.querySelector<HTMLSelectElement>('[aria-label="More colour modes"]')
      if (!menu) throw new Error('there is no menu of colours')
      menu.value = mode
      menu.dispatchEvent(new Event('change', { bubbles: true }))
    },
    (mode) => document.querySelector(`[data-legend="${mode}"]`) !== null,
    mode,
  )
}

async function moveHandle(page: Page, limit: number): Promise<number> {
  return untilDrawn(
    page,
    (limit) => {
      const handle = document.querySelector<HTMLInputElement>('.limit-handle')
      if (!handle) throw new Error('there is no handle')
      // React only notices a value that it did not set itself.
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(handle, String(limit))
      handle.dispatchEvent(new Event('input', { bubbles: true }))
    },
    (limit) => Math.abs(Number(document.querySelector<HTMLElement>('[data-legend]')?.dataset.limit) - limit) < 0.2,
    limit,
  )
}
