/** The preview and the A/B tab of the template lab: tokens during typing, links between tokens and lines, two templates compared. */
import { expect, test } from '@playwright/test'
import { open } from '../support/application.ts'
import { expectFitEverywhere, expectWithin, WINDOWS, watch } from '../support/fit.ts'

test('the preview follows the template, links tokens and lines in both directions, and is compared with another template', async ({
  page,
  context,
}) => {
  const problems = watch(page)
  const editor = page.locator('[data-code-editor] .cm-content')
  const preview = (state: 'current' | 'stale') => page.locator(`[data-preview="${state}"]`)
  const grid = page.getByRole('grid', { name: 'Tokens' })
  const firstRow = page.locator('.token-row[data-first="0"] .token-text')
  const selected = page.locator('.token-selected [role="gridcell"]')
  const markedLine = page.locator('.cm-markedLine')
  const resultTab = (name: string) =>
    page.getByRole('group', { name: 'Result' }).getByRole('button', { name, exact: true })
  /** Types at the start of the template, so that the change is visible at the start of the tokens. */
  const typeFirst = async (text: string) => {
    await editor.click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.insertText(text)
  }
  const showResult = async (isNarrow: boolean) => {
    if (isNarrow) await page.getByRole('button', { name: 'Result', exact: true }).click()
  }

  await test.step('a link opens a template and one of its tokens', async () => {
    await open(page, '/templates?from=sample:qwen3-like&at=2')
    await expect(selected).toHaveAttribute('data-index', '2')
  })

  await test.step('tokens follow the typing, and the number of tokens that the cursor’s line writes is shown', async () => {
    const before = await grid.getAttribute('data-tokens')
    await typeFirst('zz\n')
    await expect(firstRow).toHaveText(/^zz/)
    await expect(grid).not.toHaveAttribute('data-tokens', before ?? '')
    await page.keyboard.press('ArrowUp')
    await expect(page.locator('[data-cursor-line="1"]')).toHaveAttribute('data-found', /^[1-9]/)
  })

  await test.step('a token shows its template line and is written into the address', async () => {
    await firstRow.click({ position: { x: 3, y: 10 } })
    await expect(page).toHaveURL(/[?&]at=0(&|$)/)
    await expect(markedLine).toHaveText('zz')
    await expect(page.getByRole('region', { name: 'Token' })).toContainText('template line 1')
    await grid.focus()
    await grid.press('End')
    await expect(selected).not.toHaveAttribute('data-index', '0')
    const last = await selected.getAttribute('data-index')
    await expect(page).toHaveURL(new RegExp(`[?&]at=${last}(&|$)`))
    await expect(markedLine).not.toHaveText('zz')
    await page.getByRole('button', { name: 'Line', exact: true }).click()
    await expect(page).toHaveURL(/[?&]colour=line(&|$)/)
    await expectFitEverywhere(page, async (isNarrow) => {
      await showResult(isNarrow)
      await selected.waitFor()
    })
    await page.setViewportSize(WINDOWS[0])
  })

  await test.step('the server compares the tokens with its own', async () => {
    await page.getByRole('button', { name: 'Check with the server' }).click()
    const verdict = page.locator('[data-renderer="server"]')
    await expect(verdict).toHaveAttribute('data-verdict', /same|differs/)
    await expect(verdict).toContainText('SGLang')
  })

  await test.step('two templates are compared on one conversation', async () => {
    await resultTab('A/B').click()
    await page.locator('[data-comparison="done"]').waitFor()
    await expect(page.locator('[data-row="characters"] td').last()).toHaveText('+2')
    await page.getByLabel('Calls of the model').selectOption('8')
    await expect(page.locator('[data-turns="shown"]')).toHaveAttribute('data-calls', '8')
    await expect(page).toHaveURL(/turns=8/)
    // The texts differ beside a line that is longer than any window: the JSON of the tool.
    await expectFitEverywhere(page, () => expect(page.locator('[data-diff="added"]')).toContainText('zz'))
    await expectWithin(page.locator('[data-comparison]'))
    await page.setViewportSize(WINDOWS[0])
  })

  await test.step('a template that never ends is refused, and the tokens return with the earlier template', async () => {
    await resultTab('Preview').click()
    await preview('current').waitFor()
    await typeFirst('{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}')
    await expect(page.locator('[data-refused="BudgetError"]')).toBeVisible()
    await preview('stale').waitFor()
    await page.keyboard.press('Control+z')
    await preview('current').waitFor()
  })
  expect(problems).toEqual([])

  await test.step('the preview needs no network', async () => {
    await context.setOffline(true)
    await typeFirst('yy\n')
    await expect(firstRow).toHaveText(/^yy/)
  })
})
