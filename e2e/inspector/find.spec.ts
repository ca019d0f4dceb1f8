/** Find in the inspector: keys and focus, the address, the help, and both windows. */
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textWithStarts, tokensAt } from '#lib/trajectory/tokens/pieces.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import { idle, open, reload } from '../support/application.ts'
import { expectFitEverywhere, watch } from '../support/fit.ts'
import { CORE } from '../support/tags.ts'

const NAME = 'two-steps'
const trajectory: Trajectory = JSON.parse(readFileSync(`public/examples/${NAME}.json`, 'utf8'))
const written = textWithStarts(ids(trajectory), trajectory.vocab)
const { text } = written

type Place = readonly [number, number]

/** Returns the first and last token of each match, computed from the text of all tokens. */
function placesOf(needle: string): readonly Place[] {
  const places: Place[] = []
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + needle.length)) {
    const { start, end } = tokensAt(written, at, at + needle.length)
    places.push([start, end - 1])
  }
  return places
}

const field = (page: Page) => page.getByLabel('Find', { exact: true })
const expectHits = (page: Page, hits: number) =>
  expect(page.locator(`[data-find-state="done"][data-hits="${hits}"]`)).toBeVisible()
/** Returns a hit as in the address: from its last token to its first, so that the first is scrolled into view. */
const addressOf = ([start, last]: Place) => (start === last ? `${start}` : `${last}-${start}`)
const expectSelected = (page: Page, place: Place) =>
  expect.poll(() => new URL(page.url()).searchParams.get('at')).toBe(addressOf(place))

test('Find steps through hits across tokens, is restored by a reload, and fits both windows with its help', {
  tag: CORE,
}, async ({ page }) => {
  const wrongs = watch(page)
  await open(page, `/example/${NAME}`)
  await idle(page)
  const places = placesOf('25 * 17')
  expect(places.length).toBeGreaterThan(2)
  expect(places.every(([start, last]) => last > start)).toBe(true)
  const [first, last] = [places[0] as Place, places.at(-1) as Place]

  await test.step('the slash key moves the focus to the field, Enter to the hits, Escape back to the tokens', async () => {
    await page.getByRole('grid').focus()
    await page.keyboard.press('/')
    await expect(field(page)).toBeFocused()
    // The frame of the field has the focus ring, because the field ends before its buttons.
    await expect(field(page).locator('..')).toHaveCSS('outline-style', 'solid')
    await page.keyboard.type('25 * 17')
    await expectHits(page, places.length)
    await page.keyboard.press('Enter')
    await expectSelected(page, first)
    await page.keyboard.press('Enter')
    await expectSelected(page, places[1] as Place)
    await expect(page.getByText(`2 of ${places.length}`)).toBeVisible()
    await expect(field(page)).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('grid')).toBeFocused()
    await page.keyboard.press('p')
    await expectSelected(page, first)
    await page.keyboard.press('p')
    await expectSelected(page, last)
    await page.keyboard.press('n')
    await expectSelected(page, first)
  })

  await test.step('a reload shows the same hit and the earlier queries', async () => {
    await field(page).fill('calculator mask:1')
    await page.keyboard.press('Enter')
    const count = page.locator('[data-find-state="done"]')
    await expect(field(page)).toHaveAttribute('data-find', 'calculator mask:1')
    await expect(count).toHaveText(/^\d+ of \d+$/)
    const shown = (await count.textContent()) ?? ''
    // The address is written shortly after the page changes, so the test waits for the hit of this query.
    await page.waitForURL(
      ({ searchParams: asked }) => asked.get('find') === 'calculator mask:1' && asked.get('at') !== addressOf(first),
    )
    const address = page.url()
    await reload(page)
    await idle(page)
    await expect(field(page)).toHaveValue('calculator mask:1')
    await expect(count, `${address}, then ${page.url()}`).toHaveText(shown)
    await field(page).focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('ArrowUp')
    await expect(field(page)).toHaveValue('25 * 17')
  })

  await test.step('the answer under the field and the help fit both windows', async () => {
    await field(page).fill('rank>1')
    await expect(page.getByText(/tokens in all/)).toBeVisible()
    const showAnswer = async (isNarrow: boolean) => {
      if (isNarrow) await page.getByRole('button', { name: 'Colours and find' }).click()
      await field(page).focus()
      await expect(page.getByText(/tokens in all/)).toBeVisible()
    }
    await expectFitEverywhere(page, showAnswer, 'search')
    await page.getByRole('button', { name: 'Search help' }).click()
    const help = page.getByRole('dialog', { name: 'Search help' })
    const showHelp = () => expect(help.getByRole('heading', { name: 'In this trajectory' })).toBeVisible()
    await expectFitEverywhere(page, showHelp, '[role="dialog"]')
    await page.getByRole('button', { name: 'tool:calculator' }).click()
    await expect(field(page)).toBeFocused()
    await expect(field(page)).toHaveValue('tool:calculator')
    await expect(page.locator('[data-find-state="done"]:not([data-hits="0"])')).toBeVisible()
  })
  expect(wrongs).toEqual([])
})
