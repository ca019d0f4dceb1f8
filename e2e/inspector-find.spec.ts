/** Find: what is typed against what stands in the file, from hit to hit, faults at their place, and links. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/core/codec.ts'
import { textWithStarts, tokensAt } from '#lib/core/pieces.ts'
import { ids, lossMask } from '#lib/core/tokens.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { idle, open } from './application.ts'
import { expectFit, SCREENS, watch } from './fit.ts'
import { largeTrajectory } from './large-trajectory.ts'

const NAME = 'two-steps'
const trajectory: Trajectory = JSON.parse(readFileSync(`public/examples/${NAME}.json`, 'utf8'))
const { text, starts } = textWithStarts(ids(trajectory), trajectory.vocab)

/** First and last token of each place, from the text of all tokens. */
function placesOf(needle: string): readonly (readonly [number, number])[] {
  const places: [number, number][] = []
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
    const { start, end } = tokensAt(starts, at, at + needle.length)
    places.push([start, end - 1])
  }
  return places
}

const field = (page: Page) => page.getByLabel('Find', { exact: true })
const found = (page: Page, hits: number) =>
  expect(page.locator(`[data-find-state="done"][data-hits="${hits}"]`)).toBeVisible()
/** A hit is chosen from its last token to its first, so that the first comes into sight. */
const expectChosen = (page: Page, [start, last]: readonly [number, number]) =>
  expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe(start === last ? `${start}` : `${last}-${start}`)

async function show(page: Page, query = ''): Promise<void> {
  await open(page, `/example/${NAME}${query}`)
  await idle(page)
}

test('a text across tokens: counted, gone through both ways, and left for the tokens', async ({ page }) => {
  await show(page)
  const places = placesOf('25 * 17')
  expect(places.length).toBeGreaterThan(2)
  expect(places.every(([start, last]) => last > start)).toBe(true)
  await page.getByRole('grid').focus()
  await page.keyboard.press('/')
  await expect(field(page)).toBeFocused()
  await page.keyboard.type('25 * 17')
  await found(page, places.length)
  for (const place of [...places, places[0]]) {
    await page.keyboard.press('Enter')
    await expectChosen(page, place as [number, number])
  }
  await expect(page.getByText(`1 of ${places.length}`)).toBeVisible()
  await page.keyboard.press('Shift+Enter')
  await expectChosen(page, places.at(-1) as [number, number])
  await expect(field(page)).toBeFocused()

  await page.keyboard.press('Escape')
  await expect(page.getByRole('grid')).toBeFocused()
  await page.keyboard.press('n')
  await expectChosen(page, places[0] as [number, number])
  await page.keyboard.press('p')
  await expectChosen(page, places.at(-1) as [number, number])

  await page.getByRole('button', { name: 'Clear' }).click()
  await expect(field(page)).toBeFocused()
  await expect.poll(() => new URL(page.url()).searchParams.get('find')).toBe(null)
})

test('facts and texts together; a link shows the same hit, and what was looked for lately comes back', async ({
  page,
}) => {
  await show(page)
  const mask = lossMask(trajectory)
  const trained = placesOf('calculator').filter(([start, last]) => mask.slice(start, last + 1).includes(1))
  await field(page).fill('calculator mask:1')
  await page.keyboard.press('Enter')
  await expectChosen(page, trained[0] as [number, number])
  await found(page, trained.length)
  await page.goto(page.url())
  await idle(page)
  await expect(field(page)).toHaveValue('calculator mask:1')
  await expect(page.getByText(`1 of ${trained.length}`)).toBeVisible()

  const calls = trajectory.segments.flatMap((segment) => (segment.kind === 'response' ? segment.toolCalls : [])).length
  await field(page).fill('span:call')
  await found(page, calls)
  await page.keyboard.press('Enter')
  await expect(page.getByText(`2 of ${calls}`)).toBeVisible()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('ArrowUp')
  await expect(field(page)).toHaveValue('calculator mask:1')
})

test('what is wrong is underlined and named; the help has the terms and the names of the file', async ({ page }) => {
  await show(page)
  await field(page).fill('mask:1 lgprob<-3')
  await expect(page.getByText('Tokens have no “lgprob”. Did you mean logprob?')).toBeVisible()
  await expect(page.locator('mark', { hasText: /^lgprob$/ })).toBeVisible()
  await expect(field(page)).toHaveAttribute('aria-invalid', 'true')
  await field(page).fill('tool:calculater')
  await expect(page.getByText('Did you mean calculator?')).toBeVisible()
  await page.getByRole('button', { name: 'What can be found' }).click()
  await page.getByRole('button', { name: 'tool:calculator' }).click()
  await expect(field(page)).toBeFocused()
  await expect(field(page)).toHaveValue('tool:calculator')
  await expect(page.locator('[data-find-state="done"]:not([data-hits="0"])')).toBeVisible()
})

test('tens of thousands of hits in a long trajectory', async ({ page }) => {
  const file = path.join(mkdtempSync(path.join(os.tmpdir(), 'rollscope-find-')), 'large.json')
  const large = largeTrajectory({ tokens: 100_000 })
  writeFileSync(file, encode(large))
  await open(page, '/library')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(file)
  await idle(page)
  await field(page).fill('e')
  await expect
    .poll(async () => Number(await page.locator('[data-hits]').getAttribute('data-hits')))
    .toBeGreaterThan(20_000)
  await page.keyboard.press('Shift+Enter')
  await expect(page.getByText(/^([\d,]+) of \1$/)).toBeVisible()
  await field(page).fill(`index:${large.segments[0]?.ids.length}`)
  await found(page, 1)
  await page.keyboard.press('Enter')
  await expectChosen(page, [large.segments[0]?.ids.length as number, large.segments[0]?.ids.length as number])
})

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('find fits', async ({ page }) => {
      const wrongs = watch(page)
      await show(page, '?find=rank%3E1')
      if (screen.viewport.width < 1024) await page.getByRole('button', { name: 'Colours and find' }).click()
      await expect(page.locator('[data-find-state="done"]:not([data-hits="0"])')).toBeVisible()
      await field(page).focus()
      await expectFit(page)
      await page.getByRole('button', { name: 'What can be found' }).click()
      await expect(page.getByRole('heading', { name: 'In this trajectory' })).toBeVisible()
      await expectFit(page)
      expect(wrongs).toEqual([])
    })
  })
