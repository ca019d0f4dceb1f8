/** A file with many samples: listed without being stored, filtered, opened row by row, and stored by selection. */
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { expect, type Page, test } from '@playwright/test'
import { AUTHORIZED, idle, open } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS, watch } from '../support/fit.ts'

/** Distinguishes these samples from those of other tests. */
const NAME = 'listed'
const SAMPLES = 300

/** Returns a file with a broken line in its middle. It is a row too, so the addresses of the samples after it are higher by one. */
function lines(): string {
  const example = JSON.parse(readFileSync('public/examples/tool-error.json', 'utf8'))
  const samples = Array.from({ length: SAMPLES }, (_, index) =>
    JSON.stringify({ ...example, id: `${NAME}-${index}`, title: `Sample ${index}`, reward: index / SAMPLES }),
  )
  samples.splice(SAMPLES / 2, 0, '{"format": "rollscope.trajectory/1", ')
  return `${samples.join('\n')}\n`
}

const rows = (page: Page) => page.getByRole('table', { name: 'Samples of the file' })

test('A file of 300 samples is listed, filtered and walked through, and only the selected samples are stored', async ({
  page,
}, info) => {
  const file = info.outputPath('step.jsonl')
  await writeFile(file, lines())
  const wrongs = watch(page)
  await open(page, '/servers')
  await page.getByRole('button', { name: 'Open', exact: true }).click()
  await page.getByLabel('Trajectory file').setInputFiles(file)

  await test.step('every sample is a row, and so is the broken line', async () => {
    await page.waitForURL('**/file')
    await page.locator('[data-index="finished"]').waitFor()
    await expect(rows(page)).toHaveAttribute('aria-rowcount', String(SAMPLES + 2))
    await page.getByLabel('Outcome').selectOption('not read')
    await expect(rows(page).getByRole('row')).toHaveCount(2)
    await expect(rows(page)).toContainText(`line ${SAMPLES / 2 + 1}: expected JSON`)
    await page.getByLabel('Outcome').selectOption('')
    await expect(page.getByText(`${SAMPLES} samples, 1 not read`)).toBeVisible()
    await expectFitEverywhere(page)
    // The last window is narrow, where each title is as high as a target for touch.
    const beyond = await rows(page)
      .locator('tr td:nth-child(2) > span:last-child')
      .evaluateAll(
        (details) =>
          details.filter(
            (detail) =>
              detail.getBoundingClientRect().bottom > (detail.closest('tr')?.getBoundingClientRect().bottom ?? 0) - 3,
          ).length,
      )
    expect(beyond).toBe(0)
    await page.setViewportSize(WINDOWS[0])
  })

  await test.step('a filtered and sorted list is walked through in the inspector', async () => {
    await page.getByLabel('Filter samples').fill('sample 29')
    await page.getByRole('button', { name: 'Reward' }).click()
    await expect(rows(page)).toHaveAttribute('aria-rowcount', '12')
    await rows(page).getByRole('link', { name: 'Sample 299' }).click()
    await page.waitForURL('**/file/300?**')
    await idle(page)
    await expect(page.locator('[data-walk="1"]')).toContainText('1 of 11')
    await expect(page.getByText(`Read from step.jsonl, line ${SAMPLES + 1}. Not stored.`)).toBeVisible()
    await page.keyboard.press('N')
    await page.waitForURL('**/file/299?**')
    await expect(page.locator('[data-walk="2"]')).toBeVisible()
    await page.getByRole('link', { name: 'in step.jsonl' }).click()
    await page.waitForURL('**/file?**')
    await expect(rows(page)).toHaveAttribute('aria-rowcount', '12')
  })

  await test.step('the selected samples are stored, and no others', async () => {
    await page.getByLabel(`Select line ${SAMPLES + 1}`).check()
    await page.getByLabel(`Select line ${SAMPLES}`).check()
    await page.getByRole('button', { name: 'Store 2' }).click()
    await expect(page.getByText('2 trajectories are stored.')).toBeVisible()
    const answer = await page.request.get(`/api/trajectories?q=Sample&limit=200`, { headers: AUTHORIZED })
    const ids = (await answer.json()).trajectories.map(({ id }: { id: string }) => id)
    expect(ids.filter((id: string) => id.startsWith(NAME)).sort()).toEqual([`${NAME}-298`, `${NAME}-299`])
  })

  await test.step('a sample that is stored from the inspector becomes a stored trajectory', async () => {
    await rows(page).getByRole('link', { name: 'Sample 297' }).click()
    await page.waitForURL('**/file/298?**')
    await page.getByRole('button', { name: 'Store', exact: true }).click()
    await page.waitForURL(`**/t/${NAME}-297`)
    await idle(page)
  })
  expect(wrongs).toEqual([])
})

test('The page of a file’s samples says after a reload that no file is open', async ({ page }) => {
  await open(page, '/file')
  await expect(page.getByText('No file is open here.')).toBeVisible()
  await open(page, '/file/3')
  await expect(page.getByText('No file is open here.')).toBeVisible()
})
