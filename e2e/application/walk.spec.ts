/** From a run to the inspector, from one trajectory to the next, and the pages while the application is unreachable. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, test } from '@playwright/test'
import { ask, greedy, idle, open, postImport, shownKey } from '../support/application.ts'

test('A run has the keys of the inspector and opens there, and the inspector steps through the list of trajectories', async ({
  page,
  request,
}) => {
  const grid = page.getByRole('grid', { name: 'Tokens' })
  const walk = page.getByRole('navigation', { name: 'List of trajectories' })
  const tag = `walk-${randomUUID().slice(0, 8)}`
  const example = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8'))
  for (const [index, reward] of [3, 1, 2].entries()) {
    await postImport(request, { ...example, id: `${tag}-${index}`, title: `Walk ${index}`, tags: [tag], reward })
  }
  await open(page)
  await greedy(page)
  await ask(page, 'What is 12 * 7?')

  await test.step('the token view beside the run has find, colours, the palette and a link to the inspector', async () => {
    const key = await shownKey(page)
    await grid.focus()
    await page.keyboard.press('m')
    await expect(page.getByRole('button', { name: 'Mask' })).toHaveAttribute('aria-pressed', 'true')
    await page.keyboard.press('/')
    await expect(page.getByLabel('Find', { exact: true })).toBeFocused()
    await page.keyboard.type('84')
    await page.keyboard.press('Enter')
    await expect(page.locator('#token-selected')).toBeVisible()
    await page.keyboard.press('ControlOrMeta+k')
    await expect(page.getByRole('dialog')).toBeVisible()
    await page.keyboard.type('open in inspector')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/t/${encodeURIComponent(key)}`)
    await idle(page)
    // Without a list in the address, the trajectories of the whole library follow, the newest first.
    await expect(walk).toHaveAttribute('data-walk', '1')
  })

  await test.step('previous and next follow filter and order of the library, by key and by link', async () => {
    await page.goto(`/library?tag=${tag}&sort=reward`)
    await page.getByRole('link', { name: 'Walk 0' }).focus()
    await page.keyboard.press('Enter')
    await idle(page)
    await expect(walk).toContainText('1 of 3')
    await page.keyboard.press('N')
    await expect(walk).toContainText('2 of 3')
    await expect(page.getByLabel('Title')).toHaveValue('Walk 2')
    await walk.getByRole('link', { name: /^Next/ }).click()
    await expect(walk).toContainText('3 of 3')
    await expect(walk.getByRole('button', { name: /^Next/ })).toBeDisabled()
    await page.keyboard.press('P')
    await expect(walk).toContainText('2 of 3')
    await idle(page)
  })

  await test.step('a command that opens another trajectory moves the focus to its tokens', async () => {
    await page.keyboard.press('ControlOrMeta+k')
    await page.keyboard.type('next trajectory')
    await page.keyboard.press('Enter')
    await expect(walk).toContainText('3 of 3')
    await idle(page)
    await expect(grid).toBeFocused()
    await page.keyboard.press('P')
    await expect(walk).toContainText('2 of 3')
    await idle(page)
  })

  await test.step('while the application is unreachable the page stays, and the next one opens when it answers again', async () => {
    await page.route('**', (route) => route.abort('connectionrefused'))
    const gone = page.getByRole('alert').filter({ hasText: 'The application does not respond' })
    await expect(gone).toBeVisible({ timeout: 3_000 })
    await page.getByRole('button', { name: 'Legend (L)' }).click()
    await expect(page.getByRole('alert').filter({ hasText: 'This part could not be loaded' })).toBeVisible()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await page.getByRole('link', { name: 'Library', exact: true }).click()
    await expect(gone).toContainText('Library opens when it responds again')
    await expect(grid).toBeVisible()
    await expect(walk).toContainText('2 of 3')
    await page.unroute('**')
    await page.waitForURL((url) => url.pathname === '/library')
    await expect(page.getByRole('link', { name: 'Walk 0' })).toBeVisible()
    await expect(gone).toHaveCount(0)
  })
})
