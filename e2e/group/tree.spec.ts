/** The tree of a group of eight imported samples: what is visible at a glance, the keys, the brush and narrow windows. */
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import { open, postImport } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS, watch, ZOOMED } from '../support/fit.ts'
import { groupTrajectories } from '../support/group-trajectories.ts'
import { CORE } from '../support/tags.ts'

const grid = (page: Page) => page.getByRole('grid', { name: 'Tree of the samples' })
const said = (page: Page) => page.locator('[aria-label="Tree"] [aria-live="polite"]')

async function importGroup(request: APIRequestContext, id: string): Promise<void> {
  for (const trajectory of groupTrajectories(id)) await postImport(request, encode(trajectory))
}

test('The heads of branches appear where they stay, also if the samples load late', async ({ page, request }) => {
  await importGroup(request, 'late')
  await page.route('**/api/trajectories/*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 400))
    await route.continue()
  })
  await page.addInitScript(() => {
    const tops = new Set<number>()
    Object.assign(window, { tops })
    const record = () => {
      const head = [...document.querySelectorAll('.branch-head')].find((one) => one.textContent?.includes('5 of 8'))
      if (head?.checkVisibility({ visibilityProperty: true })) tops.add(Math.round(head.getBoundingClientRect().top))
      requestAnimationFrame(record)
    }
    requestAnimationFrame(record)
  })
  await open(page, '/group/late')
  // The fold of the shared tokens is drawn when they are loaded.
  await expect(page.locator('.branch-hidden').filter({ hasText: 'the same in 8 samples' })).toBeVisible()
  await expect(page.locator('.branch-head:visible').filter({ hasText: '5 of 8' })).toBeVisible()
  expect(await page.evaluate(() => [...(window as unknown as { tops: Set<number> }).tops])).toHaveLength(1)
})

test('A group of eight shows its decisive token at a glance, and is read by keyboard', { tag: CORE }, async ({
  page,
  request,
}) => {
  const wrongs = watch(page)
  await importGroup(request, 'walked')
  await open(page, '/group/walked')
  const line = page.locator('[data-decisive]')
  await expect(line).toContainText(/Decisive token 180.*find.*0\.92.*against.*ls.*0\.10.*5 and 3 samples/s)
  await expect(line).toBeInViewport()
  await expect(page.locator('[data-lanes="8"]')).toBeInViewport()
  await expect(page.locator('.branch-head:visible').filter({ hasText: '5 of 8' })).toBeInViewport()
  await grid(page).focus()
  await page.keyboard.press('d')
  await expect(said(page)).toContainText('branch with 5 of 8 samples')
  await expect(said(page)).toContainText('token 180, "find"')
  const card = page.getByRole('region', { name: 'Branches at this token' })
  await expect(card).toContainText('find')
  await expect(page).toHaveURL(/at=\d\.180/)
  await page.keyboard.press(']')
  await expect(said(page)).not.toContainText('token 180,')
  await page.keyboard.press('[')
  await expect(said(page)).toContainText('token 180, "find"')
  await page.keyboard.press('z')
  await expect(page.locator('.branch-hidden').filter({ hasText: '5 samples' })).toBeVisible()
  await page.keyboard.press('z')
  await page.keyboard.press('k')
  await expect(said(page)).toContainText('token 179,')
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog')).toContainText('Next split')
  await page.keyboard.press('Escape')
  expect(wrongs).toEqual([])
  // The link leads to the panel that branches at the token.
  await page.keyboard.press('d')
  await page.getByRole('link', { name: /^Branch sample \d at token 180/ }).click()
  await expect(page.getByRole('region', { name: 'Branch', exact: true })).toBeVisible()
  // The export of this sample alone can have its advantage in the group.
  await page.getByRole('button', { name: 'Export', exact: true }).click()
  await expect(page.getByLabel('Advantage of each trained token')).toBeVisible()
  await page.keyboard.press('Escape')
  await page.getByRole('link', { name: /^Group walked \/ sample \d/ }).click()
  await expect(line).toBeVisible()
})

test('The brush selects samples by keyboard and pointer, and the address keeps it', async ({ page, request }) => {
  await importGroup(request, 'brushed')
  await open(page, '/group/brushed')
  const low = page.getByRole('slider', { name: 'Lowest selected reward' })
  for (let times = 0; times < 5; times++) await low.press('ArrowRight')
  await expect(page.getByText('5 of 8 samples selected.')).toBeVisible()
  await expect(page.locator('[data-list-sample][data-dim="true"]')).toHaveCount(3)
  await expect(page).toHaveURL(/brush=reward/)
  await page.reload()
  await expect(page.getByText('5 of 8 samples selected.')).toBeVisible()
  const box = await page.getByRole('slider', { name: 'Highest selected reward' }).boundingBox()
  if (!box) throw new Error('the handle is visible')
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(box.x - 30, box.y + box.height / 2, { steps: 4 })
  await page.mouse.up()
  await expect(page.getByText(/^[12] of 8 samples selected/)).toBeVisible()
  await page.getByRole('button', { name: 'Select all' }).click()
  await expect(page.getByText(/^All 8 samples selected/)).toBeVisible()
})

test('The samples of a group are a table and charts too, which fit both windows, and lead back to the tree', async ({
  page,
  request,
}) => {
  const wrongs = watch(page)
  await importGroup(request, 'tabbed')
  await open(page, '/group/tabbed')
  await page.getByRole('tab', { name: 'Tree' }).focus()
  await page.keyboard.press('ArrowRight')
  const table = page.getByRole('table', { name: 'Samples of the group' })
  await expect(table.getByRole('row')).toHaveCount(9)
  await expectFitEverywhere(page)
  await page.setViewportSize(WINDOWS[0])
  await page.getByRole('tab', { name: 'Charts' }).click()
  await expect(page.getByRole('img', { name: /^Rewards of 8 samples/ })).toBeVisible()
  await page.getByText('As a table').click()
  await page.getByRole('table', { name: 'Splits by position' }).getByRole('button', { name: '180' }).click()
  await expect(page).toHaveURL(/at=\d\.180/)
  await expect(grid(page)).toBeVisible()
  await page.setViewportSize(ZOOMED)
  await page.goto('/group/tabbed?at=1.180')
  await expect.poll(() => grid(page).evaluate((view) => view.clientHeight)).toBeGreaterThan(120)
  await page.setViewportSize(WINDOWS[0])
  await page.goto('/group/tabbed?tab=charts')
  await expect(page.getByRole('img', { name: /^Rewards of 8 samples/ })).toBeVisible()
  await expectFitEverywhere(page)
  expect(wrongs).toEqual([])
})

test('A selection of the library opens as a tree, which fits both windows with its card as a sheet in the narrow one', async ({
  page,
  request,
}) => {
  await importGroup(request, 'fitting')
  await open(page, '/group?keys=fitting-1,fitting-3,fitting-4,absent')
  await expect(page.getByText(/1 trajectory is not stored here: absent/)).toBeVisible()
  await expect(
    page.getByRole('heading', { name: 'How many Python files' }).or(page.locator('[data-lanes="3"]')).first(),
  ).toBeVisible()
  await open(page, '/group/fitting?at=1.180')
  await expect(page.locator('.token-row').first()).toBeVisible()
  await expectFitEverywhere(page)
  await page.setViewportSize(WINDOWS[1])
  const sheet = page.getByRole('complementary', { name: 'Token' })
  await expect(sheet).toContainText('Token 180')
  await sheet.getByRole('button', { name: 'Unpin the token' }).click()
  await expect(sheet).toBeHidden()
  await page.getByRole('button', { name: 'Samples', exact: true }).click()
  await page.getByRole('button', { name: 'Sample 3: show it in the tree' }).click()
  await expect(grid(page)).toBeVisible()
  await expect(sheet).toBeVisible()
})
