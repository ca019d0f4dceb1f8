/** The mask doctor: the computed masks, compared with the mask of a stored run. */
import { readFileSync } from 'node:fs'
import { expect, test } from '@playwright/test'
import { open, postImport } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS, watch } from '../support/fit.ts'
import { CORE } from '../support/tags.ts'

test('The mask doctor compares a run with its template, and a disagreement shows its tokens', { tag: CORE }, async ({
  page,
  request,
}) => {
  const example = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8'))
  await postImport(request, { ...example, id: 'masks-run' })
  const wrongs = watch(page)
  await open(page, '/templates?tab=masks&t=masks-run')
  await page.locator('[data-masks="current"]').waitFor()
  await expect(page.locator('[data-way="tito"]')).toHaveAttribute('data-severity', 'none')
  await expect(page.locator('[data-way="generation"][data-trained]')).toHaveAttribute('data-trained', '0')
  await expectFitEverywhere(page, async (isNarrow) => {
    if (isNarrow) await page.getByRole('button', { name: 'Result', exact: true }).click()
    await expect(page.getByRole('list', { name: 'Disagreements' })).toBeVisible()
  })
  await page.setViewportSize(WINDOWS[0])

  await page.getByRole('list', { name: 'Disagreements' }).getByRole('button').first().click()
  await expect(page).toHaveURL(/[?&]at=\d+/)
  const token = page.getByRole('region', { name: 'Token', exact: true })
  await expect(token).toContainText('TITO: trained')
  await expect(token).toContainText('generation: not trained')
  await page.getByRole('grid').focus()
  await page.keyboard.press('ArrowLeft')
  await expect(token).toContainText('TITO: not trained')
  await page.keyboard.press('Escape')
  await expect(page).not.toHaveURL(/[?&]at=/)
  expect(wrongs).toEqual([])
})
