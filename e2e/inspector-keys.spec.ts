/** The inspector by keys and pointer: choosing, copying, commands, links, tabs, and where the focus goes. */
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { textOf } from '#lib/core/pieces.ts'
import { ids, segmentStarts, tokenCount } from '#lib/core/tokens.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { ask, greedy, idle, open } from './application.ts'
import { expectFit, SCREENS, watch } from './fit.ts'

const NAME = 'two-steps'
const trajectory: Trajectory = JSON.parse(readFileSync(`public/examples/${NAME}.json`, 'utf8'))
const starts = segmentStarts(trajectory)
const count = tokenCount(trajectory)
const textBetween = (start: number, end: number) => textOf(ids(trajectory).slice(start, end), trajectory.vocab)

test.use({ permissions: ['clipboard-read', 'clipboard-write'] })

async function show(page: Page, query = ''): Promise<void> {
  await open(page, `/example/${NAME}${query}`)
  await idle(page)
}

const grid = (page: Page) => page.getByRole('grid', { name: 'Tokens' })
/** Opens the palette and types into it. */
async function command(page: Page, words: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox', { name: 'Command' })).toBeFocused()
  await page.keyboard.type(words)
}

const status = (page: Page) => page.getByRole('status')
const clipboard = (page: Page) => page.evaluate(() => navigator.clipboard.readText())

/** What is chosen, as the address has it; '' for nothing. */
async function expectChosen(page: Page, at: string): Promise<void> {
  await expect.poll(() => new URL(page.url()).searchParams.get('at') ?? '').toBe(at)
}

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/** The middle of a token of the row that begins at `first`, so many cells from its start. */
async function placeIn(page: Page, first: number, column: number) {
  const box = await page.locator(`.token-row[data-first="${first}"] .token-text`).boundingBox()
  if (!box) throw new Error(`no row begins at token ${first}`)
  return { x: box.x + 7.8 * column + 3, y: box.y + box.height / 2 }
}

test('every key that moves, extends and lets go', async ({ page }) => {
  await show(page)
  await grid(page).focus()
  for (const [keys, at] of [
    [['j'], '0'],
    [['j', 'ArrowRight'], '2'],
    [['k'], '1'],
    [['J'], String(starts[1])],
    [['J', 'J', 'K'], String(starts[2])],
    [['G'], String(count - 1)],
    [['g'], '0'],
    [['End'], String(count - 1)],
    [['Home'], '0'],
    [['Shift+ArrowRight', 'Shift+ArrowRight'], '0-2'],
    [['Escape'], '2'],
    [['Escape'], ''],
    [['g', 'Control+a'], `0-${(starts[1] as number) - 1}`],
    [['Control+a'], `0-${count - 1}`],
    [['Escape', 'Escape'], ''],
  ] as const) {
    await press(page, ...keys)
    await expectChosen(page, at)
  }
  await press(page, 'g', 'ArrowDown')
  const down = Number(await page.locator('#token-selected').getAttribute('data-index'))
  expect(down).toBeGreaterThan(0)
  await press(page, 'ArrowUp')
  await expectChosen(page, '0')
  await press(page, 'PageDown')
  await expect.poll(() => Number(new URL(page.url()).searchParams.get('at'))).toBeGreaterThan(down)
  await press(page, 'PageUp')
  await expectChosen(page, '0')
  await expect(grid(page)).toBeFocused()
})

test('every key that does something else', async ({ page }) => {
  await show(page, '?at=200')
  await grid(page).focus()
  await press(page, 'f')
  await expect(status(page).filter({ hasText: 'Forking at a token is not available yet.' })).toBeVisible()
  await press(page, 'm')
  await expect(page).toHaveURL(/colour=mask/)
  await press(page, 'h')
  await expect(page).not.toHaveURL(/colour=mask/)
  await press(page, 'n')
  await expect(status(page).filter({ hasText: 'Nothing is found to go to.' })).toBeVisible()
  await press(page, 'c')
  await expect(status(page).filter({ hasText: 'Link copied.' })).toBeVisible()
  expect(await clipboard(page)).toBe(page.url())
  await press(page, 'e')
  await expect(page.getByRole('dialog', { name: 'Export the trajectory' })).toBeVisible()
  await press(page, 'Escape')
  await expect(grid(page)).toBeFocused()
  await press(page, '?')
  const help = page.getByRole('dialog', { name: 'Keys' })
  await expect(help.getByText('Next segment')).toBeVisible()
  await expect(help.getByText('Send the question')).toHaveCount(0)
  await press(page, 'Escape')
  await expect(grid(page)).toBeFocused()
  await press(page, 'z')
  const folded = page.locator('.token-row[data-fold^="think"]')
  await expect(folded).toBeVisible()
  await press(page, 'z')
  await expect(folded).toHaveCount(0)
  await press(page, 'Z')
  await expect(page.locator('.token-row[data-fold^="segment"]')).toHaveCount(trajectory.segments.length)
  await press(page, 'Z', 'w', '+', '+')
  await page.getByRole('button', { name: 'View options' }).click()
  const options = page.getByRole('dialog', { name: 'View options' })
  await expect(options.getByText('16 px')).toBeVisible()
  await expect(options.getByRole('checkbox')).not.toBeChecked()
  await press(page, 'Escape')
  await page.reload()
  await idle(page)
  await page.getByRole('button', { name: 'View options' }).click()
  await expect(options.getByText('16 px')).toBeVisible()
})

test('letters act in the tokens alone', async ({ page }) => {
  await show(page, '?at=7')
  await grid(page).focus()
  await press(page, '/')
  const field = page.getByLabel('Find', { exact: true })
  await expect(field).toBeFocused()
  await page.keyboard.type('jmGc')
  await expect(field).toHaveValue('jmGc')
  await expectChosen(page, '7')
  await expect(page).not.toHaveURL(/colour=/)
  await page.getByRole('tab', { name: 'Tokens' }).focus()
  await press(page, 'm')
  await expectChosen(page, '7')
  await expect(page).not.toHaveURL(/colour=/)
})

test('the pointer chooses one, several, and what a token stands in', async ({ page }) => {
  await show(page)
  const first = starts[1] as number
  const at = (column: number) => placeIn(page, first, column)
  await page.mouse.click((await at(1)).x, (await at(1)).y)
  await expectChosen(page, String(first))
  await expect(grid(page)).toBeFocused()
  // The line after the next one begins with what is behind </think>.
  const rows = await page
    .locator('.token-row')
    .evaluateAll((elements) =>
      elements.map((element) => Number((element as HTMLElement).dataset.first)).sort((a, b) => a - b),
    )
  const below = rows[rows.indexOf(first) + 2] as number
  const target = await placeIn(page, below, 1)
  await page.keyboard.down('Shift')
  await page.mouse.click(target.x, target.y)
  await page.keyboard.up('Shift')
  await expectChosen(page, `${first}-${below}`)
  await page.mouse.move((await at(1)).x, (await at(1)).y)
  await page.mouse.down()
  await page.mouse.move(target.x, target.y, { steps: 4 })
  await page.mouse.up()
  await expectChosen(page, `${first}-${below}`)
  const response = trajectory.segments[1]
  const think = response?.kind === 'response' ? response.thinks[0] : undefined
  await page.mouse.dblclick((await at(1)).x, (await at(1)).y)
  await expectChosen(page, `${first}-${first + (think?.end ?? 0) - 1}`)
  await page.mouse.click((await at(1)).x, (await at(1)).y, { clickCount: 3 })
  await expectChosen(page, `${first}-${(starts[2] as number) - 1}`)
})

test('a drag beyond the edge scrolls on', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 400 })
  await show(page)
  const { x, y } = await placeIn(page, 0, 1)
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x, 398)
  await expect
    .poll(() => Number(new URL(page.url()).searchParams.get('at')?.split('-')[1] ?? 0))
    .toBeGreaterThan(starts[1] as number)
  await page.mouse.up()
  expect(await grid(page).evaluate((element) => element.scrollTop)).toBeGreaterThan(0)
})

test('what is copied is exactly the text of the tokens', async ({ page }) => {
  await show(page, `?at=${starts[1]}-${(starts[2] as number) - 1}`)
  await grid(page).focus()
  await press(page, 'Control+c')
  await expect(status(page).filter({ hasText: 'Text copied' })).toBeVisible()
  expect(await clipboard(page)).toBe(textBetween(starts[1] as number, starts[2] as number))
  await press(page, 'Control+a', 'Control+a', 'Control+c')
  await expect.poll(() => clipboard(page)).toBe(textBetween(0, count))
  await command(page, 'copy ids')
  await press(page, 'Enter')
  await expect.poll(() => clipboard(page)).toBe(ids(trajectory).join(', '))
  await expect(grid(page)).toBeFocused()
})

test('a token that holds a part of a character is copied as what it is, and said', async ({ page }) => {
  await open(page)
  await page.getByRole('button', { name: 'Open' }).click()
  const file = {
    ...trajectory,
    id: 'parts',
    vocab: { ...trajectory.vocab, [ids(trajectory)[0] as number]: { hex: 'e6' } },
  }
  await page.getByLabel('Trajectory file').setInputFiles({
    name: 'parts.json',
    mimeType: 'application/json',
    buffer: Buffer.from(JSON.stringify(file)),
  })
  await page.waitForURL(/\/t\//)
  await idle(page)
  await grid(page).focus()
  await press(page, 'j', 'Control+c')
  await expect(status(page).filter({ hasText: 'not every byte' })).toBeVisible()
})

test('the palette finds every command, runs it, and gives the focus back', async ({ page }) => {
  await show(page)
  await press(page, 'Control+k')
  const field = page.getByRole('combobox', { name: 'Command' })
  await expect(field).toBeFocused()
  const options = page.getByRole('listbox').getByRole('option')
  expect(await options.count()).toBeGreaterThan(40)
  await page.keyboard.type('show raw')
  await expect(options).toHaveCount(1)
  await press(page, 'Enter')
  await expect(page.getByRole('tab', { name: 'Raw' })).toHaveAttribute('aria-selected', 'true')
  await command(page, '30')
  await press(page, 'Enter')
  await expect(page.getByRole('tab', { name: 'Tokens' })).toHaveAttribute('aria-selected', 'true')
  await expectChosen(page, '30')
  await expect(grid(page)).toBeFocused()
  await command(page, 'colour')
  await press(page, 'ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter')
  await expect(page).toHaveURL(/colour=probability/)
  await command(page, 'no such command')
  await expect(page.getByText('No command has these words.')).toBeVisible()
  await press(page, 'Enter', 'Escape')
  await expect(grid(page)).toBeFocused()
  await command(page, 'find …')
  await press(page, 'Enter')
  await expect(page.getByLabel('Find', { exact: true })).toBeFocused()
})

test('the palette opens in the moment in which Escape has closed it', async ({ page }) => {
  await show(page)
  for (let time = 0; time < 20; time++) {
    await command(page, 'colour')
    await press(page, 'Escape')
  }
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('tabs are walked by arrows, and the tokens stay where they were', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 500 })
  await show(page)
  await grid(page).focus()
  await press(page, 'G')
  await expectChosen(page, String(count - 1))
  const scrolled = await grid(page).evaluate((element) => element.scrollTop)
  expect(scrolled).toBeGreaterThan(100)
  await page.getByRole('tab', { name: 'Tokens' }).focus()
  await press(page, 'ArrowRight', 'ArrowRight')
  await expect(page.getByRole('tab', { name: 'Requests' })).toBeFocused()
  await expect(page.getByRole('tabpanel', { name: 'Requests' })).toBeVisible()
  await expect(grid(page)).toBeHidden()
  await press(page, 'End')
  await expect(page.getByRole('tabpanel', { name: 'Raw' })).toBeVisible()
  await press(page, 'Home')
  await expect(grid(page)).toBeVisible()
  expect(await grid(page).evaluate((element) => element.scrollTop)).toBe(scrolled)
  await expectChosen(page, String(count - 1))
})

test('a place chosen in the outline is shown, and keys go on from there', async ({ page }) => {
  await show(page)
  await page
    .getByRole('complementary', { name: 'Outline' })
    .getByRole('treeitem', { name: /3 response/ })
    .click()
  await expectChosen(page, String(starts[3]))
  await expect(grid(page)).toBeFocused()
  await press(page, 'j')
  await expectChosen(page, String((starts[3] as number) + 1))
})

test('an image holds what is chosen, at twice its size', async ({ page }) => {
  await show(page, `?at=${starts[1]}-${(starts[2] as number) - 1}&colour=span`)
  await grid(page).focus()
  await command(page, 'copy as image')
  await press(page, 'Enter')
  const said = status(page).filter({ hasText: 'Image copied' })
  await expect(said).toBeVisible()
  const [, width, height] = /(\d+) × (\d+) pixels/.exec((await said.textContent()) ?? '') ?? []
  const image = await page.evaluate(async () => {
    const [item] = await navigator.clipboard.read()
    const bitmap = await createImageBitmap((await item?.getType('image/png')) as Blob)
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height)
    const context = canvas.getContext('2d') as OffscreenCanvasRenderingContext2D
    context.drawImage(bitmap, 0, 0)
    const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height)
    const colours = new Set(new Uint32Array(data.buffer))
    return { width: bitmap.width, height: bitmap.height, colours: colours.size }
  })
  expect([image.width, image.height]).toEqual([Number(width), Number(height)])
  // Two pixels for each of the page, and less than the page: the columns of the token view, and some twenty lines.
  expect(image.width).toBeGreaterThan(1_000)
  expect(image.height).toBeGreaterThan(400)
  expect(image.colours).toBeGreaterThan(50)
})

for (const find of [`"é日本😀" a b+c&d=e#f%20? <script>'\``, '/^\\s*"(\\w+)":/ logprob<-3'])
  test(`a copied link restores all of it: ${find}`, async ({ page, context }) => {
    const asked = new URLSearchParams({ at: '300-310', tab: 'tokens', colour: 'entropy', limit: '2.5', find })
    await show(page, `?${asked}`)
    await grid(page).focus()
    await press(page, 'c')
    await expect(status(page).filter({ hasText: 'Link copied.' })).toBeVisible()
    const link = await clipboard(page)
    const there = await context.newPage()
    await there.goto(link)
    await idle(there)
    const restored = new URL(there.url()).searchParams
    expect(Object.fromEntries(restored)).toEqual({ at: '300-310', colour: 'entropy', limit: '2.5', find })
    await expect(there.locator('#token-selected')).toHaveAttribute('data-index', '310')
    await expect(there.locator('#token-selected')).toBeInViewport()
    await expect(there.getByLabel('Find', { exact: true })).toHaveValue(find)
  })

test('the playground chooses and copies several tokens too', async ({ page }) => {
  await open(page)
  await greedy(page)
  await ask(page, 'What is 6 * 7?')
  await grid(page).focus()
  await press(page, 'g', 'Shift+ArrowRight', 'Shift+ArrowRight')
  await expectChosen(page, '0-2')
  await expect(page.getByRole('region', { name: 'Range', exact: true })).toHaveAttribute('data-range', '0-2')
  await press(page, 'Control+c')
  await expect(status(page).filter({ hasText: 'Text copied' })).toBeVisible()
  expect(await clipboard(page)).toMatch(/^<\|im_start\|>/)
})

test('a link to tokens that are not there shows the trajectory', async ({ page }) => {
  await show(page, '?at=5-999999')
  await expect(page.getByText(`${count} tokens`, { exact: true })).toBeVisible()
  await grid(page).focus()
  await press(page, 'j')
  await expectChosen(page, '0')
})

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('a range, the palette, the options and the keys are accessible and fit', async ({ page }) => {
      const wrongs = watch(page)
      await show(page, `?at=${starts[1]}-${starts[2]}`)
      if (screen.viewport.width < 1024) await page.getByRole('button', { name: 'Colours and find' }).click()
      await expectFit(page)
      await press(page, 'Control+k')
      await expect(page.getByRole('combobox', { name: 'Command' })).toBeFocused()
      await expectFit(page)
      await press(page, 'Escape')
      await page.getByRole('button', { name: 'View options' }).click()
      await expect(page.getByRole('dialog')).toBeVisible()
      await expectFit(page)
      await press(page, 'Escape')
      await expect(page.getByRole('button', { name: 'View options' })).toBeFocused()
      await press(page, '?')
      await expect(page.getByRole('dialog')).toBeVisible()
      await expectFit(page)
      await press(page, 'Escape')
      expect(wrongs).toEqual([])
    })
  })
