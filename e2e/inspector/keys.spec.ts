/** The inspector by keys and pointer: selection, copies, commands, links, tabs, and the focus. */
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { COMMANDS } from '#components/inspector/commands/commands.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { ids, segmentStarts, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { blur, idle, open } from '../support/application.ts'
import { expectFit, expectFitEverywhere, WINDOWS, watch } from '../support/fit.ts'

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

/** Expects the selection as in the address; '' for none. */
async function expectChosen(page: Page, at: string): Promise<void> {
  await expect.poll(() => new URL(page.url()).searchParams.get('at') ?? '').toBe(at)
}

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

/** Returns the position of the token `column` cells from the start of the row that begins with token `first`. */
async function placeIn(page: Page, first: number, column: number) {
  const box = await page.locator(`.token-row[data-first="${first}"] .token-text`).boundingBox()
  if (!box) throw new Error(`no row begins at token ${first}`)
  return { x: box.x + 7.8 * column + 3, y: box.y + box.height / 2 }
}

test('keys of the inspector move, extend, copy, fold and run commands, and dialogs return the focus', async ({
  page,
}) => {
  const wrongs = watch(page)
  await test.step('a link to missing tokens shows the trajectory', async () => {
    await show(page, '?at=5-999999')
    await expect(page.getByText(`${count} tokens`, { exact: true })).toBeVisible()
  })

  await test.step('the first Tab stop is a link to the tokens', async () => {
    const skip = page.getByRole('link', { name: 'Skip to the tokens' })
    await press(page, 'Tab')
    await expect(skip).toBeFocused()
    await expect(skip).toBeInViewport()
    await press(page, 'Enter')
    await expect(grid(page)).toBeFocused()
  })

  // components/token-view/grid/selecting.test.ts covers every key.
  await test.step('keys move the focus and extend the selection', async () => {
    await grid(page).focus()
    for (const [keys, at] of [
      [['j'], '0'],
      [['J'], String(starts[1])],
      [['Shift+ArrowRight', 'Shift+ArrowRight'], `${starts[1]}-${(starts[1] as number) + 2}`],
      [['Escape'], String((starts[1] as number) + 2)],
      [['Escape'], ''],
      [['g'], '0'],
    ] as const) {
      await press(page, ...keys)
      await expectChosen(page, at)
    }
    await press(page, 'PageDown')
    await expect.poll(() => Number(new URL(page.url()).searchParams.get('at'))).toBeGreaterThan(0)
    await press(page, 'PageUp')
    await expectChosen(page, '0')
  })

  await test.step('a copy has exactly the text of the tokens', async () => {
    await press(page, 'J', 'Control+a')
    await expectChosen(page, `${starts[1]}-${(starts[2] as number) - 1}`)
    await press(page, 'Control+c')
    await expect(status(page).filter({ hasText: 'Text copied' })).toBeVisible()
    expect(await clipboard(page)).toBe(textBetween(starts[1] as number, starts[2] as number))
    await press(page, 'Control+a', 'Control+c')
    await expect.poll(() => clipboard(page)).toBe(textBetween(0, count))
    await command(page, 'copy ids')
    await press(page, 'Enter')
    await expect.poll(() => clipboard(page)).toBe(ids(trajectory).join(', '))
    await expect(grid(page)).toBeFocused()
  })

  await test.step('dialogs return the focus', async () => {
    await press(page, 'e')
    await expect(page.getByRole('dialog', { name: 'Export the trajectory' })).toBeVisible()
    await press(page, 'Escape')
    await expect(grid(page)).toBeFocused()
    await page.getByRole('button', { name: 'Open' }).click()
    await expect(page.getByRole('dialog')).toBeVisible()
    await expectFitEverywhere(page, undefined, 'dialog')
    await press(page, 'Escape')
    await expect(page.getByRole('button', { name: 'Open' })).toBeFocused()
    await page.setViewportSize(WINDOWS[0])
    await grid(page).focus()
  })

  await test.step('token boundaries are drawn, and the legend explains them', async () => {
    const row = page.locator('.token-row .token-text').first()
    await expect(row).not.toHaveCSS('background-image', /color\(srgb/)
    await press(page, 'b')
    await expect(row).toHaveCSS('background-image', /color\(srgb/)
    await press(page, 'L')
    const legend = page.getByRole('dialog', { name: 'Legend' })
    await expect(legend.locator('[data-legend-entry="Token boundary"] dd')).toBeVisible()
    const reopen = async (isNarrow: boolean) => {
      // The buttons have another place in a narrow window, so the legend closes.
      if (!isNarrow) return
      await grid(page).focus()
      await press(page, 'L')
      await expect(legend).toBeVisible()
    }
    await expectFitEverywhere(page, reopen, '[popover]:popover-open')
    await press(page, 'Escape')
    await expect(legend).toBeHidden()
    await expect(grid(page)).toBeFocused()
    const tabs = page.getByRole('tablist', { name: 'View' })
    expect(await tabs.evaluate((list) => list.scrollWidth - list.clientWidth)).toBe(0)
    await page.setViewportSize(WINDOWS[0])
    await grid(page).focus()
    await press(page, 'b')
  })

  await test.step('keys fold segments and set marks', async () => {
    await press(page, 'g', 'J', 'z')
    const think = page.locator('.token-row[data-fold^="think"]')
    await expect(think).toBeVisible()
    await press(page, 'z')
    await expect(think).toHaveCount(0)
    await press(page, 'Z')
    const segments = page.locator('.token-row[data-fold^="segment"]')
    await expect(segments).toHaveCount(trajectory.segments.length)
    await press(page, 'Z', 'w', '+', '+')
    await expect(segments).toHaveCount(0)
  })

  await test.step('letters are commands only in the tokens', async () => {
    const { href } = new URL(page.url())
    await press(page, '/')
    const field = page.getByLabel('Find', { exact: true })
    await expect(field).toBeFocused()
    await page.keyboard.type('jmGc')
    await expect(field).toHaveValue('jmGc')
    await field.fill('')
    await page.getByRole('tab', { name: 'Tokens' }).focus()
    await press(page, 'm')
    await expect.poll(() => page.url()).toBe(href)
  })

  await test.step('arrow keys move between tabs, and the tokens keep their position', async () => {
    await page.setViewportSize({ width: 1440, height: 500 })
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
    await press(page, 'Home')
    await expect(grid(page)).toBeVisible()
    expect(await grid(page).evaluate((element) => element.scrollTop)).toBe(scrolled)
    await expectChosen(page, String(count - 1))
    await page.setViewportSize(WINDOWS[0])
  })

  await test.step('the palette runs commands', async () => {
    await command(page, 'show raw')
    await press(page, 'Enter')
    await expect(page.getByRole('tab', { name: 'Raw' })).toHaveAttribute('aria-selected', 'true')
    await expect(page.getByRole('tab', { name: 'Raw' })).toBeFocused()
    await command(page, 'show tokens')
    await press(page, 'Enter')
    await expect(grid(page)).toBeFocused()
    await command(page, '30')
    await press(page, 'Enter')
    await expect(page.getByRole('tab', { name: 'Tokens' })).toHaveAttribute('aria-selected', 'true')
    await expectChosen(page, '30')
    await expect(grid(page)).toBeFocused()
    await command(page, 'colour')
    await press(page, 'ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter')
    await expect(page).toHaveURL(/colour=probability/)
    // The palette is opened in the same moment in which Escape has closed it.
    for (let time = 0; time < 5; time++) {
      await command(page, 'colour')
      await press(page, 'Escape')
    }
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await command(page, 'no such command')
    await expect(page.getByText('No matching commands.')).toBeVisible()
    await expectFitEverywhere(page, undefined, 'dialog')
    await press(page, 'Enter', 'Escape')
    await page.setViewportSize(WINDOWS[0])
    await command(page, 'find…')
    await press(page, 'Enter')
    await expect(page.getByLabel('Find', { exact: true })).toBeFocused()
  })

  await test.step('a selected range, the view options and the list of keys are accessible and fit', async () => {
    await grid(page).focus()
    await press(page, 'g', 'J', 'Shift+ArrowRight')
    await expectFitEverywhere(page, async (isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Colours and find' }).click()
    })
    await page.getByRole('button', { name: 'View options' }).click()
    const options = page.getByRole('dialog', { name: 'View options' })
    await expect(options.getByText('16 px')).toBeVisible()
    await expect(options.getByRole('checkbox', { name: 'Marks for spaces and line ends' })).not.toBeChecked()
    await expectFit(page, '[role=dialog]')
    await press(page, 'Escape')
    await expect(page.getByRole('button', { name: 'View options' })).toBeFocused()
    const reopenOptions = async (isNarrow: boolean) => {
      // The buttons have another place in a narrow window, so the options are opened there again.
      if (isNarrow) await page.getByRole('button', { name: 'View options' }).click()
    }
    await page.getByRole('button', { name: 'View options' }).click()
    await expectFitEverywhere(page, reopenOptions, '[role=dialog]')
    await press(page, 'Escape')
    await press(page, '?')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await expect(help.getByText('Next segment')).toBeVisible()
    await expect(help.getByText('Send the question')).toHaveCount(0)
    await expectFitEverywhere(page, undefined, 'dialog')
    await press(page, 'Escape')
    await expect(help).toHaveCount(0)
  })
  expect(wrongs).toEqual([])
})

test('every listed key works on a page that was just opened, while nothing has the focus', async ({ page }) => {
  await show(page, '?at=300')
  const isUnfocused = () => page.evaluate(() => document.activeElement === document.body)
  expect(await isUnfocused()).toBe(true)
  await page.evaluate(() => {
    window.addEventListener('keydown', (event) => {
      document.documentElement.dataset.handled = `${event.key} ${event.defaultPrevented}`
    })
  })
  const unhandled: string[] = []
  const listed = COMMANDS.flatMap(({ name, keys = [], hasOwnKeys = false }) =>
    keys.filter((key) => !hasOwnKeys || key === '?').map((key) => ({ name, key })),
  )
  expect(listed.length).toBeGreaterThan(40)
  for (const { name, key } of [...listed, { name: 'extend', key: 'Shift+ArrowDown' }]) {
    await blur(page)
    expect(await isUnfocused()).toBe(true)
    await page.keyboard.press(key.replace('Mod', 'Control'))
    if (name === 'keys' || name === 'export') {
      await expect(page.locator('dialog[open]')).toBeVisible()
      await press(page, 'Escape')
      await expect(page.locator('dialog[open]')).toHaveCount(0)
      continue
    }
    const last = await page.evaluate(() => document.documentElement.dataset.handled)
    if (!last?.endsWith(' true')) unhandled.push(`${key}: ${last}`)
  }
  expect(unhandled).toEqual([])

  await test.step('a copy without the focus has the text of the selected tokens', async () => {
    await show(page, '?at=300-302')
    await press(page, 'Control+c')
    await expect.poll(() => clipboard(page)).toBe(textBetween(300, 303))
  })

  await test.step('in another tab, keys that scroll keep their meaning', async () => {
    await open(page, `/example/${NAME}?at=300&tab=messages`)
    await expect(page.getByRole('tabpanel', { name: 'Messages' })).toBeVisible()
    await press(page, 'ArrowDown', 'PageDown')
    await expect(page.getByRole('tab', { name: 'Messages' })).toHaveAttribute('aria-selected', 'true')
    await press(page, 'J')
    await expect(page.getByRole('tab', { name: 'Tokens' })).toHaveAttribute('aria-selected', 'true')
  })
})

test('the pointer selects tokens, and an image and a link contain the selection', async ({ page, context }) => {
  const find = `"é日本😀" a b+c&d=e#f%20? <script>'\` /^\\s*"(\\w+)":/ logprob<-3`
  await test.step('a copied link restores the selection and the view', async () => {
    await show(page, `?${new URLSearchParams({ at: '300-310', tab: 'tokens', colour: 'entropy', limit: '2.5', find })}`)
    await grid(page).focus()
    await press(page, '+', 'c')
    await expect(status(page).filter({ hasText: 'Link copied.' })).toBeVisible()
    const there = await context.newPage()
    await there.goto(await clipboard(page))
    await idle(there)
    const restored = new URL(there.url()).searchParams
    expect(Object.fromEntries(restored)).toEqual({ at: '300-310', colour: 'entropy', limit: '2.5', find })
    await expect(there.locator('#token-selected')).toHaveAttribute('data-index', '310')
    await expect(there.locator('#token-selected')).toBeInViewport()
    await expect(there.getByLabel('Find', { exact: true })).toHaveValue(find)
    // The font size is a preference of the browser, not part of the link.
    await there.getByRole('button', { name: 'View options' }).click()
    await expect(there.getByRole('dialog', { name: 'View options' }).getByText('14 px')).toBeVisible()
    await there.close()
  })

  await test.step('an image contains the selection at twice its size', async () => {
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
    // The image has two pixels per CSS pixel, and contains the columns of the token view and some lines.
    expect(image.width).toBeGreaterThan(1_000)
    expect(image.height).toBeGreaterThan(100)
    expect(image.colours).toBeGreaterThan(50)
  })

  await test.step('a segment chosen in the outline is shown, and keys continue from there', async () => {
    await press(page, '-')
    await page
      .getByRole('complementary', { name: 'Outline' })
      .getByRole('treeitem', { name: /3 response/ })
      .click()
    await expectChosen(page, String(starts[3]))
    await expect(grid(page)).toBeFocused()
    await press(page, 'j')
    await expectChosen(page, String((starts[3] as number) + 1))
  })

  await test.step('clicks and drags select one token, several tokens, and the part or segment of a token', async () => {
    await press(page, 'g')
    await expectChosen(page, '0')
    const first = starts[1] as number
    const { x, y } = await placeIn(page, first, 1)
    await page.mouse.click(x, y)
    await expectChosen(page, String(first))
    await expect(grid(page)).toBeFocused()
    // The row after the next one begins with the text after </think>.
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
    await press(page, 'g')
    await expectChosen(page, '0')
    await page.mouse.move(x, y)
    await page.mouse.down()
    await page.mouse.move(target.x, target.y, { steps: 4 })
    await page.mouse.up()
    await expectChosen(page, `${first}-${below}`)
    const response = trajectory.segments[1]
    const think = response?.kind === 'response' ? response.thinks[0] : undefined
    await page.mouse.dblclick(x, y)
    await expectChosen(page, `${first}-${first + (think?.end ?? 0) - 1}`)
    await page.mouse.click(x, y, { clickCount: 3 })
    await expectChosen(page, `${first}-${(starts[2] as number) - 1}`)
  })

  await test.step('a drag beyond the edge scrolls the tokens', async () => {
    await page.setViewportSize({ width: 1440, height: 400 })
    await press(page, 'g')
    await expectChosen(page, '0')
    await expect.poll(() => grid(page).evaluate((element) => element.scrollTop)).toBe(0)
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
})
