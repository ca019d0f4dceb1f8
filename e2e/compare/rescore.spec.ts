/** Rescoring of both sides of a real trajectory on the built-in server. */
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { open } from '../support/application.ts'
import { expectAccessible, expectWithin, SCREENS, watch } from '../support/fit.ts'

const example = JSON.parse(readFileSync('public/examples/retokenization-drift.json', 'utf8')) as Trajectory
const TRAINED = lossMask(example).reduce((sum, trained) => sum + trained, 0)
const PAIR = '/compare?left=example:retokenization-drift&right=example:retokenization-drift~text'

const panel = (page: Page) => page.getByRole('region', { name: 'Rescore on a server' })
const rescored = (page: Page) => page.locator('[data-rescore="rescored"]').waitFor()

test('The drift of a run is rescored on the server that sampled it, and the panel fits every window', async ({
  page,
}) => {
  const problems = watch(page)
  await open(page, PAIR)
  await panel(page).waitFor()
  await page.keyboard.press('w')
  await expect(page.getByRole('button', { name: 'Rescore both sides' })).toBeFocused()
  await page.keyboard.press('Enter')
  await rescored(page)

  // The model, weights and kernels are the same, so the scores of its own tokens are nearly the sampled logprobs.
  const floor = Number(await panel(page).locator('[data-noise]').getAttribute('data-noise'))
  expect(floor).toBeLessThan(1e-3)
  await expect(panel(page)).toContainText(`${TRAINED} of ${TRAINED}`)
  const largest = panel(page).getByRole('list', { name: 'Largest changes' }).getByRole('listitem')
  const delta = Math.abs(Number(await largest.first().getAttribute('data-delta')))
  expect(delta).toBeGreaterThan(100 * floor)
  await expect(page.getByRole('region', { name: 'Summary' })).toContainText('min importance ratio')

  // The largest change shows its drift span, whose card has the ratio and the scores.
  await largest.first().getByRole('button').click()
  await page.waitForURL((url) => url.searchParams.get('drift') !== null)
  await expect(page.getByRole('region', { name: 'Drift span' })).toContainText('importance ratio')
  await expect(page.getByRole('columnheader', { name: 'prefill' }).first()).toBeVisible()

  // Tighter bounds clip more tokens.
  const clipped = async () => Number(await panel(page).locator('output').getAttribute('data-clipped'))
  const cap = panel(page).getByRole('slider', { name: 'C' })
  await cap.focus()
  await page.keyboard.press('End')
  const least = await clipped()
  await page.keyboard.press('Home')
  expect(await clipped()).toBeGreaterThan(least)
  await panel(page)
    .getByText(/^Which /)
    .click()
  await expect(panel(page).getByRole('list', { name: 'Clipped' }).getByRole('listitem').first()).toBeVisible()

  await panel(page).getByRole('button', { name: 'Colour by difference' }).click()
  await page.waitForURL((url) => url.searchParams.get('colour') === 'column:delta')

  for (const { viewport, colorScheme } of SCREENS) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    await expectAccessible(page, '[data-rescore]')
    await expectWithin(panel(page))
  }
  expect(problems).toEqual([])
})
