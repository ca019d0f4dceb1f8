/** Pages on paper, which has no scroll bars. */
import { expect, type Page, test } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import { idle, open, postImport } from '../support/application.ts'
import { groupTrajectories } from '../support/group-trajectories.ts'

/** Lays out the page as for paper, until the returned function is called. */
async function print(page: Page): Promise<() => Promise<void>> {
  const change = async (media: 'print' | 'screen') => {
    await page.emulateMedia({ media })
    await page.evaluate(
      (media) => window.dispatchEvent(new Event(media === 'print' ? 'beforeprint' : 'afterprint')),
      media,
    )
  }
  await change('print')
  return () => change('screen')
}

/** Returns how many pixels of the page are beyond its height. */
const beyond = (page: Page, selector: string): Promise<number> =>
  page.evaluate((selector) => {
    const ends = [...document.querySelectorAll(selector)].map((part) => part.getBoundingClientRect().bottom)
    // The height of the document is a whole number.
    return Math.floor(Math.max(...ends)) - document.documentElement.scrollHeight + window.scrollY
  }, selector)

test('Messages, requests, tokens and the tree of a group are printed as a whole, and the screen is as before', async ({
  page,
  request,
}) => {
  await page.setViewportSize({ width: 780, height: 360 })
  const [first, ...others] = groupTrajectories('printed')
  if (!first) throw new Error('the group has samples')
  const [key] = await postImport(request, encode(first))
  for (const trajectory of others) await postImport(request, encode(trajectory))
  const address = `/t/${encodeURIComponent(key)}`

  await test.step('All messages are on the paper', async () => {
    await open(page, `${address}?tab=messages`)
    const list = page.getByRole('list', { name: 'Messages' })
    const count = Number(await list.getAttribute('data-messages'))
    const end = await print(page)
    await expect(list.locator('> li')).toHaveCount(count)
    expect(await beyond(page, '[data-messages] > li')).toBeLessThanOrEqual(0)
    await end()
  })

  await test.step('All tokens are on the paper, in lines of its width', async () => {
    await page.goto(address)
    await idle(page)
    const grid = page.getByRole('grid', { name: 'Tokens' })
    const rows = () => grid.locator('.token-row:visible').count()
    const before = await rows()
    const end = await print(page)
    expect(await rows()).toBeGreaterThan(before)
    expect(await beyond(page, '.token-row')).toBeLessThanOrEqual(0)
    expect(await grid.evaluate(({ clientWidth }) => clientWidth)).toBe(700)
    await end()
    await expect.poll(rows).toBe(before)
  })

  for (const [tab, path, part, rows] of [
    ['arrays', '?tab=trainer', page.getByRole('grid', { name: 'Arrays and their tokens' }), '[role="row"]'],
    ['lines of the file', '?tab=raw', page.getByRole('region', { name: 'JSON', exact: true }), '[data-row]'],
  ] as const)
    await test.step(`The ${tab} are on the paper`, async () => {
      await page.goto(`${address}${path}`)
      await expect(part).toBeVisible()
      const before = await part.locator(rows).count()
      const end = await print(page)
      expect(await part.locator(rows).count()).toBeGreaterThan(before)
      expect(await beyond(page, rows)).toBeLessThanOrEqual(0)
      await end()
      // Before the box was measured, more rows may have been mounted than it shows.
      await expect.poll(() => part.locator(rows).count()).toBeLessThanOrEqual(before)
    })

  await test.step('The whole tree is on the paper', async () => {
    await page.goto('/group/printed')
    const grid = page.getByRole('grid', { name: 'Tree of the samples' })
    await expect(grid).toHaveAttribute('data-idle', 'true')
    const heads = () => page.locator('.branch-head:visible').count()
    const before = await heads()
    const end = await print(page)
    expect(await heads()).toBeGreaterThan(before)
    expect(await beyond(page, '.branch-head')).toBeLessThanOrEqual(0)
    await end()
    await expect.poll(heads).toBe(before)
  })
})
