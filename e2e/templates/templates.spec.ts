/** The template lab: templates and conversations from all sources, an editor with one history, and storage over a reload. */
import { readFileSync } from 'node:fs'
import { expect, type Page, test } from '@playwright/test'
import { open, postImport, reload } from '../support/application.ts'
import { expectFitEverywhere, WINDOWS, watch } from '../support/fit.ts'

const editor = (page: Page) => page.locator('[data-code-editor] .cm-content')
const part = (page: Page, name: string) =>
  page.getByRole('group', { name: 'Part' }).getByRole('button', { name, exact: true })
const revision = (page: Page) => page.getByRole('combobox', { name: 'Revision', exact: true })
const shownRevision = (page: Page) => revision(page).locator('option:checked')

async function load(page: Page, place: string): Promise<void> {
  await page.getByRole('button', { name: 'Load…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: place, exact: true }).click()
}

async function fits(page: Page): Promise<void> {
  await expectFitEverywhere(page)
  await page.setViewportSize(WINDOWS[0])
}

test('a template and a conversation are opened from a link, edited, broken and restored, and kept over a reload', async ({
  page,
  request,
  browser,
}) => {
  const [imported] = await postImport(request, readFileSync('public/examples/two-steps.json'))
  const key = encodeURIComponent(imported)
  const problems = watch(page)
  const problem = page.locator('[data-problem]')
  const dialog = page.getByRole('dialog')

  await test.step('a link opens a trajectory and a template in a browser without a document', async () => {
    await open(page, `/templates?t=${key}&from=sample:llama3-like&part=options`)
    await expect(revision(page).locator('option')).toHaveText([
      '3 · Llama-3-like',
      '2 · recorded: Two calls, one after the other',
      '1 · Qwen3-like',
    ])
    await expect(page.getByRole('button', { name: 'Set date_string' })).toBeVisible()
    await fits(page)
    await part(page, 'Tools').click()
    await expect(page.getByRole('listitem', { name: 'tool 1' }).getByLabel('name')).toHaveValue('calculator')
    await part(page, 'Messages').click()
    await expect(page.getByLabel('calls').first()).toHaveValue('calculator')
    await fits(page)
  })

  await test.step('the form and the JSON edit one text, and an error links to its line', async () => {
    await page.getByLabel('calls').first().fill('compute')
    await page.getByRole('button', { name: 'JSON', exact: true }).click()
    await expect(editor(page)).toContainText('"name": "compute"')
    await editor(page).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.insertText(' x')
    await expect(page.locator('[data-problem="JSONDecodeError"]')).toContainText(/Messages, line \d+, column \d+/)
    await part(page, 'Template').click()
    await problem.getByRole('button', { name: 'Show' }).click()
    await expect(page.locator('.cm-markedLine')).toHaveText(/\] x$/)
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(problem).toHaveCount(0)
  })

  await test.step('a sample is loaded, broken, and restored by the keys of the one history', async () => {
    await page.getByRole('button', { name: 'Load…' }).click()
    await dialog.getByText('Conversations').waitFor()
    await page.setViewportSize(WINDOWS[1])
    for (const place of ['Samples', 'Earlier'])
      await expect(dialog.getByRole('button', { name: place, exact: true })).toBeInViewport({ ratio: 1 })
    await fits(page)
    await dialog.getByRole('button', { name: /^ChatML every/ }).click()
    await expect(shownRevision(page)).toHaveText('4 · ChatML')
    await expect(page).toHaveURL(/from=sample:chatml/)
    await editor(page).click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.insertText('{% foo %}')
    await expect(shownRevision(page)).toHaveText('5 · edited')
    await expect(problem).toContainText("unknown tag 'foo'")
    await expect(problem).toHaveAttribute('data-problem', 'TemplateSyntaxError')
    await expect(problem).toHaveAttribute('data-line', '1')
    await expect(page.locator('.cm-lintRange-error')).toContainText('{% foo %}')
    await expect(page.locator('.cm-gutter-lint .cm-lint-marker-error')).toHaveCount(1)
    await page.keyboard.press('Control+f')
    await page.locator('.cm-search').waitFor()
    await fits(page)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+z')
    await expect(shownRevision(page)).toHaveText('4 · ChatML')
    await expect(problem).toHaveCount(0)
    await expect(editor(page)).toBeFocused()
    await page.keyboard.press('Control+Shift+z')
    await expect(editor(page)).toContainText('{% foo %}')
  })

  await test.step('revisions are compared, renamed and deleted', async () => {
    await page.getByRole('button', { name: /^Revisions/ }).click()
    await expect(dialog.locator('[data-diff="added"]')).toContainText('{% foo %}')
    await fits(page)
    await dialog.getByRole('button', { name: 'Rename revision 5' }).click()
    await dialog.getByLabel('Name of revision 5').fill('with a tag')
    await page.keyboard.press('Enter')
    await expect(shownRevision(page)).toHaveText('5 · with a tag')
    // What had the focus is removed, so the control at its place gets it.
    await expect(dialog.getByRole('button', { name: 'with a tag' })).toBeFocused()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await expect(dialog.getByRole('button', { name: 'Delete revision 5' })).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(shownRevision(page)).toHaveText('4 · ChatML')
    await expect(dialog.getByRole('button', { name: 'ChatML' }).first()).toBeFocused()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(shownRevision(page)).toHaveText('5 · with a tag')
    await page.getByRole('button', { name: 'Redo' }).click()
    await expect(shownRevision(page)).toHaveText('4 · ChatML')
  })

  await test.step('typed text replaces a selection of several lines, without styles that the browser adds', async () => {
    await editor(page).click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.type('x')
    await expect(shownRevision(page)).toHaveText('5 · edited')
    await expect(editor(page)).toContainText(/^x/)
    await page.keyboard.press('Control+z')
    await expect(shownRevision(page)).toHaveText('4 · ChatML')
  })

  await test.step('Tab indents in the editor, and leaves it after Escape', async () => {
    await editor(page).focus()
    await page.keyboard.press('Tab')
    await expect(editor(page)).toBeFocused()
    await page.keyboard.press('Control+z')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')
    await expect(editor(page)).not.toBeFocused()
  })

  await test.step('templates come from a model, a server and a file', async () => {
    await load(page, 'Model')
    await page.getByLabel(/^A name or folder/).fill('built-in')
    await page.keyboard.press('Enter')
    await expect(shownRevision(page)).toHaveText(/ · loaded from built-in$/)
    await expect(page).toHaveURL(/from=tokenizer:built-in/)
    await load(page, 'Server')
    await dialog.getByRole('button', { name: 'Load', exact: true }).click()
    await expect(page).toHaveURL(/from=server:built-in/)
    await load(page, 'File')
    await page.getByLabel('Template file').setInputFiles({
      name: 'chat_template.json',
      mimeType: 'application/json',
      buffer: Buffer.from('{"chat_template": "{{ messages[0].content }}"}'),
    })
    await expect(shownRevision(page)).toHaveText(/ · loaded from chat_template.json$/)
    await expect(editor(page)).toHaveText('{{ messages[0].content }}')
  })

  await test.step('markers that the tokenizer lacks are named, with a link to the dialog of another tokenizer', async () => {
    await editor(page).click()
    await page.keyboard.insertText('[gMASK]<sop>')
    await expect(page.locator('[data-plain-markers]')).toHaveAttribute('data-plain-markers', '[gMASK] <sop>')
    await fits(page)
    await page.getByRole('button', { name: 'Use zai-org/GLM-4.6' }).click()
    await expect(dialog.getByLabel(/^A name or folder/)).toHaveValue('zai-org/GLM-4.6')
    await fits(page)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(page.locator('[data-plain-markers]')).toHaveCount(0)
  })

  await test.step('a reload keeps all revisions and the conversation', async () => {
    await part(page, 'Messages').click()
    await page.getByRole('button', { name: 'Form', exact: true }).click()
    const content = page.getByRole('listitem', { name: 'message 1' }).getByLabel('content')
    await content.fill('Is 1.0 kept?')
    await page.locator('[data-saved="true"]').waitFor()
    const revisions = await revision(page).locator('option').allTextContents()
    await reload(page)
    await expect(content).toHaveValue('Is 1.0 kept?')
    await expect(revision(page).locator('option')).toHaveText(revisions)
  })

  await test.step('a shared document opens in another browser, which keeps its earlier document', async () => {
    await page.getByRole('group', { name: 'Result' }).getByRole('button', { name: 'Prefix doctor' }).click()
    await page.getByRole('button', { name: 'Share this document' }).click()
    await page.locator('[data-link="true"]').waitFor()
    await fits(page)
    const link = new URL(await dialog.getByLabel('Link', { exact: true }).inputValue())
    const saved = page.waitForEvent('download')
    await dialog.getByRole('button', { name: 'Save as file' }).click()
    const file = await (await saved).path()
    await page.keyboard.press('Escape')
    const elsewhere = await (await browser.newContext()).newPage()
    const offer = elsewhere.getByRole('dialog')
    await open(elsewhere, '/templates')
    await editor(elsewhere).click()
    await elsewhere.keyboard.insertText('their own draft')
    await elsewhere.locator('[data-saved="true"]').waitFor()
    await elsewhere.goto(`/templates${link.hash}`)
    await expect(offer).toContainText('chat_template.json')
    await fits(elsewhere)
    await elsewhere.keyboard.press('Enter')
    await expect(shownRevision(elsewhere)).toHaveText(/ · loaded from chat_template.json$/)
    await expect(elsewhere).toHaveURL(/tab=stability/)
    await expect(elsewhere).not.toHaveURL(/#/)
    await part(elsewhere, 'Messages').click()
    await expect(elsewhere.getByRole('listitem', { name: 'message 1' }).getByLabel('content')).toHaveValue(
      'Is 1.0 kept?',
    )
    await load(elsewhere, 'Earlier')
    await expect(offer.getByRole('listitem')).toHaveText(/^edited/)
    await offer.getByRole('button', { name: /^edited/ }).click()
    await expect(shownRevision(elsewhere)).toHaveText(/ · edited$/)
    await elsewhere.goto(`/templates${link.hash.slice(0, -9)}`)
    await reload(elsewhere)
    await expect(offer).toContainText('This link cannot be opened: it is truncated or was changed.')
    await elsewhere.keyboard.press('Enter')
    // The file is opened with the Load menu, and dropped under a meaningless name.
    await load(elsewhere, 'File')
    await elsewhere.getByLabel('Template file').setInputFiles(file)
    await expect(offer.locator('[data-offered]')).toBeVisible()
    await elsewhere.keyboard.press('Escape')
    await elsewhere.evaluate(
      (text) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File([text], 'renamed.json', { type: 'application/json' }))
        window.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }))
      },
      readFileSync(file, 'utf8'),
    )
    await expect(offer.locator('[data-offered]')).toBeVisible()
    await elsewhere.context().close()
  })

  await test.step('with two windows of one browser the reader chooses a document, and the other one is kept', async () => {
    const second = await page.context().newPage()
    await second.goto('/templates?part=messages')
    const content = (window: Page) => window.getByRole('listitem', { name: 'message 1' }).getByLabel('content')
    await content(second).fill('Written in the second window')
    const notice = page.getByRole('status').filter({ hasText: 'Another window has changed this document' })
    await expect(notice).toBeVisible()
    await content(page).fill('Written in the first window')
    await page.locator('[data-saved="true"]').waitFor()
    await fits(page)
    await notice.getByRole('button', { name: 'Use the other document' }).click()
    await expect(content(page)).toHaveValue('Written in the second window')
    await expect(notice).toHaveCount(0)
    await load(page, 'Earlier')
    await expect(dialog.getByRole('listitem')).toContainText(['Written in the first window'])
    await page.keyboard.press('Escape')
    await second.close()
  })
  expect(problems).toEqual([])

  await test.step('a model that cannot be found is named', async () => {
    await load(page, 'Model')
    await page.getByLabel(/^A name or folder/).fill('no/such-model')
    await page.keyboard.press('Enter')
    await expect(dialog.getByRole('alert')).toContainText('no/such-model')
  })
})
