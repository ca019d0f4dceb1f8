/** Colours of the inspector: modes, the end of the scale, the minimap, and the charts. */
import { expect, type Locator, type Page, test } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { AUTHORIZED, idle, open, postImport } from '../support/application.ts'
import { expectFit, expectFitEverywhere, SCREENS, watch } from '../support/fit.ts'
import { largeTrajectory } from '../support/large-trajectory.ts'

const TOKENS = 4_000
/** A trajectory with alternatives, further columns, calls and weight versions; one per worker, because making it takes a second. */
let made: Trajectory
let address: string

test.beforeAll(async ({ request }) => {
  made = largeTrajectory({ tokens: TOKENS, seed: 7 })
  address = `/t/${made.id}`
  await postImport(request, encode(made), 'made.json')
})

test.afterAll(async ({ request }) => {
  await request.delete(`/api/trajectories/${made.id}`, { headers: { ...AUTHORIZED, 'x-rollscope': '1' } })
})

const legend = (page: Page) => page.locator('[data-legend]')
const more = (page: Page) => page.getByLabel('More colour modes')
const handle = (page: Page) => page.getByRole('slider', { name: 'End of the colour scale' })
const scrollTop = (page: Page) => page.getByRole('grid', { name: 'Tokens' }).evaluate((grid) => grid.scrollTop)

/** Returns the backgrounds of the visible rows. */
const drawn = (page: Page) =>
  page
    .locator('.token-row:not([hidden]) .token-text')
    .evaluateAll((texts) => texts.map((text) => (text as HTMLElement).style.backgroundImage).join('\n'))

/** Filters out the errors for the tokenizer of the generated trajectory, which is not on this machine: its drift is unknown. */
const faults = (wrongs: readonly string[]) => wrongs.filter((wrong) => !wrong.includes('422'))

// components/token-view/colour/colouring.test.ts covers the colours of each mode, keys.spec.ts a link to them.
test('Colours, the end of their scale and the minimap change the colours of the tokens, and fit each window', async ({
  page,
}) => {
  const wrongs = watch(page)
  await open(page, `${address}?colour=none&at=60`)
  await idle(page)

  await test.step('Each colour mode changes the tokens and the address, with numbers in the legend', async () => {
    const seen = new Map([[await drawn(page), 'none']])
    const choices = await more(page)
      .locator('option:not([hidden]):not([disabled])')
      .evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value))
    expect(choices).toEqual([
      ...['logprobs', 'probability', 'rank', 'entropy', 'margin', 'ratio', 'trainer', 'advantage'],
      ...['span', 'tool', 'call', 'segment', 'version'],
      ...['column:trainerLogprobs', 'column:advantage', 'none'],
    ])
    for (const name of ['mask', 'logprob', 'rank', 'span', 'column:advantage', 'entropy']) {
      if (name === 'mask' || name === 'logprob')
        await page.getByRole('button', { name: name === 'mask' ? 'Mask' : 'Logprob', exact: true }).click()
      else await more(page).selectOption(name)
      await expect(legend(page)).toHaveAttribute('data-legend', name)
      await expect(legend(page)).toContainText(/\d/)
      await expect(page).toHaveURL((url) => (url.searchParams.get('colour') ?? 'logprob') === name)
      const rows = await drawn(page)
      expect([name, seen.get(rows)]).toEqual([name, undefined])
      seen.set(rows, name)
    }
    await expect(legend(page)).toContainText('approximate: from the k best')
    await page.getByRole('grid', { name: 'Tokens' }).focus()
    await page.keyboard.press('m')
    await expect(page.getByRole('button', { name: 'Mask', exact: true })).toHaveAttribute('aria-pressed', 'true')
    await page.keyboard.press('h')
    await expect(legend(page)).toHaveAttribute('data-legend', 'logprob')
  })

  await test.step('The end of the scale is moved by keys, written into the address, and reset', async () => {
    const usual = Number(await legend(page).getAttribute('data-limit'))
    const before = await drawn(page)
    await handle(page).focus()
    for (let step = 0; step < 12; step++) await page.keyboard.press('ArrowLeft')
    const limit = Number(await legend(page).getAttribute('data-limit'))
    expect(limit).toBeLessThan(usual)
    await expect(handle(page)).toHaveAttribute('aria-valuetext', /nats$/)
    expect(await drawn(page)).not.toBe(before)
    await expect(page).toHaveURL((url) => Number(url.searchParams.get('limit')) === limit)
    await page.getByRole('button', { name: 'Reset scale' }).click()
    await expect(page).not.toHaveURL(/limit=/)
    await expect(legend(page)).toHaveAttribute('data-limit', String(usual))
  })

  await test.step('The minimap scrolls the tokens: clicked, dragged, by wheel and by keys', async () => {
    const map = page.getByRole('slider', { name: 'Minimap' })
    // The height of the minimap is known once it is drawn.
    await expect(map.locator('canvas').first()).toHaveCSS('height', /^(?!150px)/)
    const box = await map.boundingBox()
    if (!box) throw new Error('the minimap is not there')
    const height = await map
      .locator('canvas')
      .first()
      .evaluate((canvas) => canvas.clientHeight)
    const moved = async (act: () => Promise<unknown>) => {
      const from = await scrollTop(page)
      await act()
      await expect.poll(() => scrollTop(page)).not.toBe(from)
      return (await scrollTop(page)) - from
    }
    expect(await moved(() => page.mouse.click(box.x + 30, box.y + height / 2))).toBeGreaterThan(0)
    expect(
      await moved(async () => {
        await page.mouse.move(box.x + 30, box.y + height / 2)
        await page.mouse.down()
        await page.mouse.move(box.x + 30, box.y + height / 4, { steps: 4 })
        await page.mouse.up()
      }),
    ).toBeLessThan(0)
    expect(await moved(() => page.mouse.wheel(0, 300))).toBeCloseTo(300, -1)
    await map.focus()
    await moved(() => page.keyboard.press('End'))
    await expect(map).toHaveAttribute('aria-valuetext', /^tokens [\d,]+ to [\d,]+ of [\d,]+$/)
    await expect.poll(async () => Number(await map.getAttribute('aria-valuenow'))).toBeGreaterThan(TOKENS - 1_000)
    expect(await moved(() => page.keyboard.press('Home'))).toBeLessThan(0)
    await expect.poll(() => scrollTop(page)).toBe(0)
  })

  await test.step('The legends of kinds and of numbers fit', async () => {
    await more(page).selectOption('span')
    await expectFitEverywhere(page, async (isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Colours and find' }).click()
      await expect(legend(page)).toBeVisible()
    })
    await more(page).selectOption('column:advantage')
    await expect(legend(page)).toHaveAttribute('data-legend', 'column:advantage')
    await expectFit(page, 'main')
  })
  expect(faults(wrongs)).toEqual([])
})

// components/inspector/charts/charts-tab.test.tsx covers the table of segments, and a file without further columns.
test('Points, bars and rows of the charts select their tokens, another pair is written into the address, and the charts fit', async ({
  page,
}) => {
  const wrongs = watch(page)
  // WebKitGTK reports this language where the system has none, and uPlot throws with it.
  await page.addInitScript(() => Object.defineProperty(navigator, 'language', { value: 'C', configurable: true }))
  await open(page, `${address}?tab=charts`)
  const along = page.getByRole('region', { name: 'Along the trajectory' })
  const plot = along.locator('.u-over')
  await plot.waitFor()

  await test.step('The plots fit', async () => {
    await expectFitEverywhere(page, () => page.locator('.u-over').nth(1).waitFor(), '[role=tabpanel]')
    await page.setViewportSize(SCREENS[0].viewport)
    await page.emulateMedia({ colorScheme: SCREENS[0].colorScheme })
  })

  await test.step('A click at a point selects its token, a drag zooms, a row and a double click show the token', async () => {
    await along.getByText(/^Farthest from the mean/).click()
    const worst = along.getByRole('table').getByRole('button').first()
    const token = Number((await worst.textContent())?.replaceAll(',', ''))
    const columns = await plot.boundingBox()
    if (!columns) throw new Error('the plot is not there')
    // The point of the least likely token is at the bottom, where few others are.
    const count = made.segments.reduce((sum, { ids }) => sum + ids.length, 0)
    const logprobs = made.segments.flatMap(({ kind, logprobs = [] }) =>
      kind === 'response' ? logprobs : [],
    ) as number[]
    const [least, most] = [Math.min(...logprobs), Math.max(...logprobs)]
    const room = (most - least) * 0.04
    const at = {
      x: (token / (count - 1)) * columns.width,
      y: (1 - room / (most - least + 2 * room)) * columns.height,
    }
    await plot.click({ position: at })
    await expect(page).toHaveURL((url) => url.searchParams.get('at') === String(token))
    await expect(page).toHaveURL(/tab=charts/)
    await expect(along).toContainText(`token ${token.toLocaleString('en')}`)
    await expect(along.getByRole('button', { name: 'Show in Tokens' })).toBeVisible()
    expect((await plot.boundingBox())?.y).toBe(columns.y)
    await page.mouse.move(columns.x + 40, columns.y + 40)
    await page.mouse.down()
    await page.mouse.move(columns.x + 240, columns.y + 60, { steps: 3 })
    await page.mouse.up()
    await along.getByRole('button', { name: 'Reset zoom' }).click()
    await expect(along.getByRole('button', { name: 'Reset zoom' })).toHaveCount(0)
    await worst.click()
    await expect(page.getByRole('tab', { name: 'Tokens' })).toHaveAttribute('aria-selected', 'true')
    await expect(page.getByRole('gridcell', { name: new RegExp(`^token ${token},`) })).toBeVisible()
    await page.getByRole('tab', { name: 'Charts' }).click()
    await plot.dblclick({ position: at })
    await expect(page.getByRole('tab', { name: 'Tokens' })).toHaveAttribute('aria-selected', 'true')
  })

  await test.step('Sampler and trainer are compared, and another pair is written into the address', async () => {
    await page.getByRole('tab', { name: 'Charts' }).click()
    const scatter = page.getByRole('region', { name: 'Compare two values' })
    await expect(scatter.getByLabel('Vertical value')).toHaveValue('column:trainerLogprobs')
    await expect(scatter).toContainText(/correlation\s*(0\.99|1\.0)/)
    await expect(scatter).toContainText('KL k3')
    await scatter.getByLabel('Vertical value').selectOption('column:advantage')
    await expect(page).toHaveURL((url) => url.searchParams.get('scatter') === 'logprob,column:advantage')
    await expect(scatter).not.toContainText('KL k3')
  })

  await test.step('A bar of a chart finds its tokens', async () => {
    await page.getByRole('button', { name: /^surprisal 1\.00 to/ }).click()
    await expect(page).toHaveURL((url) =>
      /^surprise>=1 surprise<1\.\d+ mask:1$/.test(url.searchParams.get('find') ?? ''),
    )
  })
  expect(faults(wrongs)).toEqual([])
})

test('In a contrast theme, tokens keep their colours, their marks do not cover them, and the chosen mode differs from the others', async ({
  page,
}) => {
  await page.emulateMedia({ forcedColors: 'active' })
  await open(page, `${address}?colour=mask`)
  await idle(page)
  const styleOf = (element: Locator, property: string) =>
    element.evaluate((shown, name) => getComputedStyle(shown).getPropertyValue(name), property)
  const marks = page.locator('.token-row:not([hidden]) .token-marks').first()
  expect(await styleOf(marks, 'forced-color-adjust')).toBe('none')
  const trained = page.locator('.token-row[data-ink="trained"]:not([hidden]) .token-text').first()
  expect(await styleOf(trained, 'background-image')).toContain('gradient')
  const colourOf = (name: string) => styleOf(page.getByRole('button', { name, exact: true }), 'background-color')
  expect(await colourOf('Mask')).not.toBe(await colourOf('Logprob'))
  expect(await styleOf(page.getByRole('tab', { selected: true }), 'background-color')).toBe(await colourOf('Mask'))
})
