/** Inputs of a run besides a question: a conversation, a text, token ids, and a shared setup. */
import { expect, type Page, test } from '@playwright/test'
import { greedy, idle, open, reload, stored } from '../support/application.ts'

test.use({ permissions: ['clipboard-write'] })

const mode = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
const settled = (page: Page) => page.locator('[data-preview="settled"]')
const TEXT = '<|im_start|>user\nWhat is 2 + 2?<|im_end|>\n<|im_start|>assistant\n'

test('A prompt can be a conversation, ids or a text; a shared setup is shown before it is imported; a text is sent as its tokens', async ({
  page,
  request,
}) => {
  await open(page)
  await greedy(page)

  await test.step('a conversation is edited as messages or as JSON', async () => {
    await mode(page, 'Conversation')
    await page.getByRole('button', { name: 'user', exact: true }).click()
    await page.getByLabel('content').fill('What is 1 + 1?')
    await mode(page, 'JSON')
    const json = page.getByLabel('Conversation, JSON')
    await expect(json).toHaveValue(/What is 1 \+ 1\?/)
    await json.fill('[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]')
    await expect(page.getByText('it ends with an assistant message')).toBeVisible()
  })

  await test.step('a wrong id is shown at its position', async () => {
    await mode(page, 'Ids')
    const area = page.getByLabel('Prompt, token ids')
    await area.fill('array([1, 2,\n       x3])')
    await expect(page.getByText('line 2, column 8: expected a token id, found x3')).toBeVisible()
    await area.fill('[1, 999999, 2]')
    await expect(settled(page)).toContainText('ids[1] is 999999')
    await page.getByRole('button', { name: 'Show it' }).click()
    const selected = () =>
      area.evaluate((field: HTMLTextAreaElement) => field.value.slice(field.selectionStart, field.selectionEnd))
    expect(await selected()).toBe('999999')
    await area.fill('{"input_ids": [1, 73, 74], "text": "other"}\n{"input_ids": [75]}')
    await page.getByLabel('Record').selectOption('0')
    await expect(settled(page)).toContainText('The ids were sent')
  })

  const hash = await test.step('the setup is shared by a link', async () => {
    await page.getByLabel('System prompt').fill('Be brief.')
    await page.getByLabel('Prompt, token ids').fill('1 73 74')
    await page.getByRole('button', { name: 'Share setup…' }).click()
    await page.locator('[data-link="true"]').waitFor()
    const link = new URL(await page.getByLabel('Link', { exact: true }).inputValue())
    expect(link.search).toBe('')
    await page.getByRole('button', { name: 'Copy as Python script' }).click()
    await expect(page.getByText('Copied as Python script.')).toBeVisible()
    await page.getByLabel('Link or JSON').fill(link.href.slice(0, -20))
    await page.getByRole('button', { name: 'Preview' }).click()
    await expect(page.getByText('This link cannot be opened: it is truncated')).toBeVisible()
    await page.keyboard.press('Escape')
    return link.hash
  })

  await test.step('the link changes nothing until the setup is imported', async () => {
    await page.getByLabel('System prompt').fill('Be kind.')
    await page.getByLabel('Prompt, token ids').fill('5')
    await mode(page, 'Text')
    await page.getByLabel('Prompt, text').fill(TEXT)
    await expect(settled(page)).toContainText('18 tokens')
    await page.evaluate((hash) => window.history.replaceState(null, '', hash), hash)
    await reload(page)
    const dialog = page.getByRole('dialog', { name: 'Import a shared setup' })
    await expect(dialog).toContainText('"Be brief."')
    await expect(dialog).toContainText('prompt.ids')
    await expect(page.getByLabel('System prompt')).toHaveValue('Be kind.')
    await expect(page.getByLabel('Prompt, text')).toHaveValue(TEXT)
    await dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await expect(page.getByLabel('System prompt')).toHaveValue('Be brief.')
    await expect(page.getByLabel('Prompt, token ids')).toHaveValue('1 73 74')
    expect(new URL(page.url()).hash).toBe('')
  })

  await test.step('the text is sent without a template, and a new run begins with the ids of the whole run', async () => {
    await mode(page, 'Text')
    await expect(page.getByLabel('Prompt, text')).toHaveValue(TEXT)
    await page.getByRole('button', { name: /Send/ }).click()
    await idle(page)
    await expect(page.getByLabel('Next turn')).toHaveValue('')
    const { segments } = await stored(page, request)
    expect(segments).toHaveLength(2)
    expect(segments[0]).toMatchObject({ messages: [], derivation: { kind: 'given', what: 'text' } })
    await page.getByRole('button', { name: 'Start a new run from these ids' }).click()
    await expect(page.getByLabel('Prompt, token ids')).toHaveValue(segments.flatMap(({ ids }) => ids).join(' '))
  })
})
