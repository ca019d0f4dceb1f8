/** The parser lab: a completion as several parsers see it, through the template again, and the parser that fits. */
import { expect, type Page, test } from '@playwright/test'
import { open } from './application.ts'
import { expectFit, SCREENS, watch } from './fit.ts'

/** The built-in model's own template, so that the ranking is about a real one. */
const LAB = '/templates?tab=parsers&from=tokenizer:built-in'

const COMPLETION = `Let me look.
<tool_call>
{"name": "calculator", "id": "call_1", "arguments": {"expression": "12 * 7"}}
</tool_call>
<tool_call>
{"name": "calculator", "arguments": {"expression": 3 + 4}}
</tool_call>
<tool_call>
{"name": "calculator", "arguments": {"expression": "9 - 2"}}
</tool_call>`

async function openLab(page: Page) {
  await open(page, LAB)
  const result = page.getByRole('button', { name: 'Result', exact: true })
  const lab = page.locator('[data-parser-lab]')
  await expect(result.or(lab).first()).toBeVisible()
  if (await result.isVisible()) await result.click()
  await expect(lab).toBeVisible()
}

test('a pasted completion, two parsers: parts, what is dropped, the fault, the template’s own tokens, the ranking', async ({
  page,
}) => {
  await openLab(page)
  await expect(page.locator('[data-ranking="hermes"]')).toContainText('hermes fits: it reads both calls')
  await page.getByRole('textbox', { name: /^Completion/ }).fill(COMPLETION)
  await page.getByRole('button', { name: 'glm' }).click()
  await expect(page.locator('[data-lane]')).toHaveCount(2)
  const hermes = page.getByRole('region', { name: 'hermes' })
  await expect(hermes.locator('[data-part="name"]')).toHaveText(['"calculator"', '"calculator"'])
  await expect(hermes.locator('[data-part="dropped"]')).toHaveText(['"id": "call_1"'])
  await expect(hermes.getByRole('list', { name: 'Dropped silently' })).toContainText('a member that counts for nothing')
  await expect(hermes.locator('[data-fault]')).toHaveText(['+'])
  await expect(hermes.getByRole('article', { name: 'call 2' })).toContainText('Line 6, column 54')
  await expect(hermes.getByRole('article', { name: 'call 3' }).locator('[data-rerendered="same"]')).toBeVisible()
  const first = hermes.getByRole('article', { name: 'call 1' }).locator('[data-rerendered="differs"]')
  await expect(first).toContainText('members that the parser passed over')
  await first.getByRole('button', { name: /^Line/ }).click()
  await expect(page.getByRole('region', { name: 'qwen_xml' })).toContainText('hermes reads 2 more')
  await page.getByRole('button', { name: 'Ask the server' }).click()
  await expect(page.locator('[data-server-answer]')).toContainText('separates no thinking')
})

test('a file of completions is dropped, picked from and ranked', async ({ page }) => {
  await openLab(page)
  const lines = ['nothing to call', COMPLETION].map((completion) => JSON.stringify({ completion })).join('\n')
  const transfer = await page.evaluateHandle((text) => {
    const data = new DataTransfer()
    data.items.add(new File([text], 'runs.jsonl'))
    return data
  }, lines)
  await page.getByRole('region', { name: 'Completion' }).dispatchEvent('drop', { dataTransfer: transfer })
  await expect(page.getByLabel('Pick')).toBeVisible()
  await expect(page).toHaveURL(/\/templates/)
  await page.getByRole('button', { name: 'By 2 completions too' }).click()
  await expect(page.locator('[data-ranking="hermes"]')).toContainText('1 malformed')
  await page.getByRole('button', { name: 'line 2', exact: true }).click()
  await expect(page.getByRole('textbox', { name: 'Completion: line 2' })).toHaveValue(COMPLETION)
})

for (const screen of SCREENS)
  test.describe(`${screen.viewport.width} px`, () => {
    test.use(screen)

    test('the parser lab is accessible and fits its window, empty and full', async ({ page }) => {
      const wrongs = watch(page)
      await openLab(page)
      await expect(page.locator('[data-ranking]')).toBeVisible()
      await expectFit(page)
      await page.getByRole('textbox', { name: /^Completion/ }).fill(`<think>Hm.</think>\n${COMPLETION}`)
      await expect(page.locator('[data-rerendered]').first()).toBeVisible()
      for (const summary of await page.locator('details[open=""] > summary, [data-lane] summary').all())
        if ((await summary.locator('..').getAttribute('open')) === null) await summary.click()
      await page.getByRole('button', { name: 'By the completion too' }).click()
      await expect(page.locator('[data-completion], [data-ranking] + p').first()).toBeVisible()
      await page.getByRole('button', { name: 'Ask the server' }).click()
      await expect(page.locator('[data-server-answer]')).toBeVisible()
      await expectFit(page)
      expect(wrongs).toEqual([])
    })
  })
