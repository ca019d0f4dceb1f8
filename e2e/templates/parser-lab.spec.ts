/** The parser lab: a completion read by several parsers, rendered again, and the parser that fits. */
import { expect, test } from '@playwright/test'
import { open } from '../support/application.ts'
import { expectFitEverywhere, watch } from '../support/fit.ts'
import { CORE } from '../support/tags.ts'

/** Address of the lab with the built-in model's own template, so that the ranking is about a real template. */
const LAB = '/templates?tab=parsers&from=tokenizer:built-in'

const COMPLETION = `<think>Hm.</think>
Let me look.
<tool_call>
{"name": "calculator", "id": "call_1", "arguments": {"expression": "12 * 7"}}
</tool_call>
<tool_call>
{"name": "calculator", "arguments": {"expression": 3 + 4}}
</tool_call>
<tool_call>
{"name": "calculator", "arguments": {"expression": "9 - 2"}}
</tool_call>`

test('The parser lab reads a completion by several parsers, renders its calls again, and ranks the parsers by a file of completions', {
  tag: CORE,
}, async ({ page }) => {
  const wrongs = watch(page)
  await open(page, LAB)
  await expect(page.locator('[data-ranking="hermes"]')).toContainText('hermes fits: it reads both calls')

  await test.step('a file of completions is dropped, offers its completions, and ranks the parsers', async () => {
    const lines = ['nothing to call', COMPLETION].map((completion) => JSON.stringify({ completion })).join('\n')
    const transfer = await page.evaluateHandle((text) => {
      const data = new DataTransfer()
      data.items.add(new File([text], 'runs.jsonl'))
      return data
    }, lines)
    await page.getByRole('region', { name: 'Completion' }).dispatchEvent('drop', { dataTransfer: transfer })
    await expect(page.getByLabel('Pick')).toBeVisible()
    await expect(page).toHaveURL(/\/templates/)
    await page.getByRole('button', { name: 'Score with my 2 completions' }).click()
    await expect(page.locator('[data-ranking="hermes"]')).toContainText('1 malformed')
    await page.getByRole('button', { name: 'line 2', exact: true }).click()
    await expect(page.getByRole('textbox', { name: 'Completion: line 2' })).toHaveValue(COMPLETION)
  })

  const hermes = page.getByRole('region', { name: 'hermes' })
  await expect(hermes.locator('[data-part="dropped"]')).toHaveText(['"id": "call_1"'])
  await expect(hermes.locator('[data-fault]')).toHaveText(['+'])
  await expect(hermes.getByRole('article', { name: 'call 3' }).locator('[data-rerendered="same"]')).toBeVisible()
  const first = hermes.getByRole('article', { name: 'call 1' }).locator('[data-rerendered="differs"]')
  await expect(first).toContainText('members that the parser ignores')
  await page.getByRole('button', { name: 'Parse on the server' }).click()
  await expect(page.locator('[data-server-answer]')).toContainText('separates as thinking: Hm.')

  await test.step('all parts of the lab, unfolded, fit every window', async () => {
    for (const summary of await page.locator('[data-lane] summary').all())
      if ((await summary.locator('..').getAttribute('open')) === null) await summary.click()
    await expectFitEverywhere(page, async (isNarrow) => {
      if (isNarrow) await page.getByRole('button', { name: 'Result', exact: true }).click()
      await expect(page.locator('[data-parser-lab]')).toBeVisible()
    })
  })
  expect(wrongs).toEqual([])
})
