/** The lanes of the compare page: rows of both sides, folds, keys, one column, and many tokens. */
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/core/codec.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { AUTHORIZED, CHANGING, idle, open } from './application.ts'
import { expectAccessible, expectWithin, WINDOWS, watch } from './fit.ts'
import { largeTrajectory } from './large-trajectory.ts'

const DRIFTING = '/compare?left=example:retokenization-drift&right=example:retokenization-drift~text'

const left = largeTrajectory({ tokens: 20_000, seed: 11, alternatives: 0 })
const EVERY = 80
/** Every 80th token is another one. */
const right: Trajectory = {
  ...left,
  id: `${left.id}-changed`,
  segments: left.segments.map((segment) => ({
    ...segment,
    ids: segment.ids.map((id, index) => (index % EVERY === EVERY - 1 ? (segment.ids[0] ?? id) : id)),
  })),
}

test.beforeAll(async ({ request }) => {
  const headers = { ...CHANGING, 'content-type': 'application/octet-stream' }
  for (const side of [left, right]) {
    const reply = await request.post('/api/import?name=side.json', { headers, data: Buffer.from(encode(side)) })
    expect(reply.ok()).toBe(true)
  }
})

test.afterAll(async ({ request }) => {
  for (const { id } of [left, right])
    await request.delete(`/api/trajectories/${id}`, { headers: { ...AUTHORIZED, 'x-rollscope': '1' } })
})

const grid = (page: Page) => page.getByRole('grid', { name: 'Tokens of both sides' })
const lane = (page: Page, name: 'Left' | 'Right') => page.getByRole('rowgroup', { name, exact: true })
const folds = (page: Page) => page.locator('.lane-fold:not([hidden])')
const chosen = (page: Page, name: 'left' | 'right' | 'both') => page.locator(`#${name}-chosen-token`)

/** Rows of a lane from the top: where they stand and what they hold. */
const rowsOf = (page: Page, name: 'Left' | 'Right') =>
  lane(page, name)
    .locator('.token-row:not([hidden])')
    .evaluateAll((rows) =>
      rows
        .map((row) => ({ top: row.getBoundingClientRect().top, text: row.firstElementChild?.textContent ?? '' }))
        .sort((a, b) => a.top - b.top),
    )

test('both lanes have the same rows; what is identical unfolds by click, and keys step within and across', async ({
  page,
}) => {
  const wrongs = watch(page)
  await open(page, DRIFTING)
  await idle(page)
  const [ours, theirs] = [await rowsOf(page, 'Left'), await rowsOf(page, 'Right')]
  // The same text cut otherwise: rows stand beside each other, and read the same.
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

  // A click on a token in drift chooses it and pins its drift.
  await page.mouse.click(place.x + 4, place.y + 4)
  await expect(page).toHaveURL(/drift=0/)
  await expect(chosen(page, 'left')).toHaveAttribute('data-index', String(first))
  expect(wrongs).toEqual([])
})

test('one column tells left from right by sign and word, fits narrow windows, and is readable by machines', async ({
  page,
}) => {
  await open(page, DRIFTING)
  for (const window of WINDOWS) {
    await page.setViewportSize(window)
    await idle(page)
    await expectAccessible(page, '.token-viewport')
    await expectWithin(grid(page))
  }
  await expect(grid(page)).toHaveAttribute('data-arrangement', 'unified')
  await expect(page.locator('.lane-sign').filter({ hasText: '−' })).toHaveCount(3)
  await expect(page.locator('.lane-sign').filter({ hasText: '+' })).toHaveCount(3)
  await expect(page.getByRole('row', { name: /^left: / })).toHaveCount(3)
  await expect(page.getByRole('row', { name: /^right: / })).toHaveCount(3)
})

test('20,000 tokens a side with a drift every 80: few nodes, and each drift comes to the upper third', async ({
  page,
}) => {
  await open(page, `/compare?left=${left.id}&right=${right.id}`)
  await idle(page)
  const nodes = () => grid(page).evaluate((element) => element.querySelectorAll('*').length)
  expect(await nodes()).toBeLessThan(3000)
  await page.goto(`${new URL(page.url()).pathname}?left=${left.id}&right=${right.id}&drift=200`)
  await idle(page)
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
