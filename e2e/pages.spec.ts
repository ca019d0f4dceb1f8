/** Every page, light and dark, wide and narrow: accessible, free of errors, within its window and its size budget. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from '@playwright/test'
import { ask, greedy, open, shownKey } from './application.ts'
import { expectAccessible, expectFit, SCREENS, violations, watch } from './fit.ts'

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('playground, run, token, inspector, dialog', async ({ page }) => {
      const wrongs = watch(page)
      await open(page)
      await expect(page.getByText('Run an agent, see every token')).toBeVisible()
      await expectFit(page)
      const isNarrow = screen.viewport.width < 1024
      if (isNarrow) await page.getByRole('button', { name: 'Setup' }).click()
      await greedy(page)
      await page.getByText('More settings').click()
      await expectFit(page)
      await page.getByRole('button', { name: 'Add a mock tool' }).click()
      await page.getByLabel('Arguments, JSON Schema').fill('{"type": "strin"}')
      await expectFit(page)
      await page.keyboard.press('Escape')
      if (isNarrow) await page.getByRole('button', { name: 'Tokens' }).click()
      await ask(page, 'What is 25 * 17, and then plus 9?')
      await page.getByRole('grid').focus()
      await page.keyboard.press('End')
      await expectFit(page)
      if (isNarrow) {
        await page.getByRole('button', { name: 'Run', exact: true }).click()
        await expectFit(page)
      }
      await page.goto(`/t/${await shownKey(page)}?at=40`)
      await page.locator('[data-idle="true"]').waitFor({ state: 'attached' })
      await expectFit(page)
      await page.getByRole('button', { name: 'Open' }).click()
      await expect(page.getByRole('dialog')).toBeVisible()
      await expectFit(page)
      await page.keyboard.press('Escape')
      await expect(page.getByRole('dialog')).toHaveCount(0)
      await expect(page.getByRole('button', { name: 'Open' })).toBeFocused()
      expect(wrongs).toEqual([])
    })

    test('a file of ids alone, its tokenizer, the formats to export', async ({ page }) => {
      const wrongs = watch(page)
      await open(page)
      await page.getByRole('button', { name: 'Open' }).click()
      const lines = '{"token_ids": [1, 308, 207], "loss_mask": [0, 1, 1]}\n{"token_ids": [1]}'
      await page
        .getByLabel('Trajectory file')
        .setInputFiles({ name: 'step.jsonl', mimeType: 'application/json', buffer: Buffer.from(lines) })
      await page.waitForURL(/\/t\//)
      await page.locator('[data-idle="true"]').waitFor({ state: 'attached' })
      await expectFit(page)
      const choose = page.getByRole('button', { name: 'Choose a tokenizer …' })
      await choose.click()
      await expect(page.getByRole('dialog').getByLabel('Tokenizer', { exact: true })).toBeFocused()
      await expectFit(page)
      await page.keyboard.press('Escape')
      await expect(choose).toBeFocused()
      await page.getByRole('button', { name: 'Export' }).click()
      await page.getByRole('dialog').getByText('lost').last().click()
      await expectFit(page)
      await page.keyboard.press('Escape')
      await expect(page.getByRole('button', { name: 'Export' })).toBeFocused()
      expect(wrongs).toEqual([])
    })

    test('comparisons: none yet, drift, its card, and a side that cannot be made', async ({ page }) => {
      const wrongs = watch(page)
      await open(page, '/compare')
      await expect(page.getByRole('heading', { name: 'See what retokenizing changes' })).toBeVisible()
      await expectFit(page)
      await page.goto('/compare?left=example:retokenization-drift&drift=1')
      await page.locator('[data-compare="done"]').waitFor()
      await expectFit(page)
      if (screen.viewport.width < 1024)
        for (const pane of ['Drift', 'Details']) {
          await page.getByRole('button', { name: pane, exact: true }).click()
          await expectFit(page)
        }
      await page.getByRole('button', { name: 'Right side: choose a trajectory' }).click()
      await expect(page.getByRole('dialog')).toBeVisible()
      await expectFit(page)
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: /^Right side: tokenizer/ }).click()
      await expect(page.getByRole('dialog')).toBeVisible()
      await expectFit(page)
      await page.goto('/compare?left=example:two-steps&right=example:two-steps~read')
      await expect(page.getByRole('alert').first()).toBeVisible()
      await expectFit(page)
      expect(wrongs).toEqual([])
    })

    test('without the token, and where there is nothing', async ({ page }) => {
      await page.goto('/')
      await expect(page.getByRole('heading', { name: 'The launch token is missing' })).toBeVisible()
      await expectFit(page)
      await page.goto('/nowhere')
      await expectFit(page)
    })
  })

test('the accessibility check is not blind, in either colour scheme', async ({ page }) => {
  await page.goto('/nowhere')
  await page.evaluate(() => document.body.append(document.createElement('input')))
  expect(await violations(page)).toContain('label: <input>')
  await page.evaluate(() => {
    const text = document.createElement('p')
    text.id = 'faint'
    text.textContent = 'Read me'
    document.body.append(text)
  })
  for (const colour of ['#eee', '#222'])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.locator('#faint').evaluate((text, colour) => {
        text.style.color = colour
      }, colour)
      await expect(expectAccessible(page, '#faint')).rejects.toThrow('color-contrast')
    }
})

test('the launch token can be pasted, address and all', async ({ page }) => {
  await page.goto('/')
  await page.getByRole('textbox', { name: 'Token', exact: true }).fill('wrong-token-of-enough-length')
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('this is not the token of the running server')).toBeVisible()
  await page
    .getByRole('textbox', { name: 'Token', exact: true })
    .fill('http://127.0.0.1:3000/?token=token-of-the-journeys-0123')
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('Run an agent, see every token')).toBeVisible()
})

/** Kilobytes. `sizeBudget`: what the page itself names; `lateBudget`: what it fetches unasked behind that, such as an editor. */
const { sizeBudget, lateBudget } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly sizeBudget: Readonly<Record<string, number>>
  readonly lateBudget: Readonly<Record<string, number>>
}

for (const [path, kilobytes] of Object.entries(sizeBudget))
  test(`the first load of ${path} stays under ${kilobytes} kB of compressed script`, async ({ page }) => {
    const address = path.replace('[key]', 'nothing')
    await open(page, address)
    await page.waitForLoadState('networkidle')
    const scripts = await page.evaluate(() =>
      performance.getEntriesByType('resource').flatMap(({ name }) => (name.endsWith('.js') ? [name] : [])),
    )
    const document = await (await page.request.get(address)).text()
    const sizes = await Promise.all(
      scripts.map(async (script) => ({
        isNamed: document.includes(new URL(script).pathname),
        kilobytes: gzipSync(await (await page.request.get(script)).body()).length / 1000,
      })),
    )
    const total = (some: typeof sizes) => some.reduce((sum, size) => sum + size.kilobytes, 0)
    const named = sizes.filter(({ isNamed }) => isNamed)
    console.log(
      `first load of ${path}: ${total(named).toFixed(0)} kB of script, gzip; ${total(sizes).toFixed(0)} with what follows`,
    )
    expect(named.length).toBeGreaterThan(2)
    expect(total(named)).toBeLessThan(kilobytes)
    expect(total(sizes)).toBeLessThan(kilobytes + (lateBudget[path] ?? 0))
  })
