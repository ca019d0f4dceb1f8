/** The prefix doctor: a search finds the smallest conversation, and an unstable cell is explained and fixed. */
import { expect, test } from '@playwright/test'
import { open } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS, watch } from '../support/fit.ts'

test('the prefix doctor finds the smallest unstable conversation, explains an unstable cell, and has a fix that leaves fewer of them', async ({
  page,
}) => {
  const problems = watch(page)
  const grid = page.getByRole('grid', { name: 'Prefix stability' })
  const found = page.locator('[data-fix="found"]')
  await open(page, '/templates?tab=stability&from=sample:qwen3-like&part=messages')

  await test.step('the matrix, its finding and its fix fit', async () => {
    await found.waitFor()
    await expectFitEverywhere(page, async (isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Result', exact: true }).click()
      await expect(grid).toBeVisible()
    })
    await page.setViewportSize(WINDOWS[0])
  })

  await test.step('a comparison as text is written into the address', async () => {
    await page.getByRole('group', { name: 'Compare' }).getByRole('button', { name: 'Text' }).press('Enter')
    await expect(page).toHaveURL(/compares=text/)
    await expect(page.getByRole('region', { name: 'Finding' })).toContainText('first difference at character')
    await page.getByRole('group', { name: 'Compare' }).getByRole('button', { name: 'Tokens' }).press('Enter')
    await expect(page).not.toHaveURL(/compares/)
  })

  await test.step('a counterexample is opened in the editor', async () => {
    const messages = page.getByRole('list', { name: 'Messages', exact: true })
    const search = page.locator('[data-search]')
    await search.getByRole('button', { name: 'Search for counterexamples' }).click()
    await expect(search).toHaveAttribute('data-search', 'done')
    await expect(search).toHaveAttribute('data-found', '1')
    const sample = await messages.textContent()
    await search.getByRole('button', { name: 'Open in the editor' }).click()
    await expect(messages).not.toHaveText(sample ?? '')
  })

  await test.step('an unstable cell has an address and a fix', async () => {
    await grid.getByRole('button', { name: /thinking on · → user: unstable/ }).click()
    await expect(page).toHaveURL(/cell=user/)
    const finding = page.getByRole('region', { name: 'Finding' })
    await expect(finding.locator('[data-cause="thinking-stripped"]')).toBeVisible()
    await expect(finding.locator('[data-first]')).toHaveCount(2)
    const unstable = page.locator('[data-stability="current"] [data-unstable]')
    const before = Number(await unstable.getAttribute('data-unstable'))
    await found.getByRole('button', { name: 'Apply' }).click()
    await expect.poll(async () => Number(await unstable.getAttribute('data-unstable'))).toBeLessThan(before)
    await expect(page.getByRole('combobox', { name: 'Revision', exact: true }).locator('option')).toHaveCount(2)
  })
  expect(problems).toEqual([])
})
