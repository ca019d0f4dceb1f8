/** Files: exported, opened and dropped; stored trajectories and examples. */
import { readFile, writeFile } from 'node:fs/promises'
import { expect, type Page, test } from '@playwright/test'
import { EXAMPLES } from '#lib/browser/library/examples.ts'
import { AUTHORIZED, ask, greedy, idle, open, shownKey } from '../support/application.ts'
import { CORE } from '../support/tags.ts'

async function exported(page: Page): Promise<string> {
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Export as Rollscope' }).click()
  const text = await readFile(await (await download).path(), 'utf8')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  return text
}

async function openFile(page: Page, name: string, text: string, folder: string): Promise<void> {
  const file = `${folder}/${name}`
  await writeFile(file, text)
  await page.getByRole('button', { name: 'Open' }).click()
  const chooser = page.waitForEvent('filechooser')
  await page.getByRole('button', { name: 'Choose files…' }).click()
  await (await chooser).setFiles(file)
}

test(
  'A run is exported, opened from the list, continued, and opened again from its file under another key',
  { tag: CORE },
  async ({ page }, info) => {
    const folder = info.outputPath('.').replace(/\/\.$/, '')
    await open(page)

    // lib/formats/reading/open.test.ts covers all other reasons.
    await test.step('A file that is not a trajectory is refused with the position of the error, and the question is kept', async () => {
      await expect(page.getByLabel('Question')).toHaveValue(/\w/)
      await page.getByLabel('Question').fill('What is 31 * 3?')
      await openFile(page, 'wrong.json', '{"format": "rollscope.trajectory/1", "id": 7}', folder)
      const alert = page.getByRole('alert').filter({ hasText: 'wrong.json' })
      await expect(alert).toContainText('id: expected a string, found 7')
      await expect(page.getByLabel('Question')).toHaveValue('What is 31 * 3?')
      await alert.getByRole('button', { name: 'Dismiss' }).click()
      await expect(alert).toHaveCount(0)
    })

    await greedy(page)
    await ask(page, 'What is 31 * 3?')
    const key = await shownKey(page)
    const file = await exported(page)

    await test.step('The run is in the list with the examples, and its page exports the same bytes', async () => {
      await page.getByRole('button', { name: 'Open' }).click()
      const dialog = page.getByRole('dialog')
      for (const { name } of EXAMPLES) await expect(dialog.locator(`a[href="/example/${name}"]`)).toBeVisible()
      await dialog.getByRole('link', { name: 'What is 31 * 3?' }).first().click()
      await page.waitForURL(`**/t/${key}`)
      await idle(page)
      expect(await exported(page)).toBe(file)
      const answer = await page.request.get(`/api/trajectories/${key}/export`, { headers: AUTHORIZED })
      expect(await answer.text()).toBe(file)
      expect(answer.headers()['content-disposition']).toMatch(/^attachment; filename="trajectory-[\w-]+\.json"$/)
    })

    await test.step('A file that differs from the stored run gets another key', async () => {
      const changed = file.replace('"model": {', '"note": "mine",\n  "model": {')
      await openFile(page, 'changed.json', changed, folder)
      await page.waitForURL(/\/t\/.*~2$/)
      await idle(page)
      expect(await exported(page)).toBe(changed)
    })

    await test.step('A stored run continues in the playground', async () => {
      await page.getByRole('link', { name: 'Continue in the playground' }).click()
      await idle(page)
      await expect(page.getByLabel('Next turn')).toHaveValue('')
      await ask(page, 'Now add 9.')
      await expect(page.locator('[data-call]')).toHaveCount(2)
    })
  },
)

test('An example opens from the dialog, exports its own file, and can be dropped anywhere', async ({ page }) => {
  await open(page, '/servers')
  await page.getByRole('button', { name: 'Open' }).click()
  // Stored runs may have the same title as the example.
  await page.getByRole('dialog').locator('a[href="/example/two-steps"]').click()
  await idle(page)
  await expect(page.locator('.token-row[data-ink="trained"]').first()).toBeAttached()
  const file = await exported(page)
  expect(file).toBe(await readFile('public/examples/two-steps.json', 'utf8'))
  const data = await page.evaluateHandle((text) => {
    const transfer = new DataTransfer()
    transfer.items.add(new File([text], 'dropped.json', { type: 'application/json' }))
    return transfer
  }, file)
  await page.dispatchEvent('body', 'dragover', { dataTransfer: data })
  await expect(page.getByText('Drop to open the files')).toBeVisible()
  await page.dispatchEvent('body', 'drop', { dataTransfer: data })
  await page.waitForURL(/\/t\//)
  await idle(page)
  await expect(page.locator('[data-call]')).toHaveCount(2)
})
