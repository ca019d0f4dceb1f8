/** Notes on tokens: written, linked, changed and deleted by keyboard, and in the offline page. */
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, test } from '@playwright/test'
import { encode } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { AUTHORIZED, blur, idle, open, postImport } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS, watch } from '../support/fit.ts'

test('A note is written on tokens by keyboard, is in the link, the file and the offline page, and is deleted', async ({
  page,
  request,
}) => {
  const wrongs = watch(page)
  const example: Trajectory = JSON.parse(readFileSync('public/examples/two-steps.json', 'utf8'))
  const [key] = await postImport(request, encode({ ...example, id: 'with-notes' }), 'notes.json')
  const stored = async () =>
    (await request.get(`/api/trajectories/${encodeURIComponent(key)}`, { headers: AUTHORIZED })).json()
  await open(page, `/t/${encodeURIComponent(key)}?at=195`)
  await idle(page)
  const grid = page.getByRole('grid', { name: 'Tokens' })
  const notes = page.getByRole('region', { name: 'Notes', exact: true })
  const dialog = page.getByRole('dialog')

  await test.step('the keys V and A act on a page that was just opened', async () => {
    await page.keyboard.press('v')
    await expect(page.getByRole('button', { name: 'Value of tokens' })).toHaveAttribute('aria-pressed', 'true')
    await blur(page)
    await page.keyboard.press('v')
    await expect(page.getByRole('button', { name: 'Value of tokens' })).toHaveAttribute('aria-pressed', 'false')
    await blur(page)
    await page.keyboard.press('a')
    await expect(dialog.getByLabel('Note')).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(dialog).toHaveCount(0)
  })

  await test.step('the key A opens the dialog, whose text is stored with the selected tokens', async () => {
    await grid.focus()
    for (let times = 0; times < 5; times++) await page.keyboard.press('Shift+ArrowRight')
    await page.keyboard.press('a')
    await expect(dialog.getByLabel('Note')).toBeFocused()
    await expectFitEverywhere(page)
    await page.setViewportSize(WINDOWS[0])
    await page.keyboard.type('Here it goes wrong.')
    await page.keyboard.press('Control+Enter')
    await expect(notes.getByRole('button', { name: /^Tokens 195 to 200/ })).toHaveText(/Here it goes wrong\.$/)
    await expect(grid).toBeFocused()
    expect(await stored()).toMatchObject({ notes: [{ id: '1', start: 195, end: 201, text: 'Here it goes wrong.' }] })
    await expectFitEverywhere(page)
    await page.setViewportSize(WINDOWS[0])
  })

  await test.step('the note leads to its tokens', async () => {
    await page.getByRole('tab', { name: 'Messages' }).press('Enter')
    await notes.getByRole('button', { name: /^Tokens 195/ }).press('Enter')
    await expect(page).toHaveURL(/[?&]at=195-200(&|$)/)
    await expect(grid).toBeFocused()
  })

  await test.step('the offline page lists the note and leads to its tokens', async () => {
    await page.getByRole('button', { name: 'Export', exact: true }).click()
    await dialog.getByLabel('Title, tags, notes, reward').click()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export as an offline page' }).click()
    const file = test.info().outputPath('page.html')
    await (await download).saveAs(file)
    const saved = await page.context().newPage()
    await saved.goto(pathToFileURL(file).href)
    await idle(saved)
    await saved.getByRole('grid', { name: 'Tokens' }).press('Home')
    await saved.getByRole('region', { name: 'Notes' }).getByRole('button').press('Enter')
    await expect(saved.getByText('6 tokens selected of 364')).toBeVisible()
    await saved.close()
  })

  await test.step('two pages keep the notes of each other, and show the title that the other has changed', async () => {
    const other = await page.context().newPage()
    await open(other, `/t/${encodeURIComponent(key)}?at=10`)
    await idle(other)
    await page.goto(`/t/${encodeURIComponent(key)}?at=20`)
    await idle(page)
    // Both pages have read the same notes.
    for (const [one, text] of [
      [other, 'of the other page'],
      [page, 'of this page'],
    ] as const) {
      await one.getByRole('button', { name: 'Write a note…' }).press('Enter')
      await one.getByRole('dialog').getByLabel('Note').fill(text)
      await one.keyboard.press('Control+Enter')
      await expect(one.getByRole('dialog')).toHaveCount(0)
    }
    expect((await stored()).notes.map(({ text }: { text: string }) => text)).toEqual([
      'of the other page',
      'of this page',
      'Here it goes wrong.',
    ])
    await expect(notes.getByRole('listitem')).toHaveCount(3)
    // The outline is higher than the window: it scrolls, and the document does not.
    await page.setViewportSize({ width: 1440, height: 500 })
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(500)
    await page.setViewportSize(WINDOWS[0])
    await expect(other.getByRole('region', { name: 'Notes', exact: true }).getByRole('listitem')).toHaveCount(3)
    await grid.focus()
    await page.keyboard.press('t')
    await expect(page.getByLabel('Title', { exact: true })).toBeFocused()
    await page.locator(':focus').fill('A new title')
    await page.keyboard.press('Enter')
    await expect(other.getByLabel('Title', { exact: true })).toHaveValue('A new title')
    await other.close()
    await page.goto(`/t/${encodeURIComponent(key)}?at=195-200`)
    await idle(page)
  })

  await test.step('on the tokens of the note, the key A edits it, and it can be deleted', async () => {
    await grid.focus()
    await page.keyboard.press('a')
    await expect(dialog.getByLabel('Note')).toHaveValue('Here it goes wrong.')
    await dialog.getByRole('button', { name: 'Delete note' }).press('Enter')
    await expect(notes.getByRole('listitem')).toHaveCount(2)
    expect((await stored()).notes).toHaveLength(2)
    await expect(grid).toBeFocused()
  })

  await test.step('the list keeps the focus when a note that it opened is deleted', async () => {
    await notes
      .getByRole('button', { name: /^Edit the note/ })
      .first()
      .press('Enter')
    await dialog.getByRole('button', { name: 'Delete note' }).press('Enter')
    await expect(notes.getByRole('listitem')).toHaveCount(1)
    await expect(notes.getByRole('button').first()).toBeFocused()
  })
  expect(wrongs).toEqual([])
})
