/** The lanes of the compare page: rows of both sides, folds, keys, the unified view, and many tokens. */
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { idle, open, postImport } from '../support/application.ts'
import { expectAccessible, expectWithin, SCREENS, WINDOWS, watch } from '../support/fit.ts'

const DRIFTING = '/compare?left=example:retokenization-drift&right=example:retokenization-drift~text'

const TOKENS = 8_000
const EVERY = 80
const example = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8')) as Trajectory
/** A trajectory with a long response; on the right, every 80th token differs. */
const side = (name: 'left' | 'right'): Trajectory => ({
  ...example,
  id: `lanes-${name}`,
  vocab: { '1': 'one ', '2': 'two ', '3': 'three\n' },
  segments: [
    {
      kind: 'response',
      ids: Array.from({ length: TOKENS }, (_, index) =>
        index % EVERY === EVERY - 1 ? (name === 'left' ? 1 : 2) : index % 10 === 9 ? 3 : 1,
      ),
      thinks: [],
      toolCalls: [],
    },
  ],
})

const grid = (page: Page) => page.getByRole('grid', { name: 'Tokens of both sides' })
const lane = (page: Page, name: 'Left' | 'Right') => page.getByRole('rowgroup', { name, exact: true })
const folds = (page: Page) => page.locator('.lane-fold:not([hidden])')
const chosen = (page: Page, name: 'left' | 'right' | 'both') => page.locator(`#${name}-chosen-token`)

/** Returns position and content of the rows of a lane, from the top. */
const rowsOf = (page: Page, name: 'Left' | 'Right') =>
  lane(page, name)
    .locator('.token-row:not([hidden])')
    .evaluateAll((rows) =>
      rows
        .map((row) => ({ top: row.getBoundingClientRect().top, text: row.firstElementChild?.textContent ?? '' }))
        .sort((a, b) => a.top - b.top),
    )

test('Both lanes have the same rows, folds open by click, keys step within and across, and the unified view fits a narrow window', async ({
  page,
}) => {
  const wrongs = watch(page)
  await open(page, DRIFTING)
  await idle(page)
  const [ours, theirs] = [await rowsOf(page, 'Left'), await rowsOf(page, 'Right')]
  // Both sides have the same text in different tokens, so rows are beside each other and their texts are equal.
  expect(ours.length).toBeGreaterThan(3)
  expect(ours).toEqual(theirs)

  await folds(page).first().click()
  const opened = await rowsOf(page, 'Left')
  expect(opened.length).toBeGreaterThan(ours.length)
  expect(opened).toEqual(await rowsOf(page, 'Right'))
  await page.locator('.lane-unfold:not([hidden])').first().click()
  await expect(folds(page)).toHaveCount(4)

  await grid(page).focus()
  await page.keyboard.press(']')
  await expect(page).toHaveURL(/drift=0/)
  await expect(chosen(page, 'left')).toHaveAttribute('data-index', /\d+/)
  const first = Number(await chosen(page, 'left').getAttribute('data-index'))
  const place = (await chosen(page, 'left').boundingBox()) ?? { x: 0, y: 0 }
  await page.keyboard.press('j')
  await expect(chosen(page, 'left')).toHaveAttribute('data-index', String(first + 1))
  await page.keyboard.press('o')
  await expect(chosen(page, 'right')).toBeVisible()
  await expect(grid(page)).toHaveAttribute('aria-activedescendant', 'right-chosen-token')
  await page.keyboard.press('Escape')
  await expect(page).not.toHaveURL(/drift=/)
  await expect(chosen(page, 'right')).toBeHidden()

  await page.keyboard.press('c')
  await expect(page.locator('.lane-fold[data-divider="true"]:not([hidden])').first()).toBeVisible()
  await page.keyboard.press('c')

  // A click on a token in drift chooses it and pins its drift span.
  await page.mouse.click(place.x + 4, place.y + 4)
  await expect(page).toHaveURL(/drift=0/)
  await expect(chosen(page, 'left')).toHaveAttribute('data-index', String(first))

  for (const { viewport, colorScheme } of SCREENS) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme })
    await expect(grid(page)).toHaveAttribute('data-arrangement', viewport === WINDOWS[0] ? 'lanes' : 'unified')
    await idle(page)
    await expectAccessible(page, '.token-viewport')
    await expectWithin(grid(page))
    for (const name of [/^Previous /, 'Unified', 'Logprob', /^Legend/])
      await expect(page.getByRole('button', { name })).toBeInViewport({ ratio: 1 })
  }
  await expect(page.locator('.lane-sign').filter({ hasText: '−' })).toHaveCount(3)
  await expect(page.locator('.lane-sign').filter({ hasText: '+' })).toHaveCount(3)
  await expect(page.getByRole('row', { name: /^left: / })).toHaveCount(3)
  await expect(page.getByRole('row', { name: /^right: / })).toHaveCount(3)
  expect(wrongs).toEqual([])
})

test('Lanes of many tokens have few nodes, and a drift span is scrolled to the upper third', async ({
  page,
  request,
}) => {
  for (const name of ['left', 'right'] as const) await postImport(request, encode(side(name)))
  await open(page, '/compare?left=lanes-left&right=lanes-right&drift=60')
  await idle(page)
  const nodes = () => grid(page).evaluate((element) => element.querySelectorAll('*').length)
  expect(await nodes()).toBeLessThan(3000)
  const share = () =>
    page.evaluate(() => {
      const view = document.querySelector('.token-viewport')?.getBoundingClientRect()
      const note = document.querySelector('.lane-note[data-chosen="true"]:not([hidden])')?.getBoundingClientRect()
      return view && note ? (note.top - view.top) / view.height : -1
    })
  await expect.poll(share).toBeGreaterThan(0.25)
  expect(await share()).toBeLessThan(0.45)
  await grid(page).focus()
  await page.keyboard.press('Z')
  await expect(folds(page)).toHaveCount(0)
  await page.keyboard.press('G')
  await expect
    .poll(() => grid(page).evaluate((view) => view.scrollTop + view.clientHeight > view.scrollHeight - 200))
    .toBe(true)
  expect(await nodes()).toBeLessThan(3000)
})
