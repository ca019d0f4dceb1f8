/** Colours of the inspector: what tokens show, the end of the scale, the minimap, and the charts. */
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/core/codec.ts'
import { AUTHORIZED, CHANGING, idle, open } from './application.ts'
import { expectFit, SCREENS, watch } from './fit.ts'
import { largeTrajectory } from './large-trajectory.ts'

/** With alternatives, further columns, calls and weight versions. */
const made = largeTrajectory({ tokens: 6_000, seed: 7 })
const ADDRESS = `/t/${made.id}`

test.beforeAll(async ({ request }) => {
  const headers = { ...CHANGING, 'content-type': 'application/octet-stream' }
  const reply = await request.post('/api/import?name=made.json', { headers, data: Buffer.from(encode(made)) })
  expect(reply.ok()).toBe(true)
})

test.afterAll(async ({ request }) => {
  await request.delete(`/api/trajectories/${made.id}`, { headers: { ...AUTHORIZED, 'x-rollscope': '1' } })
})

const legend = (page: Page) => page.locator('[data-legend]')
const more = (page: Page) => page.getByLabel('Colour tokens by something else')
const handle = (page: Page) => page.getByRole('slider', { name: 'End of the colour scale' })
const scrollTop = (page: Page) => page.getByRole('grid', { name: 'Tokens' }).evaluate((grid) => grid.scrollTop)

/** The backgrounds of the rows in sight. */
const drawn = (page: Page) =>
  page
    .locator('.token-row:not([hidden]) .token-text')
    .evaluateAll((texts) => texts.map((text) => (text as HTMLElement).style.backgroundImage).join('\n'))

test('each way to colour changes what tokens show, with numbers in the legend; the address keeps it', async ({
  page,
}) => {
  await open(page, `${ADDRESS}?colour=none&at=60`)
  await idle(page)
  const seen = new Map([[await drawn(page), 'none']])
  const choices = await more(page)
    .locator('option:not([hidden]):not([disabled])')
    .evaluateAll((options) => options.map((option) => (option as HTMLOptionElement).value))
  expect(choices).toEqual([
    ...['logprobs', 'probability', 'rank', 'entropy', 'margin', 'span', 'tool', 'call', 'segment', 'version'],
    ...['column:trainerLogprobs', 'column:advantage', 'none'],
  ])
  for (const name of ['mask', 'logprob', ...choices.filter((choice) => choice !== 'none')]) {
    if (name === 'mask' || name === 'logprob')
      await page.getByRole('button', { name: name === 'mask' ? 'Mask' : 'Logprob', exact: true }).click()
    else await more(page).selectOption(name)
    await expect(legend(page)).toHaveAttribute('data-legend', name)
    await expect(legend(page)).toContainText(/\d/)
    await expect(page).toHaveURL((url) => (url.searchParams.get('colour') ?? 'logprob') === name)
    // One tool: its calls look alike. Prompts have no prefill logprobs here, and trainers' are close to the sampler's.
    if (['call', 'logprobs'].includes(name)) continue
    const rows = await drawn(page)
    expect([name, seen.get(rows)]).toEqual([name, undefined])
    seen.set(rows, name)
  }
  await more(page).selectOption('entropy')
  await expect(legend(page)).toContainText('approximate: from the k best')
  await page.getByRole('grid', { name: 'Tokens' }).focus()
  await page.keyboard.press('m')
  await expect(page.getByRole('button', { name: 'Mask', exact: true })).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('h')
  await expect(legend(page)).toHaveAttribute('data-legend', 'logprob')
})

test('the end of the scale moves by keyboard, stands in the address, and goes back', async ({ page }) => {
  await open(page, `${ADDRESS}?at=60`)
  await idle(page)
  const usual = Number(await legend(page).getAttribute('data-limit'))
  const before = await drawn(page)
  await handle(page).focus()
  for (let step = 0; step < 12; step++) await page.keyboard.press('ArrowLeft')
  const limit = Number(await legend(page).getAttribute('data-limit'))
  expect(limit).toBeLessThan(usual)
  await expect(handle(page)).toHaveAttribute('aria-valuetext', /nats$/)
  expect(await drawn(page)).not.toBe(before)
  await expect(page).toHaveURL((url) => Number(url.searchParams.get('limit')) === limit)
  await page.reload()
  await idle(page)
  await expect(legend(page)).toHaveAttribute('data-limit', String(limit))
  await page.getByRole('button', { name: 'Reset scale' }).click()
  await expect(page).not.toHaveURL(/limit=/)
  await expect(legend(page)).toHaveAttribute('data-limit', String(usual))
})

test('the minimap scrolls the tokens: clicked, dragged, by wheel and by keys', async ({ page }) => {
  await open(page, ADDRESS)
  await idle(page)
  const map = page.getByRole('slider', { name: 'Minimap' })
  // Its height is known when it is drawn.
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
  await expect.poll(async () => Number(await map.getAttribute('aria-valuenow'))).toBeGreaterThan(5_000)
  expect(await moved(() => page.keyboard.press('Home'))).toBeLessThan(0)
  await expect.poll(() => scrollTop(page)).toBe(0)
})

test('a point, a bar and a row of the charts lead to their tokens', async ({ page }) => {
  await open(page, `${ADDRESS}?tab=charts`)
  const along = page.getByRole('region', { name: 'Along the trajectory' })
  const plot = along.locator('.u-over')
  await plot.waitFor()
  await along.getByText(/^Farthest from the mean/).click()
  const worst = along.getByRole('table').getByRole('button').first()
  const token = Number((await worst.textContent())?.replaceAll(',', ''))
  const columns = await plot.boundingBox()
  if (!columns) throw new Error('the plot is not there')
  // The worst token stands at the bottom, where few others are.
  const count = made.segments.reduce((sum, { ids }) => sum + ids.length, 0)
  const logprobs = made.segments.flatMap(({ kind, logprobs = [] }) => (kind === 'response' ? logprobs : [])) as number[]
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
  await page.getByRole('tab', { name: 'Charts' }).click()
  await page.getByRole('button', { name: /^surprise 1\.00 to/ }).click()
  await expect(page).toHaveURL((url) => /^surprise>=1 surprise<1\.\d+ mask:1$/.test(url.searchParams.get('find') ?? ''))
  await page.getByRole('tab', { name: 'Charts' }).click()
  const segments = page.getByRole('region', { name: 'Segments' })
  await segments.getByRole('button', { name: 'perplexity' }).click()
  await expect(segments.getByRole('columnheader', { name: /perplexity/ })).toHaveAttribute('aria-sort', 'ascending')
  await segments.getByRole('button', { name: '3', exact: true }).click()
  const third = made.segments.slice(0, 3).reduce((sum, { ids }) => sum + ids.length, 0)
  await expect(page).toHaveURL((url) => url.searchParams.get('at') === String(third))
})

test('sampler and trainer are held against each other; another pair stands in the address', async ({ page }) => {
  await open(page, `${ADDRESS}?tab=charts`)
  const scatter = page.getByRole('region', { name: 'One number against another' })
  await expect(scatter.getByLabel('Number upwards')).toHaveValue('column:trainerLogprobs')
  await expect(scatter).toContainText(/correlation\s*(0\.99|1\.0)/)
  await expect(scatter).toContainText('KL, k3')
  await scatter.getByLabel('Number upwards').selectOption('column:advantage')
  await expect(page).toHaveURL((url) => url.searchParams.get('scatter') === 'logprob,column:advantage')
  await expect(scatter).not.toContainText('KL, k3')
  await page.goto('/example/two-steps?tab=charts')
  await expect(page.getByText('This file has no further column.')).toBeVisible()
})

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('the legend and the charts fit', async ({ page }) => {
      const wrongs = watch(page)
      await open(page, `${ADDRESS}?colour=span&at=60`)
      await idle(page)
      if (screen.viewport.width < 1024) await page.getByRole('button', { name: 'Colours and find' }).click()
      await expect(legend(page)).toBeVisible()
      await expectFit(page)
      await more(page).selectOption('column:advantage')
      await expectFit(page)
      await page.getByRole('tab', { name: 'Charts' }).click()
      await page.locator('.u-over').nth(1).waitFor()
      await expectFit(page)
      // The tokenizer that the generated trajectory names is not here: its drift is not known.
      expect(wrongs.filter((wrong) => !wrong.includes('422'))).toEqual([])
    })
  })
